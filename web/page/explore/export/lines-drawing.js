/**
 * The text twice, and the lines that carry the chosen share of each row: of the pinned tokens, or of all.
 *
 * @import { Pin } from '../address.js'
 * @import { Drawing } from './figure.js'
 * @import { Palette } from '../palette.js'
 * @import { Seen } from './settings.js'
 */

import { formatCount } from '../../shared/format.js';
import { curveOf, pinnedOn, topEdges } from '../edges.js';
import { whatOf } from '../maps.js';
import { paletteColourOf } from '../pin-colours.js';
import { subjectOf } from './settings.js';
import { fitting, tag, textAt } from './svg.js';

const WIDTH = 640;
const LINE_PX = 22;
const TOP = 24;
const SIDE = 0.36 * WIDTH;
/** Tokens that a picture of lines has; of a longer text, those around the last pin. */
const MOST = 120;

/** @param {Seen} seen @param {Palette} palette @returns {Promise<Drawing>} */
export async function linesDrawing(seen, palette) {
  const { state, run, session } = seen;
  const { n, tokens } = run;
  const { token: about } = subjectOf(seen);
  const first = Math.max(0, Math.min(n - MOST, about - MOST / 2));
  const end = Math.min(n, first + MOST);
  const chosen = { query: pinnedOn(state.pins, 'query'), key: pinnedOn(state.pins, 'key') };
  const yOf = (/** @type {number} */ token) => TOP + (token - first + 0.5) * LINE_PX;
  const [left, right] = [SIDE, WIDTH - SIDE];
  const lines = [];
  let beyond = 0;
  let most = 0;
  for (let query = first; query < end; query++) {
    const { edges, rest } = topEdges(await session.row(whatOf(state), query), state.topP);
    const isAll = state.pins.length === 0 || chosen.query.has(query);
    if (isAll) most = Math.max(most, rest);
    for (const { key, weight } of edges) {
      if (!isAll && !chosen.key.has(key)) continue;
      if (key < first || key >= end) {
        beyond++;
        continue;
      }
      const curve = curveOf({ left, right }, yOf(query), yOf(key), weight);
      lines.push(tag('path', { ...curve, fill: 'none', stroke: palette.accent }));
    }
  }
  const labels = tokens.slice(first, end).flatMap(({ text }, i) => {
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
  const head = { y: 10, 'font-size': 11, fill: palette.soft };
  const percent = (/** @type {number} */ share) => `${Math.round(1000 * share) / 10} %`;
  const note = [
    `A row’s lines carry at least ${percent(state.topP)} of it; up to ${percent(most)} is not shown.`,
    end - first < n
      ? `Tokens ${formatCount(first + 1)} to ${formatCount(end)} of ${formatCount(n)}; ${formatCount(beyond)} lines to tokens beyond are left out.`
      : '',
  ];
  return {
    width: WIDTH,
    height: TOP + (end - first) * LINE_PX,
    content: [
      textAt('query (attends from)', { ...head, x: left - 8, 'text-anchor': 'end' }),
      textAt('key (attended to)', { ...head, x: right + 8 }),
      ...lines,
      ...labels,
    ].join(''),
    note: note.filter(Boolean).join(' '),
  };
}
