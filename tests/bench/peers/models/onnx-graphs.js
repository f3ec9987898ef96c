/**
 * The tasks as ONNX models: by the fused attention operators, and by MatMul and Softmax.
 *
 * @import { AttentionTask, DecodeTask, LinearTask, MultiHeadTask } from '../task.js'
 */

import { causalMask, stack, transpose } from '../task.js';
import { OnnxModel } from './onnx.js';

/** @typedef {{ bytes: Uint8Array, inputs: Record<string, { data: Float32Array, shape: number[] }> }} Model */

/**
 * @param {LinearTask} task
 * @returns {Model}
 */
export function linear({ x, layer, rows, inFeatures, outFeatures }) {
  const model = new OnnxModel();
  const input = model.input('x', [rows, inFeatures]);
  const weight = model.constant(layer.weight, [outFeatures, inFeatures]);
  const bias = model.constant(layer.bias, [outFeatures]);
  const y = model.node('Gemm', [input, weight, bias], { transB: 1 });
  const bytes = model.finish(y, [rows, outFeatures]);
  return { bytes, inputs: { x: { data: x, shape: [rows, inFeatures] } } };
}

/**
 * softmax(q·kᵀ/√headDim + mask)·v by MatMul and Softmax; keys come transposed.
 * @param {OnnxModel} model
 * @param {{ q: string, kT: string, v: string, tokens: number, headDim: number }} of
 */
function attend(model, { q, kT, v, tokens, headDim }) {
  const scale = model.constant(Float32Array.of(1 / Math.sqrt(headDim)), [1]);
  const mask = model.constant(causalMask(tokens), [1, 1, tokens, tokens]);
  const scores = model.node('MatMul', [model.node('Mul', [q, scale]), kT]);
  const weights = model.node('Softmax', [model.node('Add', [scores, mask])], { axis: -1 });
  return model.node('MatMul', [weights, v]);
}

/** @param {AttentionTask} task */
function attentionInputs({ q, k, v, heads, tokens, headDim }) {
  const shape = [1, heads, tokens, headDim];
  const model = new OnnxModel();
  const names = ['q', 'k', 'v'].map((name) => model.input(name, shape));
  const inputs = {
    q: { data: q, shape },
    k: { data: k, shape },
    v: { data: v, shape },
  };
  return { model, names, inputs, shape };
}

/**
 * ONNX's Attention of opset 23.
 * @param {AttentionTask} task
 * @returns {Model}
 */
export function fusedAttention(task) {
  const { model, names, inputs, shape } = attentionInputs(task);
  const y = model.node('Attention', names, { is_causal: 1 });
  return { bytes: model.finish(y, shape), inputs };
}

/**
 * @param {AttentionTask} task
 * @returns {Model}
 */
export function plainAttention(task) {
  const { model, names, inputs, shape } = attentionInputs(task);
  const [q, k, v] = names;
  const kT = model.node('Transpose', [k], { perm: [0, 1, 3, 2] });
  const { tokens, headDim } = task;
  const y = attend(model, { q, kT, v, tokens, headDim });
  return { bytes: model.finish(y, shape), inputs };
}

/**
 * [dIn, 3 · dOut], as com.microsoft's Attention takes it.
 * @param {{ weights: import('../task.js').AttentionWeights, dIn: number, dOut: number }} task
 */
const packedWeight = ({ weights: { query, key, value }, dIn, dOut }) =>
  transpose(stack([query, key, value]), 3 * dOut, dIn);

/**
 * @param {OnnxModel} model
 * @param {string} context
 * @param {{ weights: import('../task.js').AttentionWeights, dOut: number }} task
 */
function outProjection(model, context, { weights: { out }, dOut }) {
  const weight = model.constant(transpose(out.weight, dOut, dOut), [dOut, dOut]);
  const product = model.node('MatMul', [context, weight]);
  return model.node('Add', [product, model.constant(out.bias, [dOut])]);
}

/**
 * com.microsoft's Attention, which holds the input projections too.
 * @param {MultiHeadTask} task
 * @returns {Model}
 */
