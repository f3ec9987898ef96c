/**
 * The scores of the chosen head.
 *
 * @import { HeadScores, ScoreName } from './scores.js'
 */

import { el } from '../dom.js';

/** @param {number} share */
const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** @type {Record<ScoreName, { name: string, what: string, write: (value: number) => string }>} */
const WORDS = {
  entropy: {
    name: 'Entropy',
    what: 'how spread a row is: 0 bits is one token, each bit doubles the number',
    write: (value) => `${value.toFixed(2)} bits`,
  },
  first: { name: 'First token', what: 'weight on the first token of the text', write: percent },
  previous: { name: 'Previous token', what: 'weight on the token just before', write: percent },
  induction: {
    name: 'Induction',
    what: 'weight on what stood behind an earlier occurrence of the same token',
    write: percent,
  },
  distance: {
    name: 'Distance',
    what: 'how far back the weights reach on average',
    write: (value) => `${value.toFixed(1)} tokens`,
  },
};

const NAMES = /** @type {ScoreName[]} */ (Object.keys(WORDS));

function explanation() {
  const terms = NAMES.map((score) => {
    const { name, what } = WORDS[score];
    return [el('dt', {}, name), el('dd', {}, what)];
  });
  return el(
    'details',
    { class: 'explain' },
    el('summary', {}, 'What the scores mean'),
    el('dl', {}, ...terms.flat()),
  );
}

/**
 * @param {HTMLElement} room
 * @param {string} title
 * @param {HeadScores} scores
 */
export function showScores(room, title, scores) {
  const rows = NAMES.map((score) => {
    const { name, what, write } = WORDS[score];
    const value = scores[score];
    const words = Number.isNaN(value) ? 'no token repeats' : write(value);
    return el('tr', { title: what }, el('th', { scope: 'row' }, name), el('td', {}, words));
  });
  const caption = el('caption', {}, `${title}, mean over this text’s queries`);
  // The explanation stays as it is, open or not.
  if (!room.querySelector('details')) room.append(explanation());
  room.querySelector('table')?.remove();
  room.prepend(el('table', { class: 'score-list' }, caption, el('tbody', {}, ...rows)));
}
