/**
 * Attention rollout (Abnar & Zuidema 2020, "Quantifying Attention Flow in Transformers") of a model's run, or of weights that
 * were opened.
 *
 * @import { Heads } from './heads.js'
 * @import { Engine } from './model.js'
 */

import { Tensor } from '../../../headwise/index.js';
import { wholeRollout } from '../../../headwise/understanding/rollout.js';

/** The share of the residual connection. */
const RESIDUAL = 0.5;

/**
 * Rollout up to a layer, from the input on. Every row of a layer draws on rows of the layer below, so that here, and only
 * here, a map is held as a whole.
 *
 * @param {Engine} hw
 * @param {Heads} source
 * @param {number} layer
 * @param {() => Promise<void>} breathe called between blocks
 * @returns {Promise<Float32Array>} [n, n]
 */
export function rollout(hw, { n, heads, rows }, layer, breathe) {
  const layers = Array.from({ length: layer + 1 }, (_, at) => ({
    shape: [1, heads, n, n],
    weights: (/** @type {{ head: number, rows: readonly [number, number] }} */ which) => ({
      data: rows(at, which.head, ...which.rows),
    }),
  }));
  const multiply = (
    /** @type {Float32Array} */ left,
    /** @type {Float32Array} */ right,
    /** @type {readonly [number, number, number]} */ [count, inner, columns],
  ) => hw.matmul(new Tensor(left, [count, inner]), new Tensor(right, [inner, columns])).data;
  return wholeRollout(layers, 0, RESIDUAL, multiply, breathe);
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
