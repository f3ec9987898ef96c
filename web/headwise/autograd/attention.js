// The backward of scaledDotProductAttention. It uses values kept from the call: row maxima and sums, and dropout's kept bits.
import { attentionArguments, attentionGradientArguments } from '../engine/abi.js';
import { writeArguments } from '../attention/arguments.js';
import { writeStruct } from '../engine/struct.js';
import { copyOf, operandOf, wordsOperand } from '../tensor/operand.js';
import { newArray } from '../tensor/shape.js';
import { sumTo } from './elementwise.js';
import { attach, attachAll, sourceOf } from './record.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('./record.js').Source} Source */
/** @typedef {import('../attention/arguments.js').AttentionSizes} AttentionSizes */
/** @typedef {import('../attention/arguments.js').Fitted} Fitted */

/**
 * Where gradients lead: q, k, v, the past's key and value, and the mask.
 * @param {readonly unknown[]} tensors as the caller gave them
 * @returns {(Source | undefined)[] | undefined} undefined: nowhere
 */
export function sourcesOf(tensors) {
  const found = tensors.map(sourceOf);
  return found.some((source) => source !== undefined) ? found : undefined;
}

/**
 * Bytes of what a recorded call leaves behind.
 * @param {AttentionSizes} sizes
 * @param {number} dropout
 * @returns {(number | undefined)[]} of maxima, sums and kept bits
 */
export function recordBytes({ batch, heads, queryTokens, keyTokens }, dropout) {
  const rows = batch * heads * queryTokens;
  const words = rows * Math.ceil(keyTokens / 32);
  return [rows * 4, rows * 4, dropout > 0 ? words * 4 : undefined];
}

/**
 * For every head the rows of the past, or those that came after it.
 * @param {Float32Array} joined [heads, past + own, width]
 * @param {number} heads
 * @param {number} start in each head, in elements
 * @param {number} length in each head
 */
function partOfHeads(joined, heads, start, length) {
  const part = newArray(Float32Array, heads * length);
  const step = joined.length / heads;
  for (let head = 0; head < heads; head++) {
    const from = head * step + start;
    part.set(joined.subarray(from, from + length), head * length);
  }
  return part;
}

/**
 * The gradients of past and own rows from those of both joined.
 * @param {Float32Array} joined
 * @param {number} heads of the whole batch
 * @param {number} pastLength of each head, in elements
 */
const splitHeads = (joined, heads, pastLength) => [
  partOfHeads(joined, heads, 0, pastLength),
  partOfHeads(joined, heads, pastLength, joined.length / heads - pastLength),
];

/**
 * Records that a present is the past and what came after it.
 * @param {Engine} engine
 * @param {Tensor} present
 * @param {readonly (Source | undefined)[]} inputs the past and the new rows
 * @param {number} heads
 * @param {number} pastLength of each head, in elements
 */
export function attachPresent(engine, present, inputs, heads, pastLength) {
  if (inputs.some((source) => source !== undefined)) {
    attach(engine, present, inputs, ({ data }) => splitHeads(data, heads, pastLength));
  }
}

/**
 * The gradient of a mask from that of one that was filled up to all keys, or broadcast.
 * @param {Engine} engine
 * @param {Tensor} filled
 * @param {readonly number[]} given the mask's shape
 */
export function gradientOfMask(engine, filled, given) {
  const last = filled.shape.length - 1;
  const own = given[given.length - 1];
  const ranges = filled.shape.map((_, axis) => (axis === last && own > 1 ? [0, own] : []));
  return sumTo(engine, operandOf(filled.slice(.../** @type {any[]} */ (ranges))), given);
}

/**
 * @typedef {object} Recorded
 * @property {AttentionSizes} sizes
 * @property {Fitted} fitted
 * @property {number} pastTokens
 * @property {readonly number[] | undefined} maskShape as it was given
 * @property {readonly number[]} addresses of the call
 */

/**
 * Records what an output came from, and weights with it, out of the call's staging memory.
 * @param {Engine} engine
 * @param {Tensor} output
 * @param {Tensor | undefined} weights
 * @param {readonly (Source | undefined)[]} inputs
 * @param {Recorded} call
 */
