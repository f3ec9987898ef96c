/**
 * GPT-2 size | The size of GPT-2
 *
 * The same classes at the size of models that people use. The smallest GPT-2 has 768 numbers a token and 12 heads, the
 * largest 1600 and 25.
 */

// %% The smallest GPT-2
// @from 000, exercise 3.3, steps 1 and 2; 002, exercise 3.3
// Twelve heads share 768 columns: 64 each. The picture cuts one token into them. Unlike the small examples, the
// projections have biases. Dropout is set, but works in training only.

import { load } from 'headwise';
import { show, showBars, showStrip } from '../tools.js';

const hw = await load();
const config = {
  dIn: 768,
  dOut: 768,
  contextLength: 1024,
  numHeads: 12,
  dropout: 0.1,
  qkvBias: true,
};
hw.manualSeed(123);
const gpt2 = new hw.MultiHeadAttention(config);
gpt2.eval();
const state = gpt2.stateDict();
const token = gpt2.forward(hw.randn([1, 768])).output;
showStrip('One token: 768 numbers, 12 heads of 64', token, {
  heads: 12,
});
show('Embedding dimension', state['W_query.weight'].shape[1]);
show('Number of heads', config.numHeads);
show('Head dimension', config.dOut / config.numHeads);
show('Context length', config.contextLength);

// prints Embedding dimension = 768
// prints Number of heads = 12
// prints Head dimension = 64
// prints Context length = 1024

// %% Counting its numbers
// @from 000, exercise 3.3, step 3
// A square matrix and a bias, four times.

const count = (name) =>
  state[`${name}.weight`].data.length +
  state[`${name}.bias`].data.length;

const parts = ['W_query', 'W_key', 'W_value', 'out_proj'];
showBars(
  'Parameters',
  Object.fromEntries(parts.map((name) => [name, count(name)])),
);
show('Weight', state['W_query.weight'].data.length);
show('Bias', state['W_query.bias'].data.length);
show('W_query', count('W_query'));
show('W_key', count('W_key'));
show('W_value', count('W_value'));
show('out_proj', count('out_proj'));
const total = gpt2.parameterCount();
show('TOTAL', total);
show('In millions', Math.round(total / 1e4) / 100);
show('In 12 layers', 12 * total);

// prints Weight = 589824
// prints Bias = 768
// prints W_query = 590592
// prints W_key = 590592
// prints W_value = 590592
// prints out_proj = 590592
// prints TOTAL = 2362368
// prints In millions = 2.36
// expected In 12 layers = 28348416

// %% Two sequences of 128 tokens
// @from 000, exercise 3.3, steps 4 and 5
// The output has the shape of the input. Because of that, layers can be stacked.

const sample = hw.randn([2, 128, 768]);
show('Input shape', sample.shape);
show('Output shape', gpt2.forward(sample).output.shape);

// prints Input shape = [2, 128, 768]
// expected Output shape = [2, 128, 768]

// %% A full context
// @from 001, exercise 3.3
// 1,024 tokens at once, without a mask, as in the document. Each head has a million weights; the engine computes them
// row by row and keeps none of the squares.

hw.manualSeed(123);
const x = hw.randn([1, 1024, 768]);
const unmasked = new hw.MultiHeadAttention({
  ...config,
  dropout: 0,
  isCausal: false,
});
const { output } = unmasked.forward(x);
show('Output shape of 1,024 tokens', output.shape);
show('Every number is finite', output.data.every(Number.isFinite));

// prints Output shape of 1,024 tokens = [1, 1024, 768]
// expected Every number is finite = true

// %% The largest GPT-2
// @from 002, section 3.6.2
// 1600 columns for 25 heads: again 64 for each. A head is as wide as before. There are only more of them.

const largest = new hw.MultiHeadAttention({
  dIn: 1600,
  dOut: 1600,
  contextLength: 1024,
  numHeads: 25,
  qkvBias: true,
});
const wide = hw.randn([1, 128, 1600]);
show('Head dimension of the largest', 1600 / 25);
show('Its numbers', largest.parameterCount());
show('Its output', largest.forward(wide).output.shape);

// expected Head dimension of the largest = 64
// expected Its numbers = 10246400
// expected Its output = [1, 128, 1600]
