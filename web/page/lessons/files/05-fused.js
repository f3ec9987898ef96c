/**
 * Fused | All heads at once
 *
 * All heads from one projection. Its long rows are cut into heads by counting in another order, and one multiplication
 * takes the place of a loop over modules.
 */

// %% One product, or one for each head
// @from 002, section 3.6.2
// Two heads of three tokens, four numbers each. A product of tensors with leading dimensions repeats the product of
// the last two for every head.

import { load, tensor } from 'headwise';
import {
  largestDifference,
  permute,
  pick,
  reshape,
  show,
  showChain,
  showFlow,
} from '../tools.js';

const hw = await load();
const heads = [
  [
    [0.2745, 0.6584, 0.2775, 0.8573],
    [0.8993, 0.039, 0.9268, 0.7388],
    [0.7179, 0.7058, 0.9156, 0.434],
  ],
  [
    [0.0772, 0.3565, 0.1479, 0.5331],
    [0.4066, 0.2318, 0.4545, 0.9737],
    [0.4606, 0.5159, 0.422, 0.5786],
  ],
];
const a = tensor([heads]);
showChain('A product for each head', [
  ['a', a, { heads: 2 }],
  '×',
  ['a.transpose(2, 3)', hw.transpose(a), { heads: 2 }],
  '=',
  ['product', hw.matmul(a, hw.transpose(a)), { heads: 2 }],
]);
show('a @ a.transpose(2, 3)', hw.matmul(a, hw.transpose(a)));

// prints a @ a.transpose(2, 3) =
//   [[[[1.3208, 1.1631, 1.2879],
//      [1.1631, 2.2150, 1.8424],
//      [1.2879, 1.8424, 2.0402]],
//     [[0.4391, 0.7003, 0.5903],
//      [0.7003, 1.3737, 1.0620],
//      [0.5903, 1.0620, 0.9912]]]]

// %% The same, head after head
// @from 002, section 3.6.2
// Taken out of the tensor and multiplied alone, each head gives its part of the table above.

const [firstHead, secondHead] = heads.map((rows) => tensor(rows));
show('First head', hw.matmul(firstHead, hw.transpose(firstHead)));
show(
  'Second head',
  hw.matmul(secondHead, hw.transpose(secondHead)),
);

// prints First head =
//   [[1.3208, 1.1631, 1.2879],
//    [1.1631, 2.2150, 1.8424],
//    [1.2879, 1.8424, 2.0402]]
// prints Second head =
//   [[0.4391, 0.7003, 0.5903],
//    [0.7003, 1.3737, 1.0620],
//    [0.5903, 1.0620, 0.9912]]

// %% MultiHeadAttention
// @from 000, step 4; 002, listing 3.5; 004, class-based implementation
// Here `dOut` is the width of all heads together, so two heads have one number each, and a last projection mixes them.

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

hw.manualSeed(123);
const mha = new hw.MultiHeadAttention({
  dIn: 3,
  dOut: 2,
  contextLength: 6,
  dropout: 0,
  numHeads: 2,
});
const { output } = mha.forward(batch);
show('context_vecs', output, { rows: words });
show('context_vecs.shape', output.shape);

// prints context_vecs =
//   [[[0.3190, 0.4858],
//     [0.2943, 0.3897],
//     [0.2856, 0.3593],
//     [0.2693, 0.3873],
//     [0.2639, 0.3928],
//     [0.2575, 0.4028]],
//    [[0.3190, 0.4858],
//     [0.2943, 0.3897],
//     [0.2856, 0.3593],
//     [0.2693, 0.3873],
//     [0.2639, 0.3928],
//     [0.2575, 0.4028]]]
// prints context_vecs.shape = [2, 6, 2]

// %% Splitting is counting
// @from 000, step 4; 002, figure 3.26
// One query projection of width 4, two heads of 2. Number c of head h is column 2h + c of the projection. PyTorch writes
// the cut as `view` and `transpose`; the engine reads memory in that order and copies nothing.

hw.manualSeed(123);
const wQuery = new hw.Linear({
  inFeatures: 3,
  outFeatures: 4,
  bias: false,
});
const queries = wQuery.forward(batch).output;
const viewed = reshape(queries, [2, 6, 2, 2]);
const split = permute(viewed, [0, 2, 1, 3]);

show('W_query(x)', queries.shape);
show('view', viewed.shape);
show('transpose(1, 2)', split.shape);
const w = hw.transpose(wQuery.stateDict().weight);
showChain('One projection, two heads', [
  ['x', inputs, { rows: words }],
  '×',
  ['W_query', w, { heads: 2 }],
  '=',
  ['Q', pick(queries, 0), { heads: 2 }],
  'view, transpose →',
  ['Q of each head', pick(split, 0), { heads: 2 }],
]);

// expected W_query(x) = [2, 6, 4]
// expected view = [2, 6, 2, 2]
// expected transpose(1, 2) = [2, 2, 6, 2]

