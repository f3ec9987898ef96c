/**
 * Causal | The causal mask: no looking ahead
 *
 * A model that writes must not read ahead. A mask takes the later tokens out of every row before the softmax, so that
 * the rest still sums to one.
 */

// %% Who may look where
// @from 003, section 3
// Row i of the mask is query i. It may attend to the keys with a 1: itself and the tokens before it.

import { load, tensor } from 'headwise';
import { largestDifference, show, showChain } from '../tools.js';

const hw = await load();
const mask = hw.causalMask(6);
show('Causal mask', mask);

// expected Causal mask =
//   [[1, 0, 0, 0, 0, 0],
//    [1, 1, 0, 0, 0, 0],
//    [1, 1, 1, 0, 0, 0],
//    [1, 1, 1, 1, 0, 0],
//    [1, 1, 1, 1, 1, 0],
//    [1, 1, 1, 1, 1, 1]]

// %% −∞ before the softmax
// @from 003, section 3
// Where the mask has a 0, the score becomes −∞. Then e to that power is 0, and the softmax gives it no share.

hw.manualSeed(123);
const [q6, k6, v6] = [1, 2, 3].map(() => hw.randn([2, 6, 64]));
const scores = hw.matmul(q6, hw.transpose(k6));
const filled = tensor(
  Float32Array.from(scores.data, (score, i) =>
    mask.data[i % 36] ? score / 8 : -Infinity,
  ),
  scores.shape,
);
const byHand = hw.softmax(filled);
const applied = hw.scaledDotProductAttention(q6, k6, v6, {
  mask,
  needWeights: true,
});
const apart = largestDifference(byHand, applied.weights);

showChain('The first sequence', [
  ['mask', mask, { weights: true }],
  '→',
  ['scores with −∞', filled],
  'softmax →',
  ['weights', byHand, { weights: true }],
]);
show('Output with mask', applied.output.shape);
show('The function’s weights, within 1e-6', apart < 1e-6);

// expected Output with mask = [2, 6, 64]
// expected The function’s weights, within 1e-6 = true

// %% With and without
// @from 003, exercise 2
// The same queries and keys twice. With the mask, the upper triangle is exactly zero, and the first token
// can attend only to itself.

const [q, k, v] = [1, 2, 3].map(() => hw.randn([1, 5, 64]));
const free = hw.scaledDotProductAttention(q, k, v, {
  needWeights: true,
});
const masked = hw.scaledDotProductAttention(q, k, v, {
  mask: hw.causalMask(5),
  needWeights: true,
});

const above = masked.weights
  .toNested()[0]
  .flatMap((row, i) => row.slice(i + 1));
showChain('The same queries and keys', [
  ['without a mask', free.weights, { weights: true }],
  'or',
  ['with the causal mask', masked.weights, { weights: true }],
]);
show(
  'Upper triangle is zero',
  above.every((weight) => weight === 0),
);

// expected Upper triangle is zero = true

// %% The mask need not exist
// @from 003, section 3
// `isCausal` says the same without a matrix. The work above the diagonal is skipped; with a mask it would be computed
// and thrown away.

const skipped = hw.scaledDotProductAttention(q, k, v, {
  isCausal: true,
});
show(
  'Largest difference from the mask',
  largestDifference(skipped.output, masked.output),
);
show(
  'Equal within 1e-6',
  largestDifference(skipped.output, masked.output) < 1e-6,
);

// expected Equal within 1e-6 = true

// %% CausalAttention: one head
// @from 000, step 2
// Projections, causal mask, softmax and dropout in one class. The next lesson takes several of it. Dropout is off here,
// as in the notebook.

const words = ['Your', 'journey', 'starts', 'with', 'one', 'step'];
const inputs = tensor([
  [0.43, 0.15, 0.89],
  [0.55, 0.87, 0.66],
  [0.57, 0.85, 0.64],
  [0.22, 0.58, 0.33],
  [0.77, 0.25, 0.1],
  [0.05, 0.8, 0.55],
]);
hw.manualSeed(123);
const head = new hw.CausalAttention({
  dIn: 3,
  dOut: 2,
  contextLength: 6,
  dropout: 0,
});
const { output, weights } = head.forward(inputs, {
  needWeights: true,
});
showChain('One head', [
  ['x', inputs, { rows: words }],
  '→',
  ['weights', weights, { weights: true }],
  '→',
  ['output', output],
]);
show('CausalAttention', output, { rows: words });

// expected CausalAttention =
//   [[-0.4519, 0.2216],
//    [-0.5874, 0.0058],
//    [-0.6300, -0.0632],
//    [-0.5675, -0.0843],
//    [-0.5526, -0.0981],
//    [-0.5299, -0.1081]]

// %% Whose mask is it?
// @from 003, section 4
// With several heads, a mask of three dimensions could mean one per sequence or one per head. The document’s module
// silently takes it for one per head. This one refuses it, and its message says how to write either.

const heads = new hw.MultiHeadAttention({
  dIn: 3,
  dOut: 2,
  contextLength: 6,
  numHeads: 2,
});
const batch = tensor([inputs.toNested(), inputs.toNested()]);
const three = [mask.toNested(), mask.toNested()];
try {
  heads.forward(batch, { mask: tensor(three) });
} catch (error) {
  show('Mask of three dimensions', error.message);
}
const four = tensor(three.map((square) => [square]));
const perSequence = heads.forward(batch, { mask: four });
show('Mask per sequence', four.shape);
show('Output', perSequence.output.shape);

// expected Mask per sequence = [2, 1, 6, 6]
// expected Output = [2, 6, 2]
