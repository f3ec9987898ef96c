/**
 * A step of training, as the room takes it and the script that makes the page's models.
 *
 * @import { Gpt2 } from '../../headwise/gpt2.js'
 * @import { AdamW, Headwise, Parameter } from '../../headwise/index.js'
 */

import { tensor } from '../../headwise/index.js';

export const BETAS = /** @type {const} */ ([0.9, 0.98]);
const MAX_NORM = 1;

/** @typedef {{ ids: ArrayLike<number>, targets: ArrayLike<number>, positions?: ArrayLike<number> }} Example */

/** @param {readonly Example[]} rows of one length @param {'ids' | 'targets' | 'positions'} what each of them has */
export function batchOf(rows, what) {
  const { length } = rows[0].ids;
  const flat = new Float32Array(rows.length * length);
  rows.forEach((row, i) => flat.set(/** @type {ArrayLike<number>} */ (row[what]), i * length));
  return tensor(flat, [rows.length, length]);
}

/**
 * Matrices decay, positions and vectors do not.
 *
 * @param {readonly Parameter[]} learning
 * @param {number} weightDecay
 */
export function decayGroups(learning, weightDecay) {
  const decays = (/** @type {Parameter} */ { name, shape }) =>
    shape.length === 2 && name !== 'wpe.weight';
  return [
    { params: learning.filter(decays), weightDecay },
    { params: learning.filter((one) => !decays(one)), weightDecay: 0 },
  ];
}

/**
 * Forward, backward, clipping, AdamW.
 *
 * @param {{ hw: Headwise, model: Gpt2, optimizer: AdamW, params: readonly Parameter[] }} run
 * @param {readonly Example[]} rows
 * @param {number} lr
 * @returns {number} the loss
 */
export function takeStep({ hw, model, optimizer, params }, rows, lr) {
  const value = hw.enableGrad(() => {
    const positionIds = rows[0].positions && batchOf(rows, 'positions');
    const loss = model.loss(batchOf(rows, 'ids'), batchOf(rows, 'targets'), { positionIds });
    loss.backward();
    return loss.item();
  });
  hw.clipGradNorm(params, MAX_NORM);
  optimizer.lr = lr;
  optimizer.step();
  optimizer.zeroGrad();
  return value;
}