export function fusedMultiHead(task) {
  const { x, batch, tokens, dIn, dOut, heads } = task;
  const model = new OnnxModel();
  const shape = [batch, tokens, dIn];
  const input = model.input('x', shape);
  const weight = model.constant(packedWeight(task), [dIn, 3 * dOut]);
  const bias = model.constant(new Float32Array(3 * dOut), [3 * dOut]);
  const attributes = { num_heads: heads, unidirectional: 1 };
  const context = model.node('com.microsoft:Attention', [input, weight, bias], attributes);
  const y = outProjection(model, context, task);
  return { bytes: model.finish(y, [batch, tokens, dOut]), inputs: { x: { data: x, shape } } };
}

/**
 * @param {MultiHeadTask} task
 * @returns {Model}
 */
export function plainMultiHead(task) {
  const { x, batch, tokens, dIn, dOut, heads } = task;
  const headDim = dOut / heads;
  const model = new OnnxModel();
  const shape = [batch, tokens, dIn];
  const input = model.input('x', shape);
  const weight = model.constant(packedWeight(task), [dIn, 3 * dOut]);
  const qkv = model.node('MatMul', [input, weight]);
  const split = { attributes: { axis: 2, num_outputs: 3 }, outputs: 3 };
  const perm = [0, 2, 1, 3];
  const [q, kT, v] = model.nodes('Split', [qkv], split).map((part, i) => {
    const byHead = model.constant([batch, tokens, heads, headDim], [4]);
    const reshaped = model.node('Reshape', [part, byHead]);
    return model.node('Transpose', [reshaped], { perm: i === 1 ? [0, 2, 3, 1] : perm });
  });
  const attended = attend(model, { q, kT, v, tokens, headDim });
  const merged = model.constant([batch, tokens, dOut], [3]);
  const byToken = model.node('Transpose', [attended], { perm });
  const context = model.node('Reshape', [byToken, merged]);
  const y = outProjection(model, context, task);
  return { bytes: model.finish(y, [batch, tokens, dOut]), inputs: { x: { data: x, shape } } };
}

/**
 * The cache lies in the model, so that no call copies it: the best case for a runtime without a cache of its own.
 * @param {DecodeTask} task
 * @returns {Model}
 */
export function decode(task) {
  const { x, key, value, past, dIn, dOut, heads } = task;
  const headDim = dOut / heads;
  const model = new OnnxModel();
  const input = model.input('x', [1, dIn]);
  const weight = model.constant(packedWeight(task), [dIn, 3 * dOut]);
  const qkv = model.node('MatMul', [input, weight]);
  const split = { attributes: { axis: 1, num_outputs: 3 }, outputs: 3 };
  const row = model.constant([heads, 1, headDim], [3]);
  const [q, k, v] = model
    .nodes('Split', [qkv], split)
    .map((part) => model.node('Reshape', [part, row]));
  const scale = model.constant(Float32Array.of(1 / Math.sqrt(headDim)), [1]);
  const scaled = model.node('Mul', [q, scale]);
  const keysT = new Float32Array(key.length);
  for (let head = 0; head < heads; head++) {
    const [from, to] = [head * past * headDim, (head + 1) * past * headDim];
    keysT.set(transpose(key.subarray(from, to), past, headDim), from);
  }
  const before = model.node('MatMul', [scaled, model.constant(keysT, [heads, headDim, past])]);
  const now = model.node('ReduceSum', [model.node('Mul', [scaled, k]), model.constant([2], [1])]);
  const scores = model.node('Concat', [before, now], { axis: 2 });
  const weights = model.node('Softmax', [scores], { axis: -1 });
  const [weightsBefore, weightNow] = model.nodes(
    'Split',
    [weights, model.constant([past, 1], [2])],
    { attributes: { axis: 2 }, outputs: 2 },
  );
  const values = model.constant(value, [heads, past, headDim]);
  const attended = model.node('Add', [
    model.node('MatMul', [weightsBefore, values]),
    model.node('Mul', [weightNow, v]),
  ]);
  const context = model.node('Reshape', [attended, model.constant([1, dOut], [2])]);
  const y = outProjection(model, context, task);
  const inputs = { x: { data: x, shape: [1, dIn] } };
  return { bytes: model.finish(y, [1, dOut]), inputs };
}