export function attachAttention(engine, output, weights, inputs, call) {
  const { sizes, fitted, addresses } = call;
  const { batch, heads, keyHeads, queryTokens, keyTokens, keyWidth, valueWidth } = sizes;
  const read = (/** @type {number} */ i, /** @type {number[]} */ shape) =>
    operandOf(engine.read(addresses[i], shape));
  const rows = [batch, heads, queryTokens];
  const keyRows = [batch, keyHeads, keyTokens];
  const mask = fitted.mask && {
    ...fitted.mask,
    tensor: copyOf(/** @type {any} */ (fitted.mask.tensor)),
  };
  const kept = addresses[10] / 4;
  const words = rows[0] * rows[1] * rows[2] * Math.ceil(keyTokens / 32);
  const own = {
    query: read(0, [...rows, keyWidth]),
    key: read(1, [...keyRows, keyWidth]),
    value: read(2, [...keyRows, valueWidth]),
    maximum: read(8, rows),
    sum: read(9, rows),
    bits: kept === 0 ? undefined : wordsOperand(engine.words.subarray(kept, kept + words)),
    output: copyOf(operandOf(output)),
    weights: weights && copyOf(operandOf(weights)),
    fitted: { ...fitted, mask },
  };
  const results = weights === undefined ? [output] : [output, weights];
  attachAll(engine, results, inputs, (gradient) =>
    runBackward(engine, call, own, inputs, gradient),
  );
}

/**
 * @param {Engine} engine
 * @param {Recorded} call
 * @param {any} own what the call left
 * @param {readonly (Source | undefined)[]} inputs
 * @param {FloatOperand} gradient
 */
function runBackward(engine, { sizes, pastTokens, maskShape }, own, inputs, gradient) {
  const { query, key, value, fitted } = own;
  const [needsQuery, needsKey, needsValue] = [[0], [1, 3], [2, 4]].map((of) =>
    of.some((i) => inputs[i] !== undefined),
  );
  const mask = fitted.mask?.tensor;
  // The engine adds to these gradients, so they start as zeros.
  const zeros =
    mask && inputs[5] ? { ...mask, data: newArray(Float32Array, mask.size) } : undefined;
  const addresses = engine.lay([
    ...[query, key, value, own.output, own.weights, mask, fitted.lengths, attentionArguments.bytes],
    ...[own.maximum, own.sum, own.bits, gradient, attentionGradientArguments.bytes],
    ...[needsQuery && query, needsKey && key, needsValue && value].map((x) =>
      x ? x.size * 4 : undefined,
    ),
    zeros,
  ]);
  writeArguments(engine, sizes, fitted, addresses);
  const [struct, output, gradients] = [addresses[7], addresses[11], addresses[12]];
  const [dq, dk, dv, dMask] = addresses.slice(13);
  writeStruct(engine, gradients, attentionGradientArguments, {
    ...{ output, query: dq, key: dk, value: dv, mask: dMask },
    weights: own.weights && output + own.output.size * 4,
  });
  const status = engine.call.scaled_dot_product_attention_backward(struct, gradients);
  engine.check(status, 'backward');
  const keyHeads = sizes.batch * sizes.keyHeads;
  const read = (/** @type {number} */ at, /** @type {FloatOperand} */ like) =>
    at === 0 ? undefined : engine.read(at, like.shape).data;
  const [dKey, dValue] = [read(dk, key), read(dv, value)];
  const [pastKey, ownKey] = dKey ? splitHeads(dKey, keyHeads, pastTokens * sizes.keyWidth) : [];
  const [pastValue, ownValue] = dValue
    ? splitHeads(dValue, keyHeads, pastTokens * sizes.valueWidth)
    : [];
  const dQuery = read(dq, query);
  const filled = zeros && engine.read(dMask, zeros.shape);
  const dGiven = filled && maskShape && gradientOfMask(engine, filled, maskShape);
  return [dQuery, ownKey, ownValue, pastKey, pastValue, dGiven];
}
