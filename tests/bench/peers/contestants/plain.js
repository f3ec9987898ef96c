/**
 * Plain JavaScript: typed arrays and loops, each inner loop over neighbours in memory, masked work left out.
 *
 * @import { Started, Task } from './contestant.js'
 */

import { flopsOf, stack } from '../task.js';

/** More than this takes too long to wait for. */
const MOST_FLOPS = 1e10;

/**
 * @param {Float32Array} x [rows, inFeatures]
 * @param {Float32Array} weight [outFeatures, inFeatures]
 * @param {Float32Array | undefined} bias
 * @param {{ rows: number, inFeatures: number, outFeatures: number }} sizes
 */
function linear(x, weight, bias, { rows, inFeatures, outFeatures }) {
  const y = new Float32Array(rows * outFeatures);
  for (let row = 0; row < rows; row++) {
    const from = row * inFeatures;
    for (let o = 0; o < outFeatures; o++) {
      const at = o * inFeatures;
      let sum = bias ? bias[o] : 0;
      for (let i = 0; i < inFeatures; i++) sum += x[from + i] * weight[at + i];
      y[row * outFeatures + o] = sum;
    }
  }
  return y;
}

/**
 * One query over `count` keys and values, whose rows lie `stride` apart.
 * @param {{ data: Float32Array, at: number }} query
 * @param {{ keys: Float32Array, values: Float32Array, at: number, valuesAt: number, stride: number, count: number, width: number }} over
 * @param {Float32Array} weights room for count
 * @param {Float32Array} y
 * @param {number} to
 */
function attend(query, { keys, values, at, valuesAt, stride, count, width }, weights, y, to) {
  const scale = 1 / Math.sqrt(width);
  let largest = -Infinity;
  for (let j = 0; j < count; j++) {
    let sum = 0;
    for (let i = 0; i < width; i++) sum += query.data[query.at + i] * keys[at + j * stride + i];
    weights[j] = sum * scale;
    if (weights[j] > largest) largest = weights[j];
  }
  let total = 0;
  for (let j = 0; j < count; j++) {
    weights[j] = Math.exp(weights[j] - largest);
    total += weights[j];
  }
  for (let j = 0; j < count; j++) {
    const weight = weights[j] / total;
    const from = valuesAt + j * stride;
    for (let i = 0; i < width; i++) y[to + i] += weight * values[from + i];
  }
}

/** @param {Extract<Task, { kind: 'attention' }>} task */
function attention({ q, k, v, heads, tokens, headDim }) {
  const y = new Float32Array(q.length);
  const weights = new Float32Array(tokens);
  for (let head = 0; head < heads; head++) {
    const at = head * tokens * headDim;
    for (let token = 0; token < tokens; token++) {
      const over = { keys: k, values: v, at, valuesAt: at, stride: headDim, width: headDim };
      const row = at + token * headDim;
      attend({ data: q, at: row }, { ...over, count: token + 1 }, weights, y, row);
    }
  }
  return y;
}

/**
 * @param {Extract<Task, { kind: 'multiHeadAttention' }>} task
 * @param {Float32Array} qkvWeight
 */
function multiHeadAttention({ x, weights, batch, tokens, dIn, dOut, heads }, qkvWeight) {
  const rows = batch * tokens;
  const stride = 3 * dOut;
  const width = dOut / heads;
  const sizes = { rows, inFeatures: dIn, outFeatures: stride };
  const qkv = linear(x, qkvWeight, undefined, sizes);
  const context = new Float32Array(rows * dOut);
  const room = new Float32Array(tokens);
  for (let row = 0; row < rows; row++) {
    const first = row - (row % tokens);
    for (let head = 0; head < heads; head++) {
      const at = first * stride + dOut + head * width;
      const over = { keys: qkv, values: qkv, at, valuesAt: at + dOut, stride, width };
      const query = { data: qkv, at: row * stride + head * width };
      const count = row - first + 1;
      attend(query, { ...over, count }, room, context, row * dOut + head * width);
    }
  }
  const { weight, bias } = weights.out;
  return linear(context, weight, bias, { rows, inFeatures: dOut, outFeatures: dOut });
}

/**
 * @param {Extract<Task, { kind: 'decode' }>} task
 * @param {Float32Array} qkvWeight
 * @param {Float32Array} keys [heads, past + 1, headDim], the last one free
 * @param {Float32Array} values
 */
function decode({ x, weights, past, dIn, dOut, heads }, qkvWeight, keys, values) {
  const width = dOut / heads;
  const sizes = { rows: 1, inFeatures: dIn, outFeatures: 3 * dOut };
  const qkv = linear(x, qkvWeight, undefined, sizes);
  const context = new Float32Array(dOut);
  const room = new Float32Array(past + 1);
  for (let head = 0; head < heads; head++) {
    const at = head * (past + 1) * width;
    const from = head * width;
    keys.set(qkv.subarray(dOut + from, dOut + from + width), at + past * width);
    values.set(qkv.subarray(2 * dOut + from, 2 * dOut + from + width), at + past * width);
    const over = { keys, values, at, valuesAt: at, stride: width, width, count: past + 1 };
    attend({ data: qkv, at: from }, over, room, context, from);
  }
  const { weight, bias } = weights.out;
  return linear(context, weight, bias, { rows: 1, inFeatures: dOut, outFeatures: dOut });
}

/**
 * [heads, past, headDim] with room for one more key or value a head.
 * @param {Float32Array} cached
 * @param {{ past: number, dOut: number, heads: number }} sizes
 */
function withRoom(cached, { past, dOut, heads }) {
  const width = dOut / heads;
  const whole = new Float32Array(heads * (past + 1) * width);
  for (let head = 0; head < heads; head++)
    whole.set(
      cached.subarray(head * past * width, (head + 1) * past * width),
      head * (past + 1) * width,
    );
  return whole;
}

/**
 * @param {Exclude<Task, { kind: 'train' }>} task
 * @returns {() => Float32Array}
 */
function runOf(task) {
  switch (task.kind) {
    case 'linear':
      return () => linear(task.x, task.layer.weight, task.layer.bias, task);
    case 'attention':
      return () => attention(task);
    case 'multiHeadAttention': {
      const { query, key, value } = task.weights;
      const qkv = stack([query, key, value]);
      return () => multiHeadAttention(task, qkv);
    }
    case 'decode': {
      const { query, key, value } = task.weights;
      const qkv = stack([query, key, value]);
      const [keys, values] = [withRoom(task.key, task), withRoom(task.value, task)];
      return () => decode(task, qkv, keys, values);
    }
  }
}

/**
 * @param {{ threads: number }} options
 * @returns {Promise<Started>}
 */
export async function start({ threads }) {
  if (threads !== 1) throw new Error('JavaScript computes on one thread');
  return {
    ways(task) {
      if (task.kind === 'train' || flopsOf(task) > MOST_FLOPS) return [];
      return [{ name: 'loops', prepare: () => ({ run: runOf(task), dispose() {} }) }];
    },
  };
}
