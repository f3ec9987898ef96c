/**
 * Feed-forward | The feed-forward network
 *
 * Attention moves numbers between tokens. This lesson shows what a block does with each token alone: a soft gate, a small
 * network, and a layer that brings rows back to one scale.
 */

// %% GELU, a gate without a hard edge
// @from 003, section 5
// GELU is x times the share of a normal distribution that lies below x. Far to the right that is x, far to the left 0,
// as with ReLU. Around 0 it is smooth. GPT-2 takes a form with tanh that is nearly the same.

import { load, tensor } from 'headwise';
import {
  largestDifference,
  meanDifference,
  partOf,
  pick,
  reshape,
  show,
  showChain,
  showLines,
} from '../tools.js';

const hw = await load();
const points = [-3, -2, -1, 0, 1, 2, 3];
const line = tensor(points);
const gates = tensor([
  points.map((value) => Math.max(0, value)),
  hw.gelu(line).toNested(),
  hw.gelu(line, { approximate: 'tanh' }).toNested(),
]);
const fine = Array.from({ length: 49 }, (_, i) => (i - 24) / 8);
showLines('Two gates', {
  x: fine,
  lines: {
    ReLU: fine.map((value) => Math.max(0, value)),
    GELU: [...hw.gelu(tensor(fine)).data],
  },
  xLabel: 'x',
});
show('Gates', hw.transpose(gates), {
  rows: points,
  cols: ['ReLU', 'GELU', 'tanh'],
});

// expected Gates =
//   [[0, -0.0040, -0.0036],
//    [0, -0.0455, -0.0454],
//    [0, -0.1587, -0.1588],
//    [0, 0, 0],
//    [1, 0.8413, 0.8412],
//    [2, 1.9545, 1.9546],
//    [3, 2.9960, 2.9964]]

// %% Wider, gated, narrow again
// @from 003, section 5
// `FeedForward` is two linear layers with the gate in between: 768 numbers become 3,072, and then 768 again. Here it is,
// and its parts beside it.

hw.manualSeed(123);
const ffn = new hw.FeedForward({
  dModel: 768,
  dFf: 3072,
  dropout: 0.1,
}).eval();
const x = hw.randn([2, 6, 768]);
const { output } = ffn.forward(x);

const state = ffn.stateDict();
const fc1 = new hw.Linear({ inFeatures: 768, outFeatures: 3072 });
const fc2 = new hw.Linear({ inFeatures: 3072, outFeatures: 768 });
fc1.loadStateDict(partOf(state, 'fc1.'));
fc2.loadStateDict(partOf(state, 'fc2.'));
const hidden = fc1.forward(x).output;
const parts = fc2.forward(hw.gelu(hidden)).output;
const apart = largestDifference(parts, output);

showChain('Wider and narrow again', [
  ['x', x],
  'fc1, GELU →',
  ['hidden', hw.gelu(hidden)],
  'fc2 →',
  ['output', output],
]);
show('Input shape', x.shape);
show('Hidden', hidden.shape);
show('Output shape', output.shape);
show('The parts, within 1e-5', apart < 1e-5);

// expected Input shape = [2, 6, 768]
// expected Hidden = [2, 6, 3072]
// expected Output shape = [2, 6, 768]
// expected The parts, within 1e-5 = true

// %% Every token alone
// @from 003, section 5
// The same weights serve every position. One sequence alone, or one token alone, gives the same rows as among others.

const sequence = pick(x, 1);
const alone = ffn.forward(sequence).output;
const row = (matrix, i) => reshape(pick(matrix, i), [1, 768]);
const token = row(sequence, 4);
const single = ffn.forward(token).output;

showChain('Token 4', [
  ['with the others', row(pick(output, 1), 4)],
  'and',
  ['alone', single],
]);
show(
  'Sequence 1 alone differs by',
  largestDifference(alone, pick(output, 1)),
);
show(
  'Token 4 alone, within 1e-5',
  largestDifference(single, row(alone, 4)) < 1e-5,
);

// expected Token 4 alone, within 1e-5 = true

// %% Layer norm: one scale for every row
// @from 003, section 5
// Layer norm takes its mean from each row and divides the rest by its spread. A row that has grown through many layers
// comes out like one that has not. Weight and bias (ones and zeros before training) can scale it again.

const large = tensor(
  x.data.map((value) => 5 + 20 * value),
  x.shape,
);
const ln = new hw.LayerNorm({ dim: 768 });
const normed = ln.forward(large).output;

const mean = (values) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const variance = (values) => {
  const middle = mean(values);
  return mean(values.map((value) => (value - middle) ** 2));
};
const before = pick(pick(large, 0), 0).data;
const after = pick(pick(normed, 0), 0).data;

showChain('Rows before and after', [
  ['before', large],
  'layer norm →',
  ['after', normed],
]);
show('Mean before', mean(before));
show('Variance before', variance(before));
show('Mean after', mean(after));
show('Variance after', variance(after));
show(
  'The norm of x itself differs by, on average',
  meanDifference(ln.forward(x).output, normed),
);

// expected Mean after = 0
// expected Variance after = 1.0
