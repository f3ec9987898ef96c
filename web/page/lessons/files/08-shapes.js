/**
 * Shapes | Follow the shapes
 *
 * Multi-head attention looks hard mostly because of its shapes. Here every step stands on its own, and at the end the
 * module has to agree.
 */

// %% One projection for all three
// @from 003, section 4
// Queries, keys and values come from one matrix three times as tall. The document’s class returns its weights too: a
// square for each of twelve heads.

import { load, Tensor } from 'headwise';
import {
  largestDifference,
  permute,
  pick,
  reshape,
  show,
  showBars,
  showChain,
  showFlow,
} from '../tools.js';

const hw = await load();
hw.manualSeed(123);
const mha = new hw.MultiHeadAttention({
  dIn: 768,
  dOut: 768,
  contextLength: 1024,
  numHeads: 12,
  dropout: 0.1,
  outBias: false,
  packedQkv: true,
}).eval();
const embeddings = hw.randn([2, 6, 768]);
const { output, weights } = mha.forward(embeddings, {
  mask: hw.causalMask(6),
  needWeights: true,
});
showChain('Four of twelve heads', [
  ['weights', pick(weights, 0), { heads: 12, weights: true }],
]);
show('Input shape', embeddings.shape);
show('Output shape', output.shape);
show('Attention weights shape', weights.shape);

// expected Input shape = [2, 6, 768]
// expected Output shape = [2, 6, 768]
// expected Attention weights shape = [2, 12, 6, 6]

// %% 512 numbers, 8 heads, 10 tokens
// @from 003, exercise 3
// Follow one sequence: three times as wide after the projection, cut into 8 heads of 64, heads moved in front of
// tokens, and back again.

const qkvProj = new hw.Linear({
  inFeatures: 512,
  outFeatures: 3 * 512,
  bias: false,
});
const outProj = new hw.Linear({
  inFeatures: 512,
  outFeatures: 512,
  bias: false,
});
const x = hw.randn([1, 10, 512]);
show('Input', x.shape);

const projected = qkvProj.forward(x).output;
show('After the QKV projection', projected.shape);

const cut = reshape(projected, [1, 10, 3, 8, 64]);
show('Cut into 3 × 8 × 64', cut.shape);

const moved = permute(cut, [2, 0, 3, 1, 4]);
const [q, k, v] = [0, 1, 2].map((i) => pick(moved, i));
show('Heads in front of tokens', moved.shape);
show('Q, K and V each', q.shape);

const scores = hw.matmul(q, hw.transpose(k));
show('Scores', scores.shape);

const scaled = new Tensor(
  Float32Array.from(scores.data, (s) => s / Math.sqrt(64)),
  scores.shape,
);
const mixed = hw.matmul(hw.softmax(scaled), v);
show('After attention', mixed.shape);

const back = permute(mixed, [0, 2, 1, 3]);
show('Tokens in front of heads', back.shape);

const joined = reshape(back, [1, 10, 512]);
show('Heads joined', joined.shape);

const result = outProj.forward(joined).output;
show('After the output projection', result.shape);

showFlow('The way of one sequence', [
  { label: 'Input', value: x },
  {
    label: 'After the QKV projection',
    note: 'queries, keys and values side by side',
    value: projected,
  },
  [q, k, v].map((part, i) => ({
    label: 'QKV'[i],
    value: part,
    heads: 8,
  })),
  { label: 'Scores', note: 'Q × Kᵀ', value: scores, heads: 8 },
  { label: 'After attention', value: mixed, heads: 8 },
  { label: 'Heads joined', value: joined, heads: 8 },
  { label: 'After the output projection', value: result },
]);

// expected Input = [1, 10, 512]
// expected After the QKV projection = [1, 10, 1536]
// expected Cut into 3 × 8 × 64 = [1, 10, 3, 8, 64]
// expected Heads in front of tokens = [3, 1, 8, 10, 64]
// expected Q, K and V each = [1, 8, 10, 64]
// expected Scores = [1, 8, 10, 10]
// expected After attention = [1, 8, 10, 64]
// expected Tokens in front of heads = [1, 10, 8, 64]
// expected Heads joined = [1, 10, 512]
// expected After the output projection = [1, 10, 512]

