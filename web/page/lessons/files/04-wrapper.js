/**
 * Wrapper | Several heads, one after another
 *
 * The plain way to have several heads: several modules of one head. They run one after another, and their outputs are
 * laid side by side.
 */

// %% The same sentence twice
// @from 000, step 3; 002, listing 3.4
// Two copies of the sentence make a batch. The entries of a batch do not see each other, so both must come out the same.

import { load, tensor } from 'headwise';
import {
  largestDifference,
  pick,
  show,
  showChain,
  showFlow,
} from '../tools.js';

const hw = await load();
const words = ['Your', 'journey', 'starts', 'with', 'one', 'step'];
const inputs = [
  [0.43, 0.15, 0.89],
  [0.55, 0.87, 0.66],
  [0.57, 0.85, 0.64],
  [0.22, 0.58, 0.33],
  [0.77, 0.25, 0.1],
  [0.05, 0.8, 0.55],
];
const batch = tensor([inputs, inputs]);
showChain('One entry of the batch', [
  ['x', inputs, { rows: words }],
]);
show('batch.shape', batch.shape);

// prints batch.shape = [2, 6, 3]

// %% Two heads of two numbers
// @from 000, step 3; 002, listing 3.4; 004, naïve wrapper
// `dOut` is the width of one head. Two heads side by side make four columns: the first two are head 0, the last two
// head 1. `showFlow` draws boxes with the numbers of this run.

hw.manualSeed(123);
const mha = new hw.MultiHeadAttentionWrapper({
  dIn: 3,
  dOut: 2,
  contextLength: 6,
  dropout: 0,
  numHeads: 2,
});
const { output } = mha.forward(batch);
const columnsOf = (x, from, to) =>
  x.toNested().map((row) => row.slice(from, to));
const one = pick(output, 0);
showFlow('Two heads, side by side', [
  { label: 'x', value: inputs, rows: words },
  [
    { label: 'Head H0', value: columnsOf(one, 0, 2), head: 0 },
    { label: 'Head H1', value: columnsOf(one, 2, 4), head: 1 },
  ],
  {
    label: 'context_vecs',
    note: 'concatenated',
    value: one,
    rows: words,
    heads: 2,
  },
]);
show('context_vecs', output, { rows: words });
show('context_vecs.shape', output.shape);

// prints context_vecs =
//   [[[-0.4519, 0.2216, 0.4772, 0.1063],
//     [-0.5874, 0.0058, 0.5891, 0.3257],
//     [-0.6300, -0.0632, 0.6202, 0.3860],
//     [-0.5675, -0.0843, 0.5478, 0.3589],
//     [-0.5526, -0.0981, 0.5321, 0.3428],
//     [-0.5299, -0.1081, 0.5077, 0.3493]],
//    [[-0.4519, 0.2216, 0.4772, 0.1063],
//     [-0.5874, 0.0058, 0.5891, 0.3257],
//     [-0.6300, -0.0632, 0.6202, 0.3860],
//     [-0.5675, -0.0843, 0.5478, 0.3589],
//     [-0.5526, -0.0981, 0.5321, 0.3428],
//     [-0.5299, -0.1081, 0.5077, 0.3493]]]
// prints context_vecs.shape = [2, 6, 4]

// %% A wrapper is its heads
// @from 000, step 3; 002, figure 3.24
// A single head with the weights that the wrapper keeps under `heads.1.` gives columns 2 and 3 alone.

const weightsOf = mha.stateDict();
const head = new hw.CausalAttention({
  dIn: 3,
  dOut: 2,
  contextLength: 6,
});
head.loadStateDict({
  'W_query.weight': weightsOf['heads.1.W_query.weight'],
  'W_key.weight': weightsOf['heads.1.W_key.weight'],
  'W_value.weight': weightsOf['heads.1.W_value.weight'],
});
const columns = columnsOf(one, 2, 4);
const alone = head.forward(tensor(inputs)).output;
show('Head 1 alone', alone, { rows: words });
show(
  'Differs from columns 2 and 3 by',
  largestDifference(alone, tensor(columns)),
);

// expected Head 1 alone =
//   [[0.4772, 0.1063],
//    [0.5891, 0.3257],
//    [0.6202, 0.3860],
//    [0.5478, 0.3589],
//    [0.5321, 0.3428],
//    [0.5077, 0.3493]]

// %% Heads times width
// @from 000, step 3
// A third head adds two more columns, and changes nothing in the first four.

hw.manualSeed(123);
const three = new hw.MultiHeadAttentionWrapper({
  dIn: 3,
  dOut: 2,
  contextLength: 6,
  dropout: 0,
  numHeads: 3,
});
const wider = three.forward(batch).output;
const firstFour = (x) =>
  tensor(x.toNested().map((rows) => columnsOf(tensor(rows), 0, 4)));
showChain('Two heads and three', [
  ['two', one, { heads: 2, rows: words }],
  '→',
  ['three', pick(wider, 0), { heads: 3 }],
]);
show('Three heads of two numbers', wider.shape);
show(
  'The first four columns differ by',
  largestDifference(firstFour(wider), firstFour(output)),
);

// expected Three heads of two numbers = [2, 6, 6]
// expected The first four columns differ by = 0

// %% Two columns instead of four
// @from 002, exercise 3.2
// The class and its two heads stay as they are. Only the width of a head can change: with `dOut` 1 each head gives one
// column.

hw.manualSeed(123);
const narrow = new hw.MultiHeadAttentionWrapper({
  dIn: 3,
  dOut: 1,
  contextLength: 6,
  dropout: 0,
  numHeads: 2,
});
const two = narrow.forward(batch).output;
show('Two heads of one number', two, { rows: words });
show('Its shape', two.shape);

// expected Its shape = [2, 6, 2]
