/**
 * By hand | Attention by hand, in five steps
 *
 * Each token looks at the others and takes in what fits. Five lines of code do it: queries, keys and values; scores;
 * scaling; softmax; a weighted sum. All later lessons repeat and rearrange these five.
 */

// %% Six tokens, and nothing between them
// @from 003, section 1
// An embedding is looked up for each token alone: “bank” gets the same numbers beside “river” and beside “savings”.
// Here random numbers stand in for embeddings: two sequences of six tokens, 768 numbers each.
//
// All code can be changed. Change 123 to another number, then press Run below the code, or Ctrl+Enter (⌘+Enter on a
// Mac): the lesson runs again from its first step. The results stand beside the code, on a narrow screen above it.
// `show(name, value)` writes a value there, and `showChain` draws matrices: orange above zero, purple below, stronger
// the further from zero. `console.log` works too.

import { load, tensor } from 'headwise';
import {
  largestDifference,
  pick,
  show,
  showChain,
} from '../tools.js';

const hw = await load();
hw.manualSeed(123);
const embeddings = hw.randn([2, 6, 768]);
show('Input', embeddings.shape);
showChain('The first sequence', [['embeddings', embeddings]]);

// expected Input = [2, 6, 768]

// %% Three projections of each token
// @from 003, section 2, step 1
// A query says what a token looks for. A key says what it can be found by. A value is what it hands over. Three matrices
// without bias make them, from 768 numbers to 64. The picture shows one of the three products.

const dK = 64;
const projection = () =>
  new hw.Linear({
    inFeatures: 768,
    outFeatures: dK,
    bias: false,
  });
const [wQuery, wKey, wValue] = [
  projection(),
  projection(),
  projection(),
];
const q = wQuery.forward(embeddings).output;
const k = wKey.forward(embeddings).output;
const v = wValue.forward(embeddings).output;

show('Q', q.shape);
show('K', k.shape);
show('V', v.shape);
const wide = hw.transpose(wQuery.stateDict().weight);
showChain('Each token becomes a query', [
  ['x', embeddings],
  '×',
  ['W_query', wide],
  '=',
  ['Q', q],
]);

// expected Q = [2, 6, 64]
// expected K = [2, 6, 64]
// expected V = [2, 6, 64]

// %% A score for every pair
// @from 003, section 2, step 2
// The dot product of query i and key j says how well they fit. All of them at once are a matrix product: rows of
// queries times columns of keys, one square for each sequence of the batch.

const kT = hw.transpose(k);
const scores = hw.matmul(q, kT);

show('K transposed', kT.shape);
show('Scores', scores.shape);
showChain('Each query meets each key', [
  ['Q', q],
  '×',
  ['Kᵀ', kT],
  '=',
  ['scores', scores],
]);

// expected K transposed = [2, 64, 6]
// expected Scores = [2, 6, 6]

// %% Divided by the root of the width
// @from 003, section 2, step 3
// A sum of 64 products is √64 times as spread out as one of them. Without the division the largest score takes most
// of the softmax: on the left one or two cells a row are bright and the others are dark.

const scaled = tensor(
  Float32Array.from(scores.data, (score) => score / Math.sqrt(dK)),
  scores.shape,
);
const largest = (x) =>
  x.data.reduce(
    (most, value) => Math.max(most, Math.abs(value)),
    0,
  );

show('Scaled scores', scaled.shape);
show('√64', Math.sqrt(dK));
show('Largest score before', largest(scores));
show('Largest score after', largest(scaled));
showChain('Softmax of the scores', [
  ['undivided', hw.softmax(scores), { weights: true }],
  'or',
  ['divided by 8', hw.softmax(scaled), { weights: true }],
]);

// expected Scaled scores = [2, 6, 6]
// expected √64 = 8

// %% Each row becomes shares
// @from 003, section 2, step 4
// Softmax makes the scores of a row positive and lets them sum to one: how token i divides its attention.

const weights = hw.softmax(scaled);
const firstRow = weights.data.slice(0, 6);

show('Attention weights', weights.shape);
showChain('Scores become shares', [
  ['scaled', scaled],
  'softmax →',
  ['weights', weights, { weights: true }],
]);
show('Weights of token 0', [...firstRow]);
show(
  'Sum of the weights of token 0',
  firstRow.reduce((a, b) => a + b),
);

// expected Attention weights = [2, 6, 6]
// expected Sum of the weights of token 0 = 1.0

// %% Values, mixed by these shares
// @from 003, section 2, step 5
// Each token becomes a blend of all values. Its numbers now depend on its neighbours.

const output = hw.matmul(weights, v);
const firstTen = (x) => [...pick(pick(x, 0), 0).data.slice(0, 10)];

show('Output', output.shape);
showChain('Shares times values', [
  ['weights', weights, { weights: true }],
  '×',
  ['V', v],
  '=',
  ['output', output],
]);
show('Token 0, ten of its 768 numbers', firstTen(embeddings));
show('Token 0 after attention, ten of 64', firstTen(output));

// expected Output = [2, 6, 64]

// %% The five steps as one function
// @from 003, section 2, the complete function
// `scaledDotProductAttention` does all five in one pass, row by row. It makes the square of weights only on request.

const whole = hw.scaledDotProductAttention(q, k, v, {
  needWeights: true,
});
const apart = largestDifference(whole.output, output);

show('Output of the function', whole.output.shape);
show('Its weights', whole.weights.shape);
show('Its first row', [...whole.weights.data.slice(0, 6)]);
show('Largest difference of the outputs', apart);
show('Equal within 1e-6', apart < 1e-6);

// expected Output of the function = [2, 6, 64]
// expected Its weights = [2, 6, 6]
// expected Equal within 1e-6 = true

// %% Small enough for pencil and paper
// @from 003, exercise 1
// Two tokens of three numbers. The scores are whole numbers. Those of the first token are equal, so it takes half of
// each value. The second takes 1.78 times as much of the second value as of the first: e to the power of 1/√3.

const q2 = tensor([
  [
    [1, 0, 1],
    [0, 1, 1],
  ],
]);
const k2 = tensor([
  [
    [1, 1, 0],
    [0, 1, 1],
  ],
]);
const v2 = tensor([
  [
    [2, 0, 1],
    [1, 2, 0],
  ],
]);

const share = 1 / (1 + Math.exp(-1 / Math.sqrt(3)));
const byHand = tensor([
  [
    [1.5, 1, 0.5],
    [2 - share, 2 * share, 1 - share],
  ],
]);
const small = hw.scaledDotProductAttention(q2, k2, v2, {
  needWeights: true,
});

showChain('Small enough to follow every number', [
  ['Q', q2],
  '×',
  ['Kᵀ', hw.transpose(k2)],
  '=',
  ['scores', hw.matmul(q2, hw.transpose(k2))],
  '÷ √3, softmax →',
  ['weights', small.weights, { weights: true }],
  '×',
  ['V', v2],
  '=',
  ['output', small.output],
]);
show('Q · Kᵀ', hw.matmul(q2, hw.transpose(k2)));
show('Weights of two tokens', small.weights);
show('Output of two tokens', small.output);
show(
  'Differs from the pencil by',
  largestDifference(small.output, byHand),
);

// expected Q · Kᵀ = [[[1, 1], [1, 2]]]
// expected Weights of two tokens = [[[0.5, 0.5], [0.3595, 0.6405]]]
// expected Output of two tokens = [[[1.5, 1.0, 0.5], [1.3595, 1.2809, 0.3595]]]
