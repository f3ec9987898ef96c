/**
 * The large map as it is seen, or both heads that are compared and their difference.
 *
 * @import { Pin } from '../address.js'
 * @import { Drawing } from './figure.js'
 * @import { Palette } from '../palette.js'
 * @import { Seen } from './settings.js'
 */

import { formatCount } from '../../shared/format.js';
import { largestOf } from '../../../headwise/view/paint.js';
import { labelledTokens } from '../../../headwise/view/labels.js';
import { fit } from '../../../headwise/view/viewport.js';
import { mapsOf } from '../maps.js';
import { paletteColourOf } from '../pin-colours.js';
import { cellsTag } from './cells.js';
import { fitting, tag, textAt, widthOf } from './svg.js';

/** Sides of a map: grown, as far as this, to have room for every token's label. */
const SIDES = { one: [560, 960], several: [360, 640] };
const LABEL_STEP = 12.5;
/** Cells along a side, at most. */
const MOST_CELLS = 1024;
export const LABEL_PX = 11;
/** Room for labels: the axes' names need the least. */
const LEAST_LABEL = 42;
const MOST_LABEL = 76;
/** A map is at least as large, whatever its labels are. */
const LEAST_SIDE = 60;
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
function pinTags(pins, { queries, keys, x, y, side }, palette) {
  return pins.flatMap((pin) => {
    const { side: which, token } = pin;
    const [start, end] = which === 'query' ? queries : keys;
    if (token < start || token >= end) return [];
    const cell = side / (end - start);
    const at = (token - start) * cell;
    const thick = Math.max(3, cell);
    const box =
      which === 'query'
        ? { x, y: y + at, width: side, height: thick }
        : { x: x + at, y, width: thick, height: side };
    const colour = paletteColourOf(palette, pins, pin);
    return [
      tag('rect', { ...box, fill: 'none', stroke: palette.ground, 'stroke-width': 4 }),
      tag('rect', { ...box, fill: 'none', stroke: colour, 'stroke-width': 2 }),
    ];
  });
}

/**
 * What every map of the picture has.
 *
 * @param {Seen} seen
 * @param {number} inner width that all have together; 0: as it comes
 */
function layoutOf({ state, run }, inner) {
  const { n } = run;
  const { query, key, span } = fit(state.view, { queries: n, keys: n });
  const queries = tokensIn(query, span, n);
  const maps = mapsOf(state);
  const [least0, most] = maps.length > 1 ? SIDES.several : SIDES.one;
  const tokens = queries[1] - queries[0];
  const names = run.tokens.map(({ text }) => text);
  const least = Math.max(least0, Math.min(most, LABEL_STEP * tokens));
  const sideFor = (/** @type {number} */ labels) =>
    inner > 0
      ? Math.max(LEAST_SIDE, (inner + BETWEEN) / maps.length - labels - GAP - BETWEEN)
      : least;
  const hasNumbers = labelledTokens(queries[0], tokens, n, sideFor(LEAST_LABEL)).isNumbered;
  const longest = hasNumbers ? 0 : Math.max(...names.map((name) => widthOf(name, LABEL_PX)));
  const room = Math.min(MOST_LABEL, Math.max(LEAST_LABEL, longest));
  const side = sideFor(room);
  const step = room + GAP + side + BETWEEN;
  return { queries, keys: tokensIn(key, span, n), maps, side, names, room, step };
}

/** @param {ReturnType<typeof layoutOf>} layout @param {number} x @param {Palette} palette names and labels of both sides */
function axisTags({ queries, keys, names, side, room }, x, { ink, soft }) {
  const y = TITLE + room + GAP;
  const small = { 'font-size': 10, 'text-anchor': 'end', fill: soft };
  const labels = (/** @type {[number, number]} */ [start, end]) =>
    labelsOf(names, { start, span: end - start, side, room }).map(({ isNumbered, ...label }) => ({
      ...label,
      style: { 'font-size': LABEL_PX, fill: isNumbered ? soft : ink },
    }));
  return [
    textAt('key →', { x: x - GAP, y: y - GAP - 14, ...small }),
    textAt('query ↓', { x: x - GAP, y: y - GAP, ...small }),
    ...labels(queries).map(({ at, words, style }) =>
      textAt(words, { x: x - GAP, y: y + at + LABEL_PX / 3, 'text-anchor': 'end', ...style }),
    ),
    ...labels(keys).map(({ at, words, style }) => {
      const transform = `translate(${x + at + LABEL_PX / 3} ${y - GAP}) rotate(-90)`;
      return textAt(words, { transform, ...style });
    }),
  ];
}

/**
 * @param {Seen} seen
 * @param {Palette} palette
 * @param {number} [inner] width of all maps; 0: as it comes
 * @returns {Promise<{ drawing: Drawing, largest: number }>} largest: of the first map, for its legend
 */
export async function mapDrawing(seen, palette, inner = 0) {
  const { state, run, session } = seen;
  const { n, causal } = run;
  const layout = layoutOf(seen, inner);
  const { queries, keys, maps, side, room, step } = layout;
  /** @type {[number, number]} */
  const all = [0, n];
  const y = TITLE + room + GAP;
  const parts = [];
  let largest = 0;
  let isPooled = false;
  for (const [i, { what, title, isSigned }] of maps.entries()) {
    /** @param {[number, number]} rows @param {[number, number]} columns */
    const cellsOf = async (rows, columns) => {
      const [height, width] = [rows, columns].map(([start, end]) =>
        Math.min(MOST_CELLS, end - start),
      );
      const region = { queries: rows, keys: columns, height, width };
      return { ...region, ...(await session.region('export', what, region)) };
    };
    const cells = await cellsOf(queries, keys);
    const end = largestOf((state.view ? await cellsOf(all, all) : cells).values);
    if (i === 0) largest = end;
    isPooled ||= cells.height < queries[1] - queries[0];
    const x = i * step + room + GAP;
    const heading = { x, y: 14, 'font-size': 14, 'font-weight': 600, fill: palette.ink };
    parts.push(
      maps.length > 1 ? textAt(title, heading) : '',
      cellsTag(cells, { scale: state.scale, map: end, isSigned, causal }, { x, y, side }),
      ...axisTags(layout, x, palette),
      ...pinTags([...state.pins], { queries, keys, x, y, side }, palette),
    );
  }
  const words = (/** @type {[number, number]} */ [start, end]) =>
    `${formatCount(start + 1)} to ${formatCount(end)}`;
  const part = state.view
    ? `Queries ${words(queries)}, keys ${words(keys)} of ${formatCount(n)}. `
    : '';
  const pooled = isPooled ? 'Pooled: each cell shows the largest of the weights it covers.' : '';
  const [width, height] = [maps.length * step - BETWEEN, y + side];
  const note = (part + pooled).trim();
  return { largest, drawing: { width, height, content: parts.join(''), note } };
}
