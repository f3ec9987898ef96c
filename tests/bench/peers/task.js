/**
 * The work that all contestants do: the same numbers for each, and the right result.
 *
 * @import { Expected } from '../../../web/page/bench/check.js'
 * @import { AttentionShape, DecodeShape, LinearShape, MultiHeadShape, Shape } from '../../../web/page/bench/work.js'
 * @import { TrainTask } from './train-task.js'
 */

import { numbers, spread } from '../../../web/page/bench/data.js';
import {
  attentionRows,
  decodeRow,
  linearRows,
  multiHeadRows,
} from '../../../web/page/bench/reference.js';
import { workOf } from '../../../web/page/bench/work.js';
import { expectedOfTraining, trainTaskOf } from './train-task.js';

/** @typedef {{ weight: Float32Array, bias: Float32Array }} Layer weight [out, in] as torch's */

/**
 * @typedef {object} AttentionWeights each [dOut, dIn]
 * @property {Float32Array} query
 * @property {Float32Array} key
 * @property {Float32Array} value
 * @property {Layer} out
 */

/**
 * @typedef {LinearShape & { x: Float32Array, layer: Layer }} LinearTask
 * @typedef {AttentionShape & { q: Float32Array, k: Float32Array, v: Float32Array }} AttentionTask [heads, tokens, headDim],
 *   causal
 * @typedef {MultiHeadShape & { x: Float32Array, weights: AttentionWeights }} MultiHeadTask x [batch, tokens, dIn], causal
 * @typedef {DecodeShape & { x: Float32Array, key: Float32Array, value: Float32Array, weights: AttentionWeights }} DecodeTask
 *   x [1, dIn]; key and value [heads, past, headDim]
 * @typedef {LinearTask | AttentionTask | MultiHeadTask | DecodeTask | TrainTask} Task
 */

/**
 * Uniform in ±1/√inFeatures, as torch draws a Linear.
 * @param {number} seed
 * @param {number} outFeatures
 * @param {number} inFeatures
 */
const weightOf = (seed, outFeatures, inFeatures) =>
  numbers(seed, outFeatures * inFeatures).map((value) => value / Math.sqrt(inFeatures));

/** @param {{ dIn: number, dOut: number }} shape @returns {AttentionWeights} */
function attentionWeights({ dIn, dOut }) {
  const [query, key, value] = [11, 12, 13].map((seed) => weightOf(seed, dOut, dIn));
  return {
    query,
    key,
    value,
    out: { weight: weightOf(14, dOut, dOut), bias: weightOf(15, 1, dOut) },
  };
}

/**
 * @param {Shape} shape
 * @returns {Task}
 */
export function taskOf(shape) {
  switch (shape.kind) {
    case 'linear': {
      const { rows, inFeatures, outFeatures } = shape;
      const layer = {
        weight: weightOf(11, outFeatures, inFeatures),
        bias: weightOf(12, 1, outFeatures),
      };
      return { ...shape, x: numbers(1, rows * inFeatures), layer };
    }
    case 'attention': {
      if (shape.visible !== 'causal') throw new Error(`no peer does ${shape.visible}`);
      const size = shape.heads * shape.tokens * shape.headDim;
      return { ...shape, q: numbers(1, size), k: numbers(2, size), v: numbers(3, size) };
    }
    case 'multiHeadAttention': {
      const x = numbers(1, shape.batch * shape.tokens * shape.dIn);
      return { ...shape, x, weights: attentionWeights(shape) };
    }
    case 'decode': {
      const [key, value] = [2, 3].map((seed) => numbers(seed, shape.past * shape.dOut));
      return { ...shape, x: numbers(1, shape.dIn), key, value, weights: attentionWeights(shape) };
    }
    case 'train':
      return trainTaskOf(shape);
    case 'maps':
      throw new Error(`no peer is asked for ${shape.kind}`);
  }
}

/**
 * @param {Task} task
 * @returns {Expected}
 */
export function expectedOf(task) {
  switch (task.kind) {
    case 'linear': {
      const rows = spread(task.rows, 24);
      const values = linearRows(task.x, { ...task.layer, ...task }, rows);
      return { rows, columns: task.outFeatures, values };
    }
    case 'attention': {
      const rows = spread(task.heads * task.tokens, 24);
      const { tokens, headDim, q, k, v } = task;
      const shape = {
        tokens,
        headDim,
        sees: (/** @type {number} */ i, /** @type {number} */ j) => j <= i,
      };
      return { rows, columns: headDim, values: attentionRows(q, k, v, shape, rows) };
    }
    case 'multiHeadAttention': {
      const rows = spread(task.batch * task.tokens, 8);
      return { rows, columns: task.dOut, values: multiHeadRows(task.x, task.weights, task, rows) };
    }
    case 'decode':
      return {
        rows: [0],
        columns: task.dOut,
        values: decodeRow(task.x, task, task.weights, task),
      };
    case 'train':
      return expectedOfTraining(task);
  }
}

/** @param {Task} task */
export const flopsOf = (task) => workOf(task).flops;

/**
 * Matrices one below the other.
 * @param {readonly Float32Array[]} parts
 */
export function stack(parts) {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * @param {Float32Array} matrix [rows, columns]
 * @param {number} rows
 * @param {number} columns
 * @returns {Float32Array} [columns, rows]
 */
export function transpose(matrix, rows, columns) {
  const result = new Float32Array(matrix.length);
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++) result[j * rows + i] = matrix[i * columns + j];
  return result;
}

/**
 * What is added to the scores: 0 for keys up to the query, a large negative number beyond (peers' kernels do not all take
 * -Infinity).
 * @param {number} tokens
 * @returns {Float32Array} [tokens, tokens]
 */
export function causalMask(tokens) {
  const mask = new Float32Array(tokens * tokens);
  for (let i = 0; i < tokens; i++) mask.fill(-1e9, i * tokens + i + 1, (i + 1) * tokens);
  return mask;
}
