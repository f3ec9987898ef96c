/**
 * Attention rollout: Abnar & Zuidema 2020, Quantifying Attention Flow in Transformers. What a token at a layer draws
 * from each input token if attention is all that mixes them: the product of the layers' mean attention, half of it the
 * residual connection.
 *
 * @import { Heads } from './heads.js'
 * @import { Engine } from './model.js'
 */

import { Tensor } from '../../../headwise/index.js';
import { BLOCK, meanRows } from './heads.js';

/**
 * (mean attention + identity) / 2, in place.
 *
 * @param {Float32Array} rows of n, of queries from `start` on
 * @param {number} start
 * @param {number} n
 */
function withResidual(rows, start, n) {
  for (let i = 0; i < rows.length; i++) rows[i] /= 2;
  for (let row = 0; row < rows.length / n; row++) rows[row * n + start + row] += 0.5;
  return rows;
}

/** @param {Float32Array} rows of n @param {number} n @param {number} columns */
function leftOf(rows, n, columns) {
  if (columns === n) return rows;
  const left = new Float32Array((rows.length / n) * columns);
  for (let row = 0; row < rows.length / n; row++) {
    left.set(rows.subarray(row * n, row * n + columns), row * columns);
  }
  return left;
}

/**
 * Rollout up to a layer, from the input on. Every row of a layer draws on rows of the layer below, so that here, and
 * only here, a map is held as a whole: each layer's means are computed once, and where later keys are masked its rows
 * replace those below, the last ones first.
 *
 * @param {Engine} hw
 * @param {Heads} source
 * @param {number} layer
 * @param {() => Promise<void>} breathe called between blocks
 * @returns {Promise<Float32Array>} [n, n]
 */
export async function rollout(hw, source, layer, breathe) {
  const { n, causal } = source;
  let below = new Float32Array(n * n);
  for (let at = 0; at <= layer; at++) {
    const mean = meanRows(source, at);
    const next = causal ? below : new Float32Array(n * n);
    for (let start = BLOCK * Math.floor((n - 1) / BLOCK); start >= 0; start -= BLOCK) {
      const end = Math.min(n, start + BLOCK);
      const rows = withResidual(mean(start, end), start, n);
      const visible = causal ? end : n;
      const via = new Tensor(leftOf(rows, n, visible), [end - start, visible]);
      const from = () => new Tensor(below.subarray(0, visible * n), [visible, n]);
      next.set(at === 0 ? rows : hw.matmul(via, from()).data, start * n);
      await breathe();
    }
    below = next;
  }
  return below;
}

/** The rollouts of a run: the newest stays, so that all views of it ask once. */
export class Rollouts {
  #compute;
  #layer = -1;
  /** @type {Promise<Float32Array> | undefined} */ #whole;

  /** @param {(layer: number, breathe: () => Promise<void>) => Promise<Float32Array>} compute */
  constructor(compute) {
    this.#compute = compute;
  }

  /**
   * @param {number} layer
   * @param {() => () => Promise<void>} begin called if it is computed anew; gives what is called between blocks
   */
  upTo(layer, begin) {
    if (this.#whole && layer === this.#layer) return this.#whole;
    const whole = this.#compute(layer, begin());
    this.#layer = layer;
    this.#whole = whole;
    whole.catch(() => {
      if (this.#whole === whole) this.#whole = undefined;
    });
    return whole;
  }
}
