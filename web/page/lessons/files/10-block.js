/**
 * Block | A Transformer block
 *
 * Attention mixes the tokens, and the feed-forward network works on each alone. A block does one after the other, and
 * adds each result to what went in.
 */

// %% In and out
// @from 003, section 5
// GPT-2 small is made of twelve such blocks, whose attention has biases too. The output has the shape of the input. Its
// numbers differ from the input’s, but not by much.

import { load } from 'headwise';
import {
  add,
  largestDifference,
  meanDifference,
  partOf,
  show,
  showBars,
  showChain,
  showFlow,
} from '../tools.js';

const hw = await load();
hw.manualSeed(123);
const block = new hw.TransformerBlock({
  dModel: 768,
  numHeads: 12,
  dFf: 3072,
  dropout: 0.1,
}).eval();
const x = hw.randn([2, 6, 768]);
const { output, weights } = block.forward(x, {
  mask: hw.causalMask(6),
  needWeights: true,
});
const mean = ({ data }) =>
  data.reduce((sum, value) => sum + value, 0) / data.length;
const moved = meanDifference(output, x);

showChain('What a block changes', [
  ['input', x],
  'block →',
  ['output', output],
]);
show('Input shape', x.shape);
show('Output shape', output.shape);
show('Attention weights shape', weights.shape);
show('Input mean', mean(x));
show('Output mean', mean(output));
show('Difference', moved);
show('Neither nothing nor huge', moved > 0.01 && moved < 1);

// expected Input shape = [2, 6, 768]
// expected Output shape = [2, 6, 768]
// expected Attention weights shape = [2, 12, 6, 6]
// expected Neither nothing nor huge = true

// %% Two sublayers, two sums
// @from 003, section 5
// A block’s weights are those of its parts, under the names of the parts. The parts with these weights, put together in
// two lines, give the block. The dashed lines lead past both sublayers.

const state = block.stateDict();
const part = (name, module) => {
  module.loadStateDict(partOf(state, `${name}.`));
  return (input) => module.forward(input).output;
};
const ln1 = part('ln1', new hw.LayerNorm({ dim: 768 }));
const ln2 = part('ln2', new hw.LayerNorm({ dim: 768 }));
const attn = part(
  'attn',
  new hw.MultiHeadAttention({
    dIn: 768,
    dOut: 768,
    contextLength: 6,
    numHeads: 12,
    outBias: false,
    packedQkv: true,
  }),
);
const ffn = part(
  'ffn',
  new hw.FeedForward({ dModel: 768, dFf: 3072 }),
);

const attended = add(x, attn(ln1(x)));
const whole = add(attended, ffn(ln2(attended)));

showFlow('A block', [
  { label: 'x', value: x },
  {
    adds: 'x',
    around: [
      { label: 'ln1', value: ln1(x) },
      { label: 'attn', value: attn(ln1(x)) },
    ],
  },
  { label: 'attended', value: attended },
  {
    adds: 'attended',
    around: [
      { label: 'ln2', value: ln2(attended) },
      { label: 'ffn', value: ffn(ln2(attended)) },
    ],
  },
  { label: 'output', value: whole },
]);
show('Parts against block', largestDifference(whole, output));
show('Equal within 1e-5', largestDifference(whole, output) < 1e-5);

// expected Equal within 1e-5 = true

// %% The way past both
// @from 003, section 5
// Set the last matrix of each sublayer to zero: then nothing is added, and the input comes out as it was. Training can
// begin there and change a little at a time.

const silent = new hw.TransformerBlock({
  dModel: 768,
  numHeads: 12,
  dFf: 3072,
}).eval();
const zeros = silent.stateDict();
for (const name of [
  'attn.out_proj.weight',
  'ffn.fc2.weight',
  'ffn.fc2.bias',
]) {
  zeros[name].data.fill(0);
}
silent.loadStateDict(zeros);
const same = silent.forward(x).output;
show('Output differs from input by', largestDifference(same, x));

// expected Output differs from input by = 0

// %% Counting a block
// @from 003, exercise 8
// Attention has projections without bias. The network has biases. Two layer norms have a weight and a bias for each
// column. The network is two thirds of a block.

const count = (prefix) =>
  Object.entries(state)
    .filter(([key]) => key.startsWith(prefix))
    .reduce((total, [, { data }]) => total + data.length, 0);

showBars('Parameters of a block', {
  'QKV projection': count('attn.qkv_proj'),
  'Output projection': count('attn.out_proj'),
  fc1: count('ffn.fc1'),
  fc2: count('ffn.fc2'),
  'Layer norms': count('ln'),
});
show('QKV projection', count('attn.qkv_proj'));
show('Output projection', count('attn.out_proj'));
show('fc1', count('ffn.fc1'));
show('fc2', count('ffn.fc2'));
show('Feed-forward', count('ffn.'));
show('Layer norms', count('ln'));
show('Sum', count(''));
show('parameterCount()', block.parameterCount());
show('In 12 blocks', 12 * block.parameterCount());

// expected QKV projection = 1769472
// expected Output projection = 589824
// expected fc1 = 2362368
// expected fc2 = 2360064
// expected Feed-forward = 4722432
// expected Layer norms = 3072
// expected Sum = 7084800
// expected parameterCount() = 7084800
// expected In 12 blocks = 85017600
