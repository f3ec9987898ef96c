/**
 * Pre and post | Norm before or after?
 *
 * The first Transformer took the layer norm after each sum. GPT-2 takes it before each sublayer. The parts are the same
 * and only their order differs, but the order decides how deep a stack can be trained.
 */

// %% The norm after the sum
// @from 003, exercise 7
// Post-norm: x = norm(x + sublayer(x)). Written out with the parts of a small block, it is the block with `norm: 'post'`.

import { load, tensor } from 'headwise';
import {
  add,
  largestDifference,
  partOf,
  pick,
  show,
  showChain,
  showFlow,
  showLines,
} from '../tools.js';

const hw = await load();
hw.manualSeed(123);
const config = { dModel: 64, numHeads: 4, dFf: 256 };
const pre = new hw.TransformerBlock(config);
const post = new hw.TransformerBlock({ ...config, norm: 'post' });
post.loadStateDict(pre.stateDict());

const state = pre.stateDict();
const part = (name, module) => {
  module.loadStateDict(partOf(state, `${name}.`));
  return (input) => module.forward(input).output;
};
const ln1 = part('ln1', new hw.LayerNorm({ dim: 64 }));
const ln2 = part('ln2', new hw.LayerNorm({ dim: 64 }));
const attn = part(
  'attn',
  new hw.MultiHeadAttention({
    dIn: 64,
    dOut: 64,
    contextLength: 16,
    numHeads: 4,
    outBias: false,
    packedQkv: true,
  }),
);
const ffn = part(
  'ffn',
  new hw.FeedForward({ dModel: 64, dFf: 256 }),
);

const x = hw.randn([1, 16, 64]);
const attended = ln1(add(x, attn(x)));
const byHand = ln2(add(attended, ffn(attended)));
const after = post.forward(x).output;

showFlow('A block with post-norm', [
  { label: 'x', value: x },
  { adds: 'x', around: [{ label: 'attn', value: attn(x) }] },
  { label: 'ln1', value: attended },
  {
    adds: 'its output',
    around: [{ label: 'ffn', value: ffn(attended) }],
  },
  { label: 'ln2', value: byHand },
]);
show('Post-norm by hand', byHand.shape);
show(
  'Equal to the block within 1e-5',
  largestDifference(byHand, after) < 1e-5,
);

// expected Post-norm by hand = [1, 16, 64]
// expected Equal to the block within 1e-5 = true

// %% The same input, the same weights
// @from 003, exercise 7
// The outputs differ. A row of post-norm has just left a norm: mean 0, variance 1. A row of pre-norm is a sum without a
// limit, and it grows with every layer.

const before = pre.forward(x).output;
const mean = (values) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const variance = (values) => {
  const middle = mean(values);
  return mean(values.map((value) => (value - middle) ** 2));
};
const first = (batch) => pick(pick(batch, 0), 0).data;

showChain('Two orders of the same parts', [
  ['input', x],
  '→',
  ['pre-norm', before],
  'or',
  ['post-norm', after],
]);
show('Pre-norm', before.shape);
show('Post-norm', after.shape);
show('Largest difference', largestDifference(before, after));
show('Variance of the first row, input', variance(first(x)));
show('Variance with pre-norm', variance(first(before)));
show('Variance with post-norm', variance(first(after)));

// expected Pre-norm = [1, 16, 64]
// expected Post-norm = [1, 16, 64]
// expected Variance with post-norm = 1.0

// %% Which gradients are steadier?
// @from 003, exercise 7
// A gradient says how strongly the output answers to a small change. So make a small change and look: in a stack of
// twelve blocks, move the last bias of one block a little and compare the movement at the end with it.
//
// With pre-norm a change travels along the sum to the end, and no block has less effect than the last. With post-norm
// every later norm scales the change once more. Fresh weights hide this. With weights twice as large (×2) pre-norm falls
// from 4 to 1, while post-norm goes up and down and more than halves the effect of the first block.

const deep = { ...config, numLayers: 12 };
const stacks = [
  new hw.TransformerStack(deep),
  new hw.TransformerStack({ ...deep, norm: 'post' }),
];
const blocks = Array.from({ length: 12 }, (_, i) => i);
const nudge = hw.randn([64]).data.map((value) => value / 100);
const length = (values) => Math.hypot(...values);

const answers = (stack, weights) =>
  blocks.map((block) => {
    const key = `blocks.${block}.ffn.fc2.bias`;
    const moved = weights[key].data.map((b, i) => b + nudge[i]);
    stack.loadStateDict(weights);
    const still = stack.forward(x).output.data;
    stack.loadStateDict({ ...weights, [key]: tensor(moved) });
    const there = stack.forward(x).output.data;
    const change = there.map((value, i) => value - still[i]);
    // The bias is added to each of 16 tokens.
    return length(change) / (length(nudge) * Math.sqrt(16));
  });
const compare = (weights) =>
  stacks.map((stack) => answers(stack, weights));

const fresh = stacks[0].stateDict();
const doubled = { ...fresh };
for (const [key, { data, shape }] of Object.entries(fresh)) {
  if (/proj|fc..weight/.test(key)) {
    doubled[key] = tensor(
      data.map((w) => 2 * w),
      shape,
    );
  }
}
const columns = [...compare(fresh), ...compare(doubled)];
const names = ['pre', 'post', 'pre ×2', 'post ×2'];
showLines('How strongly the output answers', {
  x: blocks,
  lines: Object.fromEntries(
    names.map((name, i) => [name, columns[i]]),
  ),
  xLabel: 'the block that is changed',
  yLabel: 'movement at the end / movement of the bias',
});
const weakest = columns.map((column) => Math.min(...column));
show('Weakest, pre-norm ×2', weakest[2]);
show('Weakest, post-norm ×2', weakest[3]);
show('Pre-norm mutes no block', weakest[2] > 0.999);

// expected Pre-norm mutes no block = true
