/**
 * The tasks as TFLite models: all heads in one batched product, or one head after another.
 *
 * @import { AttentionTask, AttentionWeights, DecodeTask, LinearTask, MultiHeadTask } from '../task.js'
 */

import { causalMask } from '../task.js';
import { options, TfliteModel } from './tflite.js';

/** @typedef {{ bytes: Uint8Array, inputs: { data: Float32Array, shape: number[] }[] }} Model */

/** An optional input that is not there. */
const NONE = -1;

/** @param {TfliteModel} model @param {readonly number[]} values */
const ints = (model, values) => model.constant(Int32Array.from(values), [values.length]);

/** @param {TfliteModel} model @param {number} x @param {readonly number[]} shape */
const reshape = (model, x, shape) => model.node('RESHAPE', [x, ints(model, shape)], shape);

/** The two middle axes swapped. @param {TfliteModel} model @param {number} x @param {readonly number[]} shape after it */
const swapMiddle = (model, x, shape) =>
  model.node('TRANSPOSE', [x, ints(model, [0, 2, 1, 3])], shape);

/**
 * @param {TfliteModel} model
 * @param {number} x
 * @param {readonly number[]} begin
 * @param {readonly number[]} size
 */
const slice = (model, x, begin, size) =>
  model.node('SLICE', [x, ints(model, begin), ints(model, size)], size);

/**
 * x·weightᵀ + bias
 * @param {TfliteModel} model
 * @param {number} x
 * @param {{ weight: Float32Array, bias?: Float32Array, rows: number, inFeatures: number, outFeatures: number }} layer
 */
function fullyConnected(model, x, { weight, bias, rows, inFeatures, outFeatures }) {
  const inputs = [
    x,
    model.constant(weight, [outFeatures, inFeatures]),
    bias ? model.constant(bias, [outFeatures]) : NONE,
  ];
  return model.node('FULLY_CONNECTED', inputs, [rows, outFeatures]);
}

/**
 * @param {LinearTask} task
 * @returns {Model}
 */
export function linear({ x, layer, ...sizes }) {
  const model = new TfliteModel();
  const shape = [sizes.rows, sizes.inFeatures];
  const y = fullyConnected(model, model.input(shape), { ...layer, ...sizes });
  return { bytes: model.finish(y), inputs: [{ data: x, shape }] };
}

/**
 * softmax(q·kᵀ/√headDim + mask)·v of tensors [batch, heads, tokens, headDim].
 * @param {TfliteModel} model
 * @param {readonly number[]} qkv
 * @param {readonly number[]} shape
 * @param {boolean} apart one head after another
 */
function attend(model, qkv, shape, apart) {
  const [batch, heads, tokens, headDim] = shape;
  const scale = model.constant(Float32Array.of(1 / Math.sqrt(headDim)), [1]);
  const mask = model.constant(causalMask(tokens), [1, 1, tokens, tokens]);
  /** @param {readonly number[]} parts @param {number} count heads in them */
  const together = ([q, k, v], count) => {
    const scoresShape = [batch, count, tokens, tokens];
    const partShape = [batch, count, tokens, headDim];
    const scaled = model.node('MUL', [q, scale], partShape);
    const scores = model.node('BATCH_MATMUL', [scaled, k], scoresShape, options.batchMatMul(true));
    const masked = model.node('ADD', [scores, mask], scoresShape);
    const weights = model.node('SOFTMAX', [masked], scoresShape, options.softmax());
    return model.node('BATCH_MATMUL', [weights, v], partShape, options.batchMatMul(false));
  };
  if (!apart) return together(qkv, heads);
  const outputs = Array.from({ length: heads }, (_, head) => {
    const size = [batch, 1, tokens, headDim];
    return together(
      qkv.map((x) => slice(model, x, [0, head, 0, 0], size)),
      1,
    );
  });
  return model.node('CONCATENATION', outputs, shape, options.concatenation(1));
}

/**
 * @param {AttentionTask} task
 * @param {boolean} apart
 * @returns {Model}
 */
