/**
 * Train a head | Train a head: gradients by hand, then heads that form
 *
 * Here the matrices of a head learn. So far they were drawn at random, or came trained. First the gradients of one head are
 * worked out by hand for six tokens and compared with `backward()`; then one function trains the chapter’s modules;
 * last, heads learn to say letters backwards, and their maps show how.
 */

// %% A loss
// @from 000, exercise 3.3; 001, exercise 3.1
// The chapter’s six words, and one head of two numbers per word. What should it give? Here: the sentence backwards, that
// is, for the first word the first two numbers of the last one, and so on. The loss is the mean of the squared differences.

import { load, tensor } from 'headwise';
import {
  largestDifference,
  show,
  showBars,
  showChain,
  showLines,
  showMaps,
} from '../tools.js';

const hw = await load();
const words = [
  [0.43, 0.15, 0.89], // Your
  [0.55, 0.87, 0.66], // journey
  [0.57, 0.85, 0.64], // starts
  [0.22, 0.58, 0.33], // with
  [0.77, 0.25, 0.1], // one
  [0.05, 0.8, 0.55], // step
];
const x = tensor(words);
const target = tensor(
  words.toReversed().map((word) => word.slice(0, 2)),
);
hw.manualSeed(123);
const head = new hw.SelfAttentionV1({ dIn: 3, dOut: 2 });
const given = head.forward(x).output;
const atFirst = hw.mseLoss(given, target);
showChain('What it gives and what it should', [
  ['output', given],
  '→',
  ['target', target],
]);
show('Output', given.shape);
show('Loss', atFirst.item());

// expected Output = [6, 2]

// %% Gradients by hand
// @from Rumelhart 1986, back-propagation; 003, section 2, the complete function
// How does the loss change with each weight? Go back through the head’s lines, the last first. Each product hands the
// gradient on to both its factors. At the softmax, subtract from each row’s gradient its average, weighted by the attention
// weights. Then multiply by the same weights.

const { W_query, W_key, W_value } = head.stateDict();
const queries = hw.matmul(x, W_query);
const keys = hw.matmul(x, W_key);
const values = hw.matmul(x, W_value);
const scale = tensor([1 / Math.sqrt(2)]);
const scores = hw.multiply(
  hw.matmul(queries, hw.transpose(keys)),
  scale,
);
const weights = hw.softmax(scores);

const dOutput = hw.multiply(
  hw.subtract(hw.matmul(weights, values), target),
  tensor([2 / 12]), // of the mean of 12 squares
);
const dValues = hw.matmul(hw.transpose(weights), dOutput);
const dWeights = hw.matmul(dOutput, hw.transpose(values));
const means = hw.sum(hw.multiply(dWeights, weights), {
  axis: -1,
  keepDim: true,
});
const dScores = hw.multiply(
  hw.multiply(weights, hw.subtract(dWeights, means)),
  scale,
);
const dQueries = hw.matmul(dScores, keys);
const dKeys = hw.matmul(hw.transpose(dScores), queries);
const byHand = [dQueries, dKeys, dValues].map((gradient) =>
  hw.matmul(hw.transpose(x), gradient),
);
showChain('From the output back to the scores', [
  ['gradient of the output', dOutput],
  '→',
  ['of the weights', dWeights],
  '→',
  ['of the scores', dScores],
]);
show('Gradient of W_query', byHand[0].shape);

// expected Gradient of W_query = [3, 2]

// %% The same by backward()
// @from Rumelhart 1986, back-propagation; 000, step 1
// While gradients are on, a result knows what it came from. `backward()` goes back through all of it and leaves a gradient
// at each parameter.

hw.enableGrad(() => {
  hw.mseLoss(head.forward(x).output, target).backward();
});
const gradients = head.parameters().map(({ grad }) => grad);
showChain('Gradient of W_query, twice', [
  ['by hand', byHand[0]],
  '=',
  ['backward()', gradients[0]],
]);
const apart = gradients.map((gradient, i) =>
  largestDifference(gradient, byHand[i]),
);
show('Largest difference of all three', Math.max(...apart));
show('Equal within 1e-6', Math.max(...apart) < 1e-6);

// expected Equal within 1e-6 = true

// %% The chapter’s modules, trained
// @from 002, listing 3.4; 002, listing 3.5; 001, exercise 3.1; Rumelhart 1986, gradient descent
// A step goes a little against the gradients; an optimizer does it for all parameters. The function `train` takes any
// module of the chapter. Row 0 of the causal modules fits in the end, though it sees no later word: they learn this one
// sentence by heart. Rows 1 and 2 stay wrong in all five. “journey” and “starts” have nearly the same vectors, so the
// first number of both rows stays near 0.5, between the targets 0.77 and 0.22.