// %% Does the module agree?
// @from 003, exercise 3
// The same two matrices, loaded into the class that takes all of these steps at once.

const module = new hw.MultiHeadAttention({
  dIn: 512,
  dOut: 512,
  contextLength: 10,
  numHeads: 8,
  outBias: false,
  isCausal: false,
  packedQkv: true,
});
module.loadStateDict({
  'qkv_proj.weight': qkvProj.stateDict().weight,
  'out_proj.weight': outProj.stateDict().weight,
});
const apart = largestDifference(module.forward(x).output, result);
show('Largest difference', apart);
show('Equal within 1e-6', apart < 1e-6);

// expected Equal within 1e-6 = true

// %% Dropout in training
// @from 003, section 4
// In training mode a tenth of the weights is set to zero at random. The rest is divided by 0.9, so that a row still sums
// to one on average. The module returns the weights that it used.

mha.train();
const dropped = mha.forward(embeddings, {
  mask: hw.causalMask(6),
  needWeights: true,
}).weights;
mha.eval();
const seen = [...weights.data.keys()].filter(
  (i) => weights.data[i] > 0,
);
const kept = seen.filter((i) => dropped.data[i] > 0);

show('Weights that the mask lets through', seen.length);
show('Of these, kept by dropout', kept.length);
show(
  'Kept ones have grown to 1 / 0.9 of their size',
  kept.every(
    (i) => Math.abs(dropped.data[i] - weights.data[i] / 0.9) < 1e-6,
  ),
);
showChain('Head 0', [
  ['without dropout', pick(weights, 0), { weights: true }],
  'or',
  ['with dropout', pick(dropped, 0), { weights: true }],
]);

// expected Weights that the mask lets through = 504
// expected Kept ones have grown to 1 / 0.9 of their size = true

// %% One head or twelve: the same number of weights
// @from 003, exercise 4
// Heads divide the width; they do not add to it. One head of 768 and twelve of 64 have the same matrices. With the same
// weights they still give different outputs, because the softmax is taken over other sums.

const options = {
  dIn: 768,
  dOut: 768,
  contextLength: 16,
  outBias: false,
  packedQkv: true,
};
const single = new hw.MultiHeadAttention({
  ...options,
  numHeads: 1,
});
const twelve = new hw.MultiHeadAttention({
  ...options,
  numHeads: 12,
});
twelve.loadStateDict(single.stateDict());

const sentence = hw.randn([1, 16, 768]);
const fromOne = single.forward(sentence).output;
const fromTwelve = twelve.forward(sentence).output;

showBars('Parameters', {
  'One head of 768': single.parameterCount(),
  'Twelve heads of 64': twelve.parameterCount(),
});
show('One head, parameters', single.parameterCount());
show('Twelve heads, parameters', twelve.parameterCount());
show('One head, output', fromOne.shape);
show('Twelve heads, output', fromTwelve.shape);
show(
  'Largest difference of the outputs',
  largestDifference(fromOne, fromTwelve),
);

// expected One head, parameters = 2359296
// expected Twelve heads, parameters = 2359296
// expected One head, output = [1, 16, 768]
// expected Twelve heads, output = [1, 16, 768]

// %% 256 in one piece or in eight
// @from 000, divide and conquer
// The same at another width. One head of 256 numbers has one square of weights, eight heads of 32 have eight.

const sizes = {
  dIn: 256,
  dOut: 256,
  contextLength: 16,
  numHeads: 1,
};
const whole = new hw.MultiHeadAttention(sizes);
const eight = new hw.MultiHeadAttention({ ...sizes, numHeads: 8 });
const y = hw.randn([1, 16, 256]);
const squares = (m) => m.forward(y, { needWeights: true }).weights;

showChain('Their weights', [
  ['one head', squares(whole), { heads: 1, weights: true }],
  'or',
  ['eight heads', squares(eight), { heads: 8, weights: true }],
]);
show('One head of 256', whole.parameterCount());
show('Eight heads of 32', eight.parameterCount());
show('Weights of one head', squares(whole).shape);
show('Weights of eight', squares(eight).shape);

// expected One head of 256 = 262400
// expected Eight heads of 32 = 262400
// expected Weights of one head = [1, 1, 16, 16]
// expected Weights of eight = [1, 8, 16, 16]
