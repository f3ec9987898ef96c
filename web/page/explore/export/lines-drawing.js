/**
 * The text twice, and the lines that carry the chosen share of each row: of the pinned tokens, or of all.
 *
 * @import { Pin } from '../address.js'
 * @import { Drawing } from './figure.js'
 * @import { Palette } from '../palette.js'
 * @import { Seen } from './settings.js'
 */

import { formatCount, plural } from '../../shared/format.js';
import { shortName } from '../../shared/head-names.js';
import { curveOf, leastWords, pinnedOn, restWords, topEdges } from '../edges.js';
import { linedMaps } from '../maps.js';
import { paletteColourOf, paletteHeadColour } from '../pin-colours.js';
import { titleOf } from '../titles.js';
import { subjectOf } from './settings.js';
import { fitting, tag, textAt, widthOf } from './svg.js';

const WIDTH = 640;
const LINE_PX = 22;
const SIDE = 0.36 * WIDTH;
/** Tokens that a picture of lines has; of a longer text, those around the last pin. */
const MOST = 120;

const SMALL_PX = 11;

/** Which head's lines have which colour, if there are several. @param {Seen} seen @param {Palette} palette */
function keyOf({ state }, palette) {
  const names = [titleOf(state), ...state.overlay.map(shortName)];
  if (names.length === 1) return { height: 0, content: '' };
  let [x, y] = [0, 0];
  const parts = names.map((name, i) => {
    const width = widthOf(name, SMALL_PX) + 36;
    if (x + width > WIDTH) [x, y] = [0, y + LINE_PX];
    const at = x;
    x += width;
    return [
      tag('rect', { x: at, y, width: 10, height: 10, fill: paletteHeadColour(palette, i) }),
      textAt(name, { x: at + 15, y: y + 9, 'font-size': SMALL_PX, fill: palette.ink }),
    ].join('');
  });
  return { height: y + LINE_PX, content: parts.join('') };
}

/** Which tokens are drawn, and where. @param {Seen} seen @param {number} top of the first, in pixels */
function placesOf(seen, top) {
  const { n } = seen.run;
  const { token: about } = subjectOf(seen);
  const first = Math.max(0, Math.min(n - MOST, about - MOST / 2));
  const end = Math.min(n, first + MOST);
  const yOf = (/** @type {number} */ token) => top + (token - first + 0.5) * LINE_PX;
  return { top, first, end, yOf, left: SIDE, right: WIDTH - SIDE };
}

/** @typedef {ReturnType<typeof placesOf>} Places */

/** The tokens whose lines are drawn, if some are pinned. @param {Seen} seen */
const chosenOf = ({ state }) => ({
  query: pinnedOn(state.pins, 'query'),
  key: pinnedOn(state.pins, 'key'),
});

/**
 * @param {Seen} seen
 * @param {Palette} palette
 * @param {Places} places
 * @returns {Promise<{ lines: string[], beyond: number, rest: number }>} beyond: lines to tokens that are not drawn; rest:
 *   the largest share of a row that its lines leave out
 */
async function linesOf(seen, palette, { first, end, yOf, left, right }) {
  const { state, session } = seen;
  const chosen = chosenOf(seen);
  const lines = [];
  let [beyond, most] = [0, 0];
  for (const [i, what] of linedMaps(state).entries()) {
    const stroke = paletteHeadColour(palette, i);
    for (let query = first; query < end; query++) {
      const { edges, rest } = topEdges(await session.row(what, query), state.topP);
      const isAll = state.pins.length === 0 || chosen.query.has(query);
      if (isAll) most = Math.max(most, rest);
      const wanted = edges.filter((edge) => isAll || chosen.key.has(edge.key));
      const near = wanted.filter((edge) => edge.key >= first && edge.key < end);
      beyond += wanted.length - near.length;
      for (const edge of near) {
        const curve = curveOf({ left, right }, yOf(query), yOf(edge.key), edge.weight);
        lines.push(tag('path', { ...curve, fill: 'none', stroke }));
      }
    }
  }
  return { lines, beyond, rest: most };
}

/** Each token on both sides. @param {Seen} seen @param {Palette} palette @param {Places} places */
function labelsOf(seen, palette, { first, end, yOf, left, right }) {
  const { state, run } = seen;
  const chosen = chosenOf(seen);
  return run.tokens.slice(first, end).flatMap(({ text }, i) => {
    const token = first + i;
    const at = { y: yOf(token) + 4, 'font-size': 13 };
    const words = fitting(text, 13, SIDE - 16);
    const look = (/** @type {Pin['side']} */ side) =>
      chosen[side].has(token)
        ? { 'font-weight': 'bold', fill: paletteColourOf(palette, state.pins, { side, token }) }
        : { 'font-weight': 'normal', fill: palette.ink };
    return [
      textAt(words, { ...at, ...look('query'), x: left - 8, 'text-anchor': 'end' }),
      textAt(words, { ...at, ...look('key'), x: right + 8 }),
    ];
  });
}

/** What is not drawn. @param {Seen} seen @param {Places} places @param {{ beyond: number, rest: number }} left */
function noteOf(seen, { first, end }, { beyond, rest }) {
  const { state, run } = seen;
  const least = leastWords(state.topP);
  const isToKey = state.pins.length > 0 && chosenOf(seen).query.size === 0;
  const note = [
    isToKey
      ? `Only lines to the chosen key, of those that carry ${least} of a row.`
      : `A row’s lines carry ${least} of it; ${restWords(rest, 'up to ')}`,
    end - first < run.n
      ? `Tokens ${formatCount(first + 1)} to ${formatCount(end)} of ${formatCount(run.n)}; ${plural(beyond, 'line to a token beyond is', 'lines to tokens beyond are')} left out.`
      : '',
  ];
  return note.filter(Boolean).join(' ');
}

/** @param {Seen} seen @param {Palette} palette @returns {Promise<Drawing>} */
export async function linesDrawing(seen, palette) {
  const key = keyOf(seen, palette);
  const places = placesOf(seen, key.height + 24);
  const { top, first, end, left, right } = places;
  const found = await linesOf(seen, palette, places);
  const head = { y: top - 14, 'font-size': SMALL_PX, fill: palette.soft };
  return {
    width: WIDTH,
    height: top + (end - first) * LINE_PX,
    content: [
      key.content,
      textAt('query (attends from)', { ...head, x: left - 8, 'text-anchor': 'end' }),
      textAt('key (attended to)', { ...head, x: right + 8 }),
      ...found.lines,
      ...labelsOf(seen, palette, places),
    ].join(''),
    note: noteOf(seen, places, found),
  };
}