// %% Ten steps by hand
// @from 000, step 4; 002, section 3.6.2
// The whole way with the module’s own weights: project, cut into heads, attend, join the heads, project again. The
// result must be the table of step 3.

const state = mha.stateDict();
const project = (x, name) =>
  hw.matmul(x, hw.transpose(state[`${name}.weight`]));
const cut = (x) => permute(reshape(x, [2, 6, 2, 1]), [0, 2, 1, 3]);
const [q, k, v] = ['W_query', 'W_key', 'W_value'].map((name) =>
  cut(project(batch, name)),
);
const attended = hw.scaledDotProductAttention(q, k, v, {
  isCausal: true,
  needWeights: true,
});
const merged = reshape(
  permute(attended.output, [0, 2, 1, 3]),
  [2, 6, 2],
);
const bias = state['out_proj.bias'].data;
const byHand = tensor(
  project(merged, 'out_proj').data.map((y, i) => y + bias[i % 2]),
  [2, 6, 2],
);

showFlow('The ten steps', [
  { label: 'x', value: inputs, rows: words },
  [q, k, v].map((x, i) => ({
    label: 'QKV'[i],
    value: pick(x, 0),
    heads: 2,
  })),
  {
    label: 'Weights',
    note: 'masked, softmax',
    value: pick(attended.weights, 0),
    heads: 2,
    weights: true,
  },
  {
    label: 'Context of each head',
    value: pick(attended.output, 0),
    heads: 2,
  },
  { label: 'Heads joined', value: pick(merged, 0), heads: 2 },
  { label: 'After out_proj', value: pick(byHand, 0) },
]);
show('Queries, cut', q.shape);
show('Weights', attended.weights.shape);
show('Context of each head', attended.output.shape);
show('Heads joined', merged.shape);
show('After out_proj', pick(byHand, 0), { rows: words });
show(
  'Equal to the module within 1e-6',
  largestDifference(byHand, output) < 1e-6,
);

// expected Queries, cut = [2, 2, 6, 1]
// expected Weights = [2, 2, 6, 6]
// expected Context of each head = [2, 2, 6, 1]
// expected Heads joined = [2, 6, 2]
// expected After out_proj =
//   [[0.3190, 0.4858],
//    [0.2943, 0.3897],
//    [0.2856, 0.3593],
//    [0.2693, 0.3873],
//    [0.2639, 0.3928],
//    [0.2575, 0.4028]]
// expected Equal to the module within 1e-6 = true

// %% A width that cannot be split
// @from 000, step 4; 002, listing 3.5
// Every head gets the same number of columns, so `dOut` has to be a multiple of the heads.

try {
  new hw.MultiHeadAttention({
    dIn: 3,
    dOut: 3,
    contextLength: 6,
    numHeads: 2,
  });
} catch (error) {
  show('Three columns for two heads', error.message);
}

// %% Wrapper and fused are one function
// @from 002, figure 3.26
// Stack the wrapper’s small matrices into large ones and leave the output projection out: the fused module then gives
// the wrapper’s table.

hw.manualSeed(123);
const wrapper = new hw.MultiHeadAttentionWrapper({
  dIn: 3,
  dOut: 2,
  contextLength: 6,
  dropout: 0,
  numHeads: 2,
});
const fused = hw.MultiHeadAttention.fromWrapper(wrapper);
const there = wrapper.forward(batch).output;
const here = fused.forward(batch).output;
const small = wrapper.stateDict();
const [w0, w1] = [0, 1].map((i) =>
  hw.transpose(small[`heads.${i}.W_query.weight`]),
);
const large = hw.transpose(fused.stateDict()['W_query.weight']);
showChain('Two small matrices make a large one', [
  ['W_query of head 0', w0, { head: 0 }],
  '|',
  ['W_query of head 1', w1, { head: 1 }],
  '=',
  ['W_query, fused', large, { heads: 2 }],
]);
show('Fused, on the wrapper’s weights', here, { rows: words });
show('Largest difference', largestDifference(here, there));
show('Equal within 1e-6', largestDifference(here, there) <= 1e-6);

// expected Fused, on the wrapper’s weights =
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
// expected Equal within 1e-6 = true

// %% Exercise 3.2, the other way to read it
// @from 001, exercise 3.2
// “Two-dimensional output, two heads” can also mean the fused module with `dOut` 2. The document’s class has neither
// mask nor biases, and calls its last layer `fc_out`.

hw.manualSeed(42);
const x = hw.randn([1, 5, 4]);
const unmasked = new hw.MultiHeadAttention({
  dIn: 4,
  dOut: 2,
  contextLength: 5,
  numHeads: 2,
  outBias: false,
  isCausal: false,
});
const outputs = unmasked.forward(x).output;
show('Output', outputs);
show('Output shape', outputs.shape);

// prints Output =
//   [[[-0.0267, -0.0087],
//     [-0.0919, -0.0284],
//     [-0.0792, -0.0155],
//     [-0.0848, -0.0206],
//     [-0.0685, -0.0139]]]
// prints Output shape = [1, 5, 2]
