/**
 * The large map as it is seen, or both heads that are compared and their difference.
 *
 * @import { Pin } from '../address.js'
 * @import { Drawing } from './figure.js'
 * @import { Palette } from '../palette.js'
 * @import { Seen } from './settings.js'
 */

import { formatCount } from '../../format.js';
import { largestOf } from '../../../headwise/view/paint.js';
import { labelledTokens } from '../../../headwise/view/labels.js';
import { fit } from '../../../headwise/view/viewport.js';
import { mapsOf } from '../maps.js';
import { cellsTag } from './cells.js';
import { fitting, tag, textAt, widthOf } from './svg.js';

/** Sides of a map: grown, as far as this, to have room for every token's label. */
const SIDES = { one: [560, 960], several: [360, 640] };
const LABEL_STEP = 12.5;
/** Cells along a side, at most. */
const MOST_CELLS = 1024;
const LABEL_PX = 11;
/** Room for labels: the axes' names need the least. */
const LEAST_LABEL = 42;
const MOST_LABEL = 76;
const TITLE = 24;
const GAP = 8;
const BETWEEN = 28;

/** @param {number} start @param {number} span @param {number} n @returns {[number, number]} whole tokens */
const tokensIn = (start, span, n) => [Math.floor(start), Math.min(n, Math.ceil(start + span))];

/** @param {readonly string[]} names @param {{ start: number, span: number, side: number, room: number }} axis */
function labelsOf(names, { start, span, side, room }) {
  const { tokens, isNumbered } = labelledTokens(start, span, names.length, side);
  return tokens.map((token) => ({
    at: ((token + 0.5 - start) * side) / span,
    words: isNumbered ? String(token + 1) : fitting(names[token], LABEL_PX, room),
    isNumbered,
  }));
}

/**
 * @param {Pin[]} pins
 * @param {{ queries: [number, number], keys: [number, number], x: number, y: number, side: number }} place
 * @param {Palette} palette
 */
function pinTags(pins, { queries, keys, x, y, side }, { accent, ground }) {
  return pins.flatMap(({ side: which, token }) => {
    const [start, end] = which === 'query' ? queries : keys;
    if (token < start || token >= end) return [];
    const cell = side / (end - start);
    const at = (token - start) * cell;
    const thick = Math.max(3, cell);
    const box =
      which === 'query'
        ? { x, y: y + at, width: side, height: thick }
        : { x: x + at, y, width: thick, height: side };
    return [
      tag('rect', { ...box, fill: 'none', stroke: ground, 'stroke-width': 4 }),
      tag('rect', { ...box, fill: 'none', stroke: accent, 'stroke-width': 2 }),
    ];
  });
}

/**
 * @param {Seen} seen
 * @param {Palette} palette
 * @returns {Promise<{ drawing: Drawing, largest: number }>} largest: of the first map, for its legend
 */
export async function mapDrawing({ state, run, session }, palette) {
  const { n, causal } = run;
  const { query, key, span } = fit(state.view, { queries: n, keys: n });
  const queries = tokensIn(query, span, n);
  const keys = tokensIn(key, span, n);
  const maps = mapsOf(state);
  const [least, most] = maps.length > 1 ? SIDES.several : SIDES.one;
  const tokens = queries[1] - queries[0];
  const side = Math.max(least, Math.min(most, LABEL_STEP * tokens));
  const names = run.tokens.map(({ text }) => text);
  const hasNumbers = labelledTokens(queries[0], tokens, n, side).isNumbered;
  const longest = hasNumbers ? 0 : Math.max(...names.map((name) => widthOf(name, LABEL_PX)));
  const room = Math.min(MOST_LABEL, Math.max(LEAST_LABEL, longest));
  const shown = { queries, keys, all: /** @type {[number, number]} */ ([0, n]) };
  const parts = [];
  let largest = 0;
  let isPooled = false;
  for (const [i, { what, title, isSigned }] of maps.entries()) {
    /** @param {[number, number]} rows @param {[number, number]} columns */
    const cellsIn = async (rows, columns) => {
      const region = {
        queries: rows,
        keys: columns,
        height: Math.min(MOST_CELLS, rows[1] - rows[0]),
        width: Math.min(MOST_CELLS, columns[1] - columns[0]),
      };
      return { ...region, ...(await session.region('export', what, region)) };
    };
    const cells = await cellsIn(queries, keys);
    const end = largestOf((state.view ? await cellsIn(shown.all, shown.all) : cells).values);
    if (i === 0) largest = end;
    isPooled ||= cells.height < queries[1] - queries[0];
    const x = i * (room + GAP + side + BETWEEN) + room + GAP;
    const y = TITLE + room + GAP;
    const axis = { span: queries[1] - queries[0], side, room };
    const small = { 'font-size': 10, 'text-anchor': 'end', fill: palette.soft };
    const inked = (/** @type {boolean} */ isNumbered) => ({
      'font-size': LABEL_PX,
      fill: isNumbered ? palette.soft : palette.ink,
    });
    const heading = { x, y: 14, 'font-size': 14, 'font-weight': 600, fill: palette.ink };
    parts.push(
      maps.length > 1 ? textAt(title, heading) : '',
      textAt('key →', { x: x - GAP, y: y - GAP - 14, ...small }),
      textAt('query ↓', { x: x - GAP, y: y - GAP, ...small }),
      cellsTag(cells, { scale: state.scale, map: end, isSigned, causal }, { x, y, side }),
      ...labelsOf(names, { ...axis, start: queries[0] }).map(({ at, words, isNumbered }) => {
        const place = { x: x - GAP, y: y + at + LABEL_PX / 3, 'text-anchor': 'end' };
        return textAt(words, { ...place, ...inked(isNumbered) });
      }),
      ...labelsOf(names, { ...axis, start: keys[0], span: keys[1] - keys[0] }).map(
        ({ at, words, isNumbered }) => {
          const transform = `translate(${x + at + LABEL_PX / 3} ${y - GAP}) rotate(-90)`;
          return textAt(words, { transform, ...inked(isNumbered) });
        },
      ),
      ...pinTags([...state.pins], { queries, keys, x, y, side }, palette),
    );
  }
  const words = (/** @type {[number, number]} */ [start, end]) =>
    `${formatCount(start + 1)} to ${formatCount(end)}`;
  const part = state.view
    ? `Queries ${words(queries)}, keys ${words(keys)} of ${formatCount(n)}. `
    : '';
  const pooled = isPooled ? 'Pooled: each cell shows the largest of the weights it covers.' : '';
  return {
    largest,
    drawing: {
      width: maps.length * (room + GAP + side + BETWEEN) - BETWEEN,
      height: TITLE + room + GAP + side,
      content: parts.join(''),
      note: (part + pooled).trim(),
    },
  };
}
