import { misfit } from '../checks/error.js';

/** @typedef {import('./place.js').Place} Place */
/** @typedef {import('./pool.js').Region} Region */

/**
 * The visible part of a map, in tokens; fractions are allowed.
 * @typedef {object} Viewport
 * @property {number} query the first query
 * @property {number} key the first key
 * @property {number} span the number of keys; the view shows the same share of the queries. At least six keys are shown: where
 *   queries are more than twice as many as keys, a smaller span shows fewer queries beside those keys
 */
/** @typedef {{ queries: number, keys: number }} Sides tokens along the sides of a map, or pixels */

/** Fewer tokens are not shown. */
const LEAST_SPAN = 6;

/** A map's height over its width, at most. */
export const TALLEST = 2;

/** Of the shown span, what is computed beside it on each side, so that a small move asks for nothing. */
const MARGIN = 0.25;

/**
 * @param {any} view
 * @throws {HeadwiseError} ERR_VALUE: not an object of three finite numbers
 */
export function checkView(view) {
  if (typeof view !== 'object') {
    throw misfit(view, 'view', '{ query, key, span } with finite numbers, or null');
  }
  for (const name of ['query', 'key', 'span']) {
    if (!Number.isFinite(view[name])) {
      throw misfit(view[name], `view.${name}`, 'a finite number');
    }
  }
}

/** @param {number} value @param {number} least @param {number} most */
export const clamp = (value, least, most) => Math.max(least, Math.min(most, value));

/** @param {number} span @param {number} n */
const spanIn = (span, n) => clamp(span, Math.min(LEAST_SPAN, n), n);

/** A map of many more queries than keys goes on to be looked at closer along its queries. @param {number} span @param {Sides} size */
const fitSpan = (span, { queries, keys }) =>
  clamp(span, Math.min(keys, LEAST_SPAN * Math.min(1, (TALLEST * keys) / (queries || 1))), keys);

/** @param {Viewport} view @param {Sides} size @returns {Sides} how many tokens of each side it shows */
export const spansOf = ({ span }, { queries, keys }) => ({
  queries: keys && spanIn((span * queries) / keys, queries),
  keys: spanIn(span, keys),
});

/**
 * Whether a token is in view.
 *
 * @param {Viewport} view
 * @param {Sides} size
 * @param {{ side: 'query' | 'key', token: number }} pin
 */
export function isSeen(view, size, { side, token }) {
  const n = side === 'query' ? 'queries' : 'keys';
  return token >= Math.floor(view[side]) && token < view[side] + spansOf(view, size)[n];
}

/** The nearest cell of a map. @param {Sides} size @param {Place} cell @returns {Place} */
export const nearestCell = ({ queries, keys }, { query, key }) => ({
  query: clamp(query, 0, queries - 1),
  key: clamp(key, 0, keys - 1),
});

/** The middle of a cell, in shares of what is shown. @param {Viewport} view @param {Sides} size @param {Place} cell */
export function pointOf(view, size, { query, key }) {
  const { queries, keys } = spansOf(view, size);
  return { x: (key + 0.5 - view.key) / keys, y: (query + 0.5 - view.query) / queries };
}

/** The cell at a point. @param {Viewport} view @param {Sides} size @param {{ x: number, y: number }} at in shares of what is shown */
export function cellOfPoint(view, size, { x, y }) {
  const { queries, keys } = spansOf(view, size);
  const query = Math.floor(view.query + y * queries);
  return nearestCell(size, { query, key: Math.floor(view.key + x * keys) });
}

/** @param {Sides} size @returns {Viewport} */
export const wholeOf = ({ keys }) => ({ query: 0, key: 0, span: keys });

/**
 * @param {Viewport | null} view null: the whole
 * @param {Sides} size
 * @returns {Viewport} inside the map
 */
export function fit(view, size) {
  const { query, key, span } = view ?? wholeOf(size);
  const fitting = { query, key, span: fitSpan(span, size) };
  const spans = spansOf(fitting, size);
  return {
    ...fitting,
    query: clamp(query, 0, size.queries - spans.queries),
    key: clamp(key, 0, size.keys - spans.keys),
  };
}

/**
 * @param {Viewport} view
 * @param {Sides} size
 * @param {number} factor below 1: closer
 * @param {{ x: number, y: number }} at what stays where it is, in shares of what is shown
 * @returns {Viewport}
 */
export function zoom(view, size, factor, { x, y }) {
  const span = fitSpan(view.span * factor, size);
  const before = spansOf(view, size);
  const after = spansOf({ ...view, span }, size);
  const query = view.query + y * (before.queries - after.queries);
  const key = view.key + x * (before.keys - after.keys);
  return fit({ query, key, span }, size);
}

/**
 * The least move that shows a cell.
 *
 * @param {Viewport} view
 * @param {Sides} size
 * @param {{ query: number, key: number }} cell
 * @returns {Viewport}
 */
export function reveal(view, size, cell) {
  const { queries, keys } = spansOf(view, size);
  const query = clamp(view.query, cell.query + 1 - queries, cell.query);
  return fit({ ...view, query, key: clamp(view.key, cell.key + 1 - keys, cell.key) }, size);
}

/**
 * What to compute for a view: it and something beside it, in as many cells as there are pixels.
 *
 * @param {Viewport} view
 * @param {Sides} size
 * @param {Sides} pixels along the sides of the view
 * @returns {Region}
 */
export function regionOf(view, size, pixels) {
  const spans = spansOf(view, size);
  /** @param {number} start @param {'queries' | 'keys'} side @returns {[number, number]} */
  const around = (start, side) => [
    Math.max(0, Math.floor(start - MARGIN * spans[side])),
    Math.min(size[side], Math.ceil(start + (1 + MARGIN) * spans[side])),
  ];
  const queries = around(view.query, 'queries');
  const keys = around(view.key, 'keys');
  /** @param {[number, number]} tokens @param {'queries' | 'keys'} side */
  const cells = ([start, end], side) =>
    spans[side] <= pixels[side]
      ? end - start
      : Math.ceil(((end - start) * pixels[side]) / spans[side]);
  return { queries, keys, height: cells(queries, 'queries'), width: cells(keys, 'keys') };
}

/**
 * Whether a region has all of a view.
 *
 * @param {Region} region
 * @param {Viewport} view
 * @param {Sides} size
 */
export function covers({ queries, keys }, view, size) {
  const spans = spansOf(view, size);
  return (
    queries[0] <= view.query &&
    queries[1] >= Math.min(size.queries, view.query + spans.queries) &&
    keys[0] <= view.key &&
    keys[1] >= Math.min(size.keys, view.key + spans.keys)
  );
}

/**
 * Whether a region that was computed is as much as a view can show.
 *
 * @param {Region} region
 * @param {Viewport} view
 * @param {Sides} size
 * @param {Sides} pixels along the sides of the view
 */
export function suffices(region, view, size, pixels) {
  const spans = spansOf(view, size);
  const { queries, keys, height, width } = region;
  /** @param {[number, number]} tokens @param {number} cells @param {'queries' | 'keys'} side */
  const isFine = ([start, end], cells, side) =>
    // A third fewer cells than pixels look the same while zooming.
    cells >= end - start || cells / (end - start) >= (0.67 * pixels[side]) / spans[side];
  return (
    covers(region, view, size) && isFine(queries, height, 'queries') && isFine(keys, width, 'keys')
  );
}
