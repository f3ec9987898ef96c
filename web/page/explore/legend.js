/**
 * What the colours of the maps mean.
 *
 * @import { ExploreState, MapScale } from './address.js'
 * @import { SeenWeights } from './seen-weights.js'
 */

import { el } from '../shared/dom.js';
import { formatWeight } from '../shared/format.js';
import { showLegend } from '../shared/legend.js';
import { gradient } from '../../headwise/view.js';
import { DECADES } from '../../headwise/view/colour.js';
import { nameOfScale, nounOf } from './titles.js';
import { firstName, otherOf, secondName } from './maps.js';

const SCALES = {
  unit: '',
  row: ', as a share of its row’s largest',
  head: ', as a share of its map’s largest',
  log: ', logarithmic',
};

/**
 * @typedef {object} Legend of one scale
 * @property {number} max the value at its end
 * @property {string} what
 * @property {boolean} masked
 * @property {string} [start]
 * @property {string} [end] if it is not `max`
 * @property {string} [middle]
 * @property {boolean} isSigned
 *
 * @param {ExploreState} state
 * @param {object} map
 * @param {number} map.largest of the first map
 * @param {boolean} map.causal
 * @returns {Legend[]} of the weights and, where two heads are compared, of their difference
 */
export function legendsOf(state, { largest, causal }) {
  const { scale, hideFirst } = state;
  const isCompared = otherOf(state) !== undefined;
  const isOne = scale === 'head' && !isCompared;
  const noun = nounOf(state);
  const what = [
    isOne ? noun : noun + SCALES[scale],
    hideFirst ? 'without the first token, the rest sums to 1' : '',
  ];
  const weights = {
    max: isOne ? largest : 1,
    what: what.filter(Boolean).join('; '),
    masked: causal,
    end: scale === 'head' && isCompared ? 'its largest' : undefined,
    start: scale === 'log' ? `10⁻${'⁰¹²³⁴⁵⁶⁷⁸⁹'[DECADES]} or less` : '0',
    isSigned: false,
  };
  if (!isCompared) return [weights];
  const wordsOf = (/** @type {string} */ name) => (state.before ? name : `in ${name}`);
  const [firstWords, secondWords] = [wordsOf(firstName(state)), wordsOf(secondName(state))];
  const end = scale === 'unit' || scale === 'log' ? '1' : 'largest';
  const difference = {
    max: 1,
    what: `difference${scale === 'log' ? ', logarithmic on both sides' : ''}`,
    masked: false,
    start: `−${end}: more ${secondWords}`,
    middle: '0',
    end: `+${end}: more ${firstWords}`,
    isSigned: true,
  };
  return [weights, difference];
}

/** Below this share of the scale what is seen is nearly one colour. */
const DULL = 0.25;
const SETTLE_MS = 150;

/**
 * The scale that would show more of what is seen, if little of the colours is used.
 *
 * @param {MapScale} scale
 * @param {SeenWeights[]} seen
 */
function fullerScale(scale, seen) {
  const brightest = Math.max(...seen.map((map) => map.brightest));
  if (brightest === 0 || brightest >= DULL) return undefined;
  const bits = (/** @type {'head' | 'log'} */ name) =>
    seen.reduce((sum, { spread }) => sum + spread[name], 0);
  const fuller = bits('log') > bits('head') ? 'log' : 'head';
  return fuller === scale ? undefined : fuller;
}

/**
 * @param {HTMLElement} room
 * @param {object} maps
 * @param {() => SeenWeights[]} maps.seen
 * @param {(scale: MapScale) => void} maps.choose
 */
export function createLegend(room, { seen, choose }) {
  const scales = el('div');
  const largest = el('span');
  const more = el('button', { type: 'button', class: 'quiet' });
  room.replaceChildren(scales, el('div', { class: 'legend legend-seen' }, largest, more));
  /** @type {Pick<ExploreState, 'scale' | 'of'>} */
  let shown = { scale: 'head', of: 'head' };
  /** @type {MapScale | undefined} */
  let fuller;
  const count = () => {
    const maps = seen();
    if (maps.length === 0) return;
    largest.textContent = `Largest ${nounOf(shown)} in view: ${formatWeight(Math.max(...maps.map((map) => map.largest)))}`;
    fuller = fullerScale(shown.scale, maps);
    more.hidden = !fuller;
    more.textContent = `Use the full range of colours: ${nameOfScale(fuller ?? shown.scale)}`;
  };
  more.hidden = true;
  more.addEventListener('click', () => {
    if (fuller) choose(fuller);
  });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let settling;

  return {
    /** @param {ExploreState} state @param {{ largest: number, causal: boolean }} map */
    show(state, map) {
      const parts = legendsOf(state, map).map(({ isSigned, ...legend }) => {
        const part = el('div');
        showLegend(part, { ...legend, colours: gradient({ signed: isSigned }) });
        return part;
      });
      scales.replaceChildren(...parts);
      shown = state;
      count();
    },

    /** What is seen has moved: counted when it rests. */
    moved() {
      clearTimeout(settling);
      settling = setTimeout(count, SETTLE_MS);
    },
  };
}
