/**
 * The part of a map that is shown: a square of it, in tokens that need not be whole.
 *
 * @import { Viewport } from '../address.js'
 * @import { Region } from '../worker/pool.js'
 */

/** Fewer tokens are not shown. */
const LEAST_SPAN = 6;

/** Of the shown span, what is computed beside it on each side, so that a small move asks for nothing. */
const MARGIN = 0.25;

/** @param {number} value @param {number} least @param {number} most */
const clamp = (value, least, most) => Math.max(least, Math.min(most, value));

/** @param {number} n @returns {Viewport} */
export const wholeOf = (n) => ({ query: 0, key: 0, span: n });

/**
 * @param {Viewport | null} view null: the whole
 * @param {number} n
 * @returns {Viewport} inside the map
 */
export function fit(view, n) {
  const { query, key, span } = view ?? wholeOf(n);
  const size = clamp(span, Math.min(LEAST_SPAN, n), n);
  return { query: clamp(query, 0, n - size), key: clamp(key, 0, n - size), span: size };
}

/**
 * @param {Viewport} view
 * @param {number} n
 * @param {number} factor below 1: closer
 * @param {{ x: number, y: number }} at what stays where it is, in shares of the shown square
 * @returns {Viewport}
 */
export function zoom(view, n, factor, { x, y }) {
  const span = clamp(view.span * factor, Math.min(LEAST_SPAN, n), n);
  const query = view.query + y * (view.span - span);
  const key = view.key + x * (view.span - span);
  return fit({ query, key, span }, n);
}

/**
 * The least move that shows a cell.
 *
 * @param {Viewport} view
 * @param {number} n
 * @param {{ query: number, key: number }} cell
 * @returns {Viewport}
 */
export function reveal(view, n, cell) {
  /** @param {number} start @param {number} token */
  const moved = (start, token) => clamp(start, token + 1 - view.span, token);
  return fit({ ...view, query: moved(view.query, cell.query), key: moved(view.key, cell.key) }, n);
}

/**
 * What to compute for a view: it and something beside it, in as many cells as there are pixels.
 *
 * @param {Viewport} view
 * @param {number} n
 * @param {number} pixels along a side of the view
 * @returns {Region}
 */
export function regionOf({ query, key, span }, n, pixels) {
  /** @param {number} start @returns {[number, number]} */
  const around = (start) => [
    Math.max(0, Math.floor(start - MARGIN * span)),
    Math.min(n, Math.ceil(start + (1 + MARGIN) * span)),
  ];
  const queries = around(query);
  const keys = around(key);
  /** @param {[number, number]} side */
  const cells = ([start, end]) =>
    span <= pixels ? end - start : Math.ceil(((end - start) * pixels) / span);
  return { queries, keys, height: cells(queries), width: cells(keys) };
}

/**
 * Whether a region that was computed is as much as a view can show.
 *
 * @param {Region | undefined} region
 * @param {Viewport} view
 * @param {number} n
 * @param {number} pixels along a side of the view
 */
export function suffices(region, view, n, pixels) {
  if (!region) return false;
  /** @param {[number, number]} side @param {number} start @param {number} cells */
  const ok = ([first, end], start, cells) => {
    const covers = first <= start && end >= Math.min(n, start + view.span);
    const tokens = end - first;
    // A third fewer cells than pixels look the same while zooming.
    return covers && (cells >= tokens || cells / tokens >= (0.67 * pixels) / view.span);
  };
  return ok(region.queries, view.query, region.height) && ok(region.keys, view.key, region.width);
}