export function attention({ q, k, v, heads, tokens, headDim }, apart) {
  const model = new TfliteModel();
  const shape = [1, heads, tokens, headDim];
  const inputs = [q, k, v].map((data) => ({ data, shape }));
  const y = attend(
    model,
    inputs.map(() => model.input(shape)),
    shape,
    apart,
  );
  return { bytes: model.finish(y), inputs };
}

/**
 * The three projections of x, [rows, dOut] each.
 * @param {TfliteModel} model
 * @param {number} x
 * @param {number} rows
 * @param {{ weights: AttentionWeights, dIn: number, dOut: number }} task
 */
const project = (model, x, rows, { weights: { query, key, value }, dIn, dOut }) =>
  [query, key, value].map((weight) =>
    fullyConnected(model, x, { weight, rows, inFeatures: dIn, outFeatures: dOut }),
  );

/**
 * @param {MultiHeadTask} task
 * @param {boolean} apart
 * @returns {Model}
 */
export function multiHeadAttention(task, apart) {
  const { x, weights, batch, tokens, dIn, dOut, heads } = task;
  const headDim = dOut / heads;
  const rows = batch * tokens;
  const model = new TfliteModel();
  const shape = [rows, dIn];
  const byHead = [batch, heads, tokens, headDim];
  const byToken = [batch, tokens, heads, headDim];
  const qkv = project(model, model.input(shape), rows, task).map((part) =>
    swapMiddle(model, reshape(model, part, byToken), byHead),
  );
  const attended = swapMiddle(model, attend(model, qkv, byHead, apart), byToken);
  const context = reshape(model, attended, [rows, dOut]);
  const sizes = { rows, inFeatures: dOut, outFeatures: dOut };
  const y = fullyConnected(model, context, { ...weights.out, ...sizes });
  return { bytes: model.finish(y), inputs: [{ data: x, shape }] };
}

/**
 * The cache lies in the model, so that no call copies it: the best case for a runtime without a cache of its own.
 * @param {DecodeTask} task
 * @returns {Model}
 */
export function decode(task) {
  const { x, key, value, weights, past, dIn, dOut, heads } = task;
  const headDim = dOut / heads;
  const model = new TfliteModel();
  const row = [heads, 1, headDim];
  const [q, k, v] = project(model, model.input([1, dIn]), 1, task).map((part) =>
    reshape(model, part, row),
  );
  const scale = model.constant(Float32Array.of(1 / Math.sqrt(headDim)), [1]);
  const scaled = model.node('MUL', [q, scale], row);
  const cacheShape = [heads, past, headDim];
  const [keys, values] = [key, value].map((data) => model.constant(data, cacheShape));
  const transposed = options.batchMatMul(true);
  const before = model.node('BATCH_MATMUL', [scaled, keys], [heads, 1, past], transposed);
  const now = model.node('BATCH_MATMUL', [scaled, k], [heads, 1, 1], transposed);
  const scoresShape = [heads, 1, past + 1];
  const scores = model.node('CONCATENATION', [before, now], scoresShape, options.concatenation(2));
  const probabilities = model.node('SOFTMAX', [scores], scoresShape, options.softmax());
  const weightsBefore = slice(model, probabilities, [0, 0, 0], [heads, 1, past]);
  const weightNow = slice(model, probabilities, [0, 0, past], [heads, 1, 1]);
  const straight = options.batchMatMul(false);
  const attended = model.node(
    'ADD',
    [
      model.node('BATCH_MATMUL', [weightsBefore, values], row, straight),
      model.node('MUL', [weightNow, v], row),
    ],
    row,
  );
  const context = reshape(model, attended, [1, dOut]);
  const sizes = { rows: 1, inFeatures: dOut, outFeatures: dOut };
  const y = fullyConnected(model, context, { ...weights.out, ...sizes });
  return { bytes: model.finish(y), inputs: [{ data: x, shape: [1, dIn] }] };
}