function train(module, wanted, steps) {
  const optimizer = new hw.AdamW(module.parameters(), { lr: 0.03 });
  return Array.from({ length: steps }, () =>
    hw.enableGrad(() => {
      const { output } = module.forward(x);
      const loss = hw.mseLoss(output, wanted);
      optimizer.zeroGrad();
      loss.backward();
      optimizer.step();
      return loss.item();
    }),
  );
}

const one = { dIn: 3, dOut: 2 };
const causal = { ...one, contextLength: 6 };
const modules = {
  V1: new hw.SelfAttentionV1(one),
  V2: new hw.SelfAttentionV2(one),
  causal: new hw.CausalAttention(causal),
  wrapper: new hw.MultiHeadAttentionWrapper({
    ...causal,
    dOut: 1,
    numHeads: 2,
  }),
  fused: new hw.MultiHeadAttention({
    ...causal,
    numHeads: 2,
  }),
};
const steps = [...Array(300).keys()];
const losses = Object.fromEntries(
  Object.entries(modules).map(([name, module]) => [
    name,
    train(module, target, steps.length),
  ]),
);
showLines('The loss of each module', {
  x: steps,
  lines: losses,
  xLabel: 'step',
});
const falls = Object.values(losses).every(
  (list) => list.at(-1) < 0.8 * list[0],
);
show('Each loss falls', falls);

// recorded Each loss falls = true

// %% A net of modules
// @from 003, section 3; 003, section 6
// One sentence learnt by heart proves little. Now a model learns to reverse rows of eight letters, new ones in each step.
// A class that extends `hw.Module` finds the parameters of its parts by their names.

const letters = 'abcdefghijklmnop';
const size = 8;
class Net extends hw.Module {
  letter = new hw.Embedding({
    numEmbeddings: 16,
    embeddingDim: 32,
  });
  place = new hw.Embedding({
    numEmbeddings: size,
    embeddingDim: 32,
  });
  attention = new hw.MultiHeadAttention({
    ...{ dIn: 32, dOut: 32, contextLength: size, numHeads: 2 },
    isCausal: false,
  });
  read = new hw.Linear({ inFeatures: 32, outFeatures: 16 });

  forward(ids, options) {
    const places = ids.map(() => [...Array(size).keys()]);
    const embedded = hw.add(
      this.letter.forward(ids).output,
      this.place.forward(places).output,
    );
    const seen = this.attention.forward(embedded, options);
    return {
      ...seen,
      output: this.read.forward(seen.output).output,
    };
  }
}
hw.manualSeed(1);
const net = new Net();
show('Parameters', net.parameterCount());
show(
  'Names',
  net
    .parameters()
    .map(({ name }) => name)
    .join(', '),
);
showBars(
  'Numbers of each parameter',
  Object.fromEntries(
    net
      .parameters()
      .map(({ name, data }) => [name, data.data.length]),
  ),
);

// expected Parameters = 5424

// %% Heads that form
// @from 003, section 3; Rumelhart 1986, gradient descent
// The loss is now the cross-entropy: how little probability the right letter had. The maps begin as a blur. Where the
// loss falls, an anti-diagonal appears: each position looks at the position of the letter that it must predict.

let state = 1;
const random = (n) => (state = (state * 16807) % 2147483647) % n;
const rows = (count) =>
  Array.from({ length: count }, () =>
    Array.from({ length: size }, () => random(16)),
  );
const example = rows(1);
const tokens = example[0].map((id) => letters[id]);
const mapsOf = () =>
  net.forward(example, { needWeights: true }).weights;
showMaps('Before', mapsOf(), { heads: [0, 1], tokens });

const optimizer = new hw.AdamW(net.parameters(), { lr: 0.01 });
const curve = Array.from({ length: 200 }, () =>
  hw.enableGrad(() => {
    const ids = rows(16);
    const right = ids.map((row) => row.toReversed());
    const { output } = net.forward(ids);
    const loss = hw.crossEntropy(output, right);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    return loss.item();
  }),
);
showLines('Loss of reversal', {
  x: curve.map((_, step) => step),
  lines: { loss: curve },
  xLabel: 'step',
});
showMaps('After', mapsOf(), { heads: [0, 1], tokens });

const said = (ids) =>
  net
    .forward(ids)
    .output.toNested()
    .map((row) => row.map((p) => p.indexOf(Math.max(...p))));
const write = (row) => row.map((id) => letters[id]).join('');
show('Read', write(example[0]));
show('Said', write(said(example)[0]));
const fresh = rows(50);
const wrong = said(fresh).filter(
  (row, i) => write(row) !== write(fresh[i].toReversed()),
);
show('Wrong of 50 new rows', wrong.length);
show('Nearly all right', wrong.length <= 5);

// recorded Nearly all right = true

// %% Your own
// @from 003, section 3
// Eight letters from a to p. To watch heads form step by step, with curves and a slider, go to Train.

const own = 'declined';
const known = [...own].map((letter) =>
  Math.max(letters.indexOf(letter), 0),
);
show('It says', write(said([known])[0]));
