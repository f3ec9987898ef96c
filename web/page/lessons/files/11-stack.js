/**
 * Stack | Blocks in a stack
 *
 * A block gives what a block takes, so blocks can be stacked. Each has weights of its own.
 */

// %% Three blocks
// @from 003, exercise 6
// The output of one is the input of the next. The shape stays through all of them.

import { load } from 'headwise';
import {
  largestDifference,
  meanDifference,
  show,
  showFlow,
  showLines,
} from '../tools.js';

const hw = await load();
hw.manualSeed(123);
const config = { dModel: 768, numHeads: 12, dFf: 3072 };
const blocks = [1, 2, 3].map(() => new hw.TransformerBlock(config));
const embeddings = hw.randn([1, 6, 768]);

const after = [embeddings];
for (const block of blocks) {
  after.push(block.forward(after.at(-1)).output);
}
showFlow(
  'Three blocks',
  after.map((x, i) => ({
    label: i === 0 ? 'Input' : `After block ${i}`,
    value: x,
  })),
);
show('Input', embeddings.shape);
show('After block 1', after[1].shape);
show('After block 2', after[2].shape);
show('After block 3', after[3].shape);

// expected Input = [1, 6, 768]
// expected After block 1 = [1, 6, 768]
// expected After block 2 = [1, 6, 768]
// expected After block 3 = [1, 6, 768]

// %% How far from the input?
// @from 003, exercise 6
// Two measures: how much a number has changed on average, and whether the rows still point where they did. The second is
// the cosine of the angle between them: 1 for the same direction, 0 for a right angle. Every block adds its part; most
// of the sum is still the input. `showLines` draws a curve for each list of numbers.

const dot = (a, b) =>
  a.data.reduce((total, value, i) => total + value * b.data[i], 0);
const cosine = (a, b) =>
  dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
const far = after.map((x) => meanDifference(x, embeddings));
const near = after.map((x) => cosine(x, embeddings));

showLines('Against the input', {
  x: [0, 1, 2, 3],
  lines: { cosine: near, difference: far },
  xLabel: 'blocks',
});
show(
  'Each block leads further away',
  far[1] < far[2] && far[2] < far[3],
);
show('More alike than not', near[3] > 0.5);

// expected Each block leads further away = true
// expected More alike than not = true

// %% The stack as one module
// @from 003, exercise 6; 003, section 7
// `TransformerStack` runs all layers in one call and returns the weights of each. Its keys are the block’s with
// `blocks.0.` and so on in front.

const stack = new hw.TransformerStack({
  ...config,
  numLayers: 3,
});
const state = {};
blocks.forEach((block, i) => {
  for (const [key, value] of Object.entries(block.stateDict())) {
    state[`blocks.${i}.${key}`] = value;
  }
});
stack.loadStateDict(state);
const { output, weights } = stack.forward(embeddings, {
  needWeights: true,
});
const apart = largestDifference(output, after[3]);

show('Output of the stack', output.shape);
show('Layers of weights', weights.length);
show('Weights of the last layer', weights[2].shape);
show('Parameters', stack.parameterCount());
show('Equal within 1e-5', apart < 1e-5);

// expected Output of the stack = [1, 6, 768]
// expected Layers of weights = 3
// expected Weights of the last layer = [1, 12, 6, 6]
// expected Parameters = 21254400
// expected Equal within 1e-5 = true
