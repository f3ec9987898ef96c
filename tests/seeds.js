// The tables printed in the course's notebooks, to 4 decimals, all from torch.manual_seed alone.
import assert from 'node:assert/strict';
import { tensor } from 'headwise';

/** @typedef {import('./helpers.js').Engine} Engine */
/** @typedef {import('./helpers.js').Matrix} Matrix */

/** "Your journey starts with one step", one embedding a word. */
export const inputs = [
  [0.43, 0.15, 0.89],
  [0.55, 0.87, 0.66],
  [0.57, 0.85, 0.64],
  [0.22, 0.58, 0.33],
  [0.77, 0.25, 0.1],
  [0.05, 0.8, 0.55],
];

/** torch.stack((inputs, inputs)) */
export const batch = () => tensor([inputs, inputs]);

/** SelfAttention_v1(3, 2), seed 123 */
export const selfAttentionV1Table = [
  [0.2996, 0.8053],
  [0.3061, 0.821],
  [0.3058, 0.8203],
  [0.2948, 0.7939],
  [0.2927, 0.7891],
  [0.299, 0.804],
];

/** SelfAttention_v2(3, 2), seed 123 */
export const selfAttentionV2Table = [
  [-0.5337, -0.1051],
  [-0.5323, -0.108],
  [-0.5323, -0.1079],
  [-0.5297, -0.1076],
  [-0.5311, -0.1066],
  [-0.5299, -0.1081],
];

/** MultiHeadAttentionWrapper(3, 2, 6, 0.0, num_heads=2), seed 123: each entry of the batch. */
export const wrapperTable = [
  [-0.4519, 0.2216, 0.4772, 0.1063],
  [-0.5874, 0.0058, 0.5891, 0.3257],
  [-0.63, -0.0632, 0.6202, 0.386],
  [-0.5675, -0.0843, 0.5478, 0.3589],
  [-0.5526, -0.0981, 0.5321, 0.3428],
  [-0.5299, -0.1081, 0.5077, 0.3493],
];

/** MultiHeadAttention(3, 2, 6, 0.0, num_heads=2), seed 123: each entry of the batch. */
export const fusedTable = [
  [0.319, 0.4858],
  [0.2943, 0.3897],
  [0.2856, 0.3593],
  [0.2693, 0.3873],
  [0.2639, 0.3928],
  [0.2575, 0.4028],
];

/** seed 42, randn(1, 5, 4), then a module without causal mask and without biases: d_in 4, d_out 2, 2 heads. */
export const exerciseTable = [
  [-0.0267, -0.0087],
  [-0.0919, -0.0284],
  [-0.0792, -0.0155],
  [-0.0848, -0.0206],
  [-0.0685, -0.0139],
];

export const matmulInput = [
  [
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
  ],
];

/** a @ a.transpose(2, 3) */
export const matmulTable = [
  [
    [
      [1.3208, 1.1631, 1.2879],
      [1.1631, 2.215, 1.8424],
      [1.2879, 1.8424, 2.0402],
    ],
    [
      [0.4391, 0.7003, 0.5903],
      [0.7003, 1.3737, 1.062],
      [0.5903, 1.062, 0.9912],
    ],
  ],
];

/**
 * Fails unless the tensor prints as the table, to 4 decimals as torch prints them.
 * @param {{ shape: readonly number[], data: ArrayLike<number> }} actual
 * @param {any} table nested arrays
 */
export function printsAs(actual, table) {
  /** @type {number[]} */
  const shape = [];
  for (let level = table; Array.isArray(level); level = level[0]) shape.push(level.length);
  assert.deepEqual([...actual.shape], shape);
  const text = (/** @type {number} */ value) => value.toFixed(4).replace(/^-(0\.0+)$/, '$1');
  assert.deepEqual(
    Array.from(actual.data, text),
    /** @type {number[]} */ (table.flat(Infinity)).map(text),
  );
}

/** @param {Engine} hw */
export function checkWrapper(hw) {
  hw.manualSeed(123);
  const module = new hw.MultiHeadAttentionWrapper({
    dIn: 3,
    dOut: 2,
    contextLength: 6,
    dropout: 0,
    numHeads: 2,
  });
  printsAs(module.forward(batch()).output, [wrapperTable, wrapperTable]);
  module.dispose();
}

/** @param {Engine} hw */
export function checkFused(hw) {
  hw.manualSeed(123);
  const module = new hw.MultiHeadAttention({
    dIn: 3,
    dOut: 2,
    contextLength: 6,
    dropout: 0,
    numHeads: 2,
  });
  printsAs(module.forward(batch()).output, [fusedTable, fusedTable]);
  module.dispose();
}
