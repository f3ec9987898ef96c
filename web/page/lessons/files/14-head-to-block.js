/**
 * Head to block | From one head to a stack
 *
 * The whole way once more, on six words. Each step keeps the last one and adds a single thing. After each step the
 * numbers of the last word change sign, to see which rows notice.
 */

// %% Self-attention
// @from 001, exercise 3.1
// One head, no mask. Every row mixes all six words, so every row notices.

import { load, tensor } from 'headwise';
import {
  largestDifference,
  show,
  showChain,
  showFlow,
} from '../tools.js';

const hw = await load();
const words = ['Your', 'journey', 'starts', 'with', 'one', 'step'];
const inputs = tensor([
  [0.43, 0.15, 0.89],
  [0.55, 0.87, 0.66],
  [0.57, 0.85, 0.64],
  [0.22, 0.58, 0.33],
  [0.77, 0.25, 0.1],
  [0.05, 0.8, 0.55],
]);
const notice = (module, x) => {
  const [n, width] = x.shape;
  const changed = tensor(
    x.data.map((v, i) => (i < (n - 1) * width ? v : -v)),
    x.shape,
  );
  const [a, b] = [x, changed].map((input) =>
    module.forward(input).output.toNested(),
  );
  const same = (i) => a[i].every((value, j) => value === b[i][j]);
  return words.map((_, i) => i).filter((i) => !same(i));
};

hw.manualSeed(123);
const self = new hw.SelfAttentionV2({ dIn: 3, dOut: 2 });
const open = self.forward(inputs).output;
const lit = (rows) =>
  words.map((_, i) => [rows.includes(i) ? 1 : 0]);
showChain('Which rows notice the last word', [
  ['x', inputs, { rows: words }],
  '→',
  ['output', open],
  '',
  ['notice', lit(notice(self, inputs)), { weights: true }],
]);
show('Self-attention', open, { rows: words });
show('Rows that notice', notice(self, inputs));

// prints Self-attention =
//   [[-0.5337, -0.1051],
//    [-0.5323, -0.1080],
//    [-0.5323, -0.1079],
//    [-0.5297, -0.1076],
//    [-0.5311, -0.1066],
//    [-0.5299, -0.1081]]
// expected Rows that notice = [0, 1, 2, 3, 4, 5]

// %% + a mask: causal attention
// @from 000, step 2
// The same weights. Only the last row still sees the last word, and only its numbers are as before.

const causal = new hw.CausalAttention({
  dIn: 3,
  dOut: 2,
  contextLength: 6,
});
causal.loadStateDict(self.stateDict());
const masked = causal.forward(inputs).output;
showChain('With a mask only the last row notices', [
  ['x', inputs, { rows: words }],
  '→',
  ['output', masked],
  '',
  ['notice', lit(notice(causal, inputs)), { weights: true }],
]);
show('Causal', masked, { rows: words });
show('Rows that still notice', notice(causal, inputs));

// expected Causal =
//   [[-0.4519, 0.2216],
//    [-0.5874, 0.0058],
//    [-0.6300, -0.0632],
//    [-0.5675, -0.0843],
//    [-0.5526, -0.0981],
//    [-0.5299, -0.1081]]
// expected Rows that still notice = [5]

// %% + a second head: the wrapper
// @from 000, step 3; 002, listing 3.4
// The seed draws the weights of the first head again, and then those of a second. Two columns are known, two are new.

hw.manualSeed(123);
const wrapper = new hw.MultiHeadAttentionWrapper({
  dIn: 3,
  dOut: 2,
  contextLength: 6,
  numHeads: 2,
});
const side = wrapper.forward(inputs).output;
show('Wrapper', side, { rows: words });
show('Rows that notice in it', notice(wrapper, inputs));

// prints Wrapper =
//   [[-0.4519, 0.2216, 0.4772, 0.1063],
//    [-0.5874, 0.0058, 0.5891, 0.3257],
//    [-0.6300, -0.0632, 0.6202, 0.3860],
//    [-0.5675, -0.0843, 0.5478, 0.3589],
//    [-0.5526, -0.0981, 0.5321, 0.3428],
//    [-0.5299, -0.1081, 0.5077, 0.3493]]
// expected Rows that notice in it = [5]

// %% + one projection for all: fused
// @from 000, step 4; 002, listing 3.5
// Nothing is added here but speed: the matrices of both heads stacked, one product instead of two.

const fused = hw.MultiHeadAttention.fromWrapper(wrapper);
const stacked = fused.forward(inputs).output;
show(
  'Differs from the wrapper by',
  largestDifference(stacked, side),
);
show('Fused within 1e-6', largestDifference(stacked, side) <= 1e-6);
show('Rows that notice when fused', notice(fused, inputs));

// expected Fused within 1e-6 = true
// expected Rows that notice when fused = [5]

// %% + norms, a network, two sums: the block
// @from 003, section 5
// A block adds its output to its input, so both are equally wide. It gets the four columns from above. Two heads, four
// columns, and still no row looks ahead.

const block = new hw.TransformerBlock({
  dModel: 4,
  numHeads: 2,
  dFf: 16,
});
show('Block', block.forward(stacked).output, { rows: words });
show('Rows that notice in a block', notice(block, stacked));

// expected Rows that notice in a block = [5]

// %% + more of the same: the stack
// @from 003, exercise 6
// After three blocks rows 0 to 4 still do not depend on the last word. With more width, more blocks and training, this
// is GPT-2.

const stack = new hw.TransformerStack({
  dModel: 4,
  numHeads: 2,
  dFf: 16,
  numLayers: 3,
});
const deep = stack.forward(stacked).output;
showFlow('The whole way', [
  { label: 'Six words', value: inputs, rows: words },
  { label: 'One head, causal', value: masked, rows: words },
  { label: 'Two heads', value: side, rows: words, heads: 2 },
  { label: 'Three blocks', value: deep, rows: words },
]);
show('Stack', deep, { rows: words });
show('Rows that notice in a stack', notice(stack, stacked));

// expected Rows that notice in a stack = [5]
