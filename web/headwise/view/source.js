import { HeadwiseError } from '../checks/error.js';

/** @typedef {import('./draw-weights.js').Weights} Weights */

/**
 * What the element needs of a trace: the package's own, or one in a Worker.
 * @typedef {object} TraceLike
 * @property {readonly number[] | Promise<readonly number[]>} shape [batch, heads, Lq, Lkv]
 * @property {(where: { batch: number, head: number }) => Weights | Promise<Weights>} weights [Lq, Lkv] of one head
 * @property {(where: { batch: number, head: number, size: number }) => Weights | Promise<Weights>} map [size, size], pooled
 */

/**
 * One head's weights from a trace, pooled where there are more than can be drawn.
 *
 * @param {TraceLike} trace
 * @param {{ batch?: number, head?: number }} which
 * @param {number} resolution how many cells along a side have a pixel each
 * @returns {Promise<{ weights: Weights, queries: number, keys: number }>}
 */
export async function readTrace(trace, { batch = 0, head = 0 }, resolution) {
  const [, , queries, keys] = await trace.shape;
  const weights =
    Math.max(queries, keys) <= resolution
      ? await trace.weights({ batch, head })
      : await trace.map({ batch, head, size: resolution });
  return { weights, queries, keys };
}

/**
 * @param {{ weights?: Weights, trace?: TraceLike }} view
 * @throws {HeadwiseError} ERR_VALUE: not one of the two
 */
export function checkSource({ weights, trace }) {
  if ((weights === undefined) === (trace === undefined)) {
    const given = weights === undefined ? 'neither weights nor trace is' : 'weights and trace are';
    throw new HeadwiseError('ERR_VALUE', `${given} given; expected one of the two`);
  }
}
