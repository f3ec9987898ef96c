import { HeadwiseError, misfit } from '../checks/error.js';
import { copyArray } from '../checks/foreign.js';
import { poolRegion, poolWeights } from './pool.js';

/** @typedef {import('./draw-weights.js').Matrix} Matrix */
/** @typedef {import('./draw-weights.js').Weights} Weights */
/** @typedef {import('./pool.js').Cells} Cells */
/** @typedef {import('./pool.js').Region} Region */
/** @typedef {import('./viewport.js').Sides} Sides */

/**
 * Cells, and the fields of their region that differ from the requested region.
 * @typedef {Cells & Partial<Region>} Answer
 */
/**
 * The source of a map's cells.
 * @typedef {object} Source
 * @property {Sides} size tokens
 * @property {(region: Region) => Answer | PromiseLike<Answer>} ask
 * @property {boolean} [isFixed] there is one answer and nothing finer
 * @property {unknown} [key] sources with the same key and size give the same cells
 */

/**
 * The members of a trace that the element uses. The package's traces have them, here and in a Worker.
 * @typedef {object} TraceLike
 * @property {readonly number[] | Promise<readonly number[]>} shape [batch, heads, Lq, Lkv]
 * @property {(where: { batch: number, head: number, rows: [number, number] }) => Weights | Promise<Weights>} weights [rows, Lkv]
 *   of one head; a trace that does not support rows returns all, [Lq, Lkv]
 * @property {(where: { batch: number, head: number, size: number }) => Weights | Promise<Weights>} map [size, size], pooled
 */

/** @param {unknown} value @returns {value is PromiseLike<any>} */
export const isPromise = (value) => typeof (/** @type {any} */ (value)?.then) === 'function';

/** @returns {Promise<void>} lets others run */
const breathe = () =>
  new Promise((resolve) => {
    setTimeout(resolve);
  });

/**
 * A source of weights that are complete, or that the caller has pooled.
 *
 * @param {Matrix} matrix
 * @param {Sides} size tokens
 * @returns {Source}
 */
export function weightsSource({ rows, columns, values }, size) {
  const { queries, keys } = size;
  if (rows === queries && columns === keys) {
    return { size, ask: (region) => poolWeights(values, keys, region) };
  }
  const whole = { queries: pair(queries), keys: pair(keys), height: rows, width: columns, values };
  return { size, ask: () => whole, isFixed: true };
}

/** @param {number} n @returns {[number, number]} */
const pair = (n) => [0, n];

/**
 * A source of one head's weights from a trace. It pools them if there are more than the element can draw.
 *
 * @param {TraceLike} trace
 * @param {{ batch?: number, head?: number }} which
 * @returns {Promise<Source>}
 */
export async function traceSource(trace, { batch = 0, head = 0 }) {
  const sizes = copyArray(await trace?.shape, 4);
  if (sizes?.length !== 4 || typeof trace.weights !== 'function' || typeof trace.map !== 'function')
    throw misfit(trace, 'trace', 'a trace, of forward(x, { trace: true })');
  const [, , queries, keys] = sizes;
  /** @type {ArrayLike<number> | undefined} */
  let all;
  /** @param {number} start @param {number} end */
  const rows = async (start, end) => {
    if (!all) {
      const { shape, data } = await trace.weights({ batch, head, rows: [start, end] });
      if (shape[0] === end - start) return data;
      all = data;
    }
    return Array.prototype.slice.call(all, start * keys, end * keys);
  };
  /** @param {Region} region @returns {Promise<Answer>} */
  const ask = async (region) => {
    const size = Math.max(region.height, region.width);
    const isWhole =
      region.queries[1] - region.queries[0] === queries && region.keys[1] - region.keys[0] === keys;
    if (!isWhole || size >= Math.min(queries, keys)) {
      return poolRegion(rows, keys, region, breathe);
    }
    const { data } = await trace.map({ batch, head, size });
    return { values: data, height: size, width: size };
  };
  return { size: { queries, keys }, ask };
}

/**
 * A source of cells that the caller's function computes.
 *
 * @param {(region: Region) => Cells | PromiseLike<Cells>} cells
 * @param {Sides} size
 * @returns {Source}
 */
export function cellsSource(cells, size) {
  /** @param {Cells} answer @param {Region} region */
  const check = (answer, { height, width }) => {
    const count = answer?.values?.length;
    if (count === height * width) return answer;
    throw new HeadwiseError(
      'ERR_SHAPE',
      `cells gave ${count} values; expected ${height} × ${width}`,
    );
  };
  return {
    size,
    key: cells,
    ask: (region) => {
      const answer = cells(region);
      return isPromise(answer)
        ? answer.then((found) => check(found, region))
        : check(answer, region);
    },
  };
}

const SOURCES = ['weights', 'trace', 'cells'];

/**
 * @param {Record<string, any>} view
 * @throws {HeadwiseError} ERR_VALUE: not exactly one of weights, trace and cells
 */
export function checkSource(view) {
  const given = SOURCES.filter((name) => view[name] !== undefined);
  if (given.length === 1) return;
  const found =
    given.length === 0 ? 'neither weights nor trace nor cells is' : `${given.join(' and ')} are`;
  throw new HeadwiseError('ERR_VALUE', `${found} given; expected one of them`);
}
