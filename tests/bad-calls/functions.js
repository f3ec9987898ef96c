// Bad calls of the engine's functions, but attention.
import { tensor, zeros } from 'headwise';
import { any } from './table.js';

function transferred() {
  const x = zeros([2, 3]);
  structuredClone(x.data, { transfer: [x.data.buffer] });
  return x;
}

/**
 * @param {import('./table.js').Engine} hw
 * @returns {import('./table.js').BadCall[]}
 */
export const functions = (hw) => [
  [
    'matmul of unequal inner sizes',
    () => hw.matmul(zeros([2, 3]), zeros([4, 2])),
    'ERR_SHAPE',
    'a has shape [2, 3] and b [4, 2]; expected […, m, k] and […, k, n] with the same k, not 3 and 4',
  ],
  [
    'matmul of batches that do not fit',
    () => hw.matmul(zeros([2, 3, 3]), zeros([4, 3, 3])),
    'ERR_SHAPE',
    'a has shape [2, 3, 3] and b [4, 3, 3]; expected leading dimensions that are equal or 1',
  ],
  [
    'matmul of no rows',
    () => hw.matmul(zeros([0, 3]), zeros([3, 3])),
    'ERR_SHAPE',
    'a has shape [0, 3]; expected […, m, k], none of them zero',
  ],
  [
    'matmul of no columns',
    () => hw.matmul(zeros([3, 3]), zeros([3, 0])),
    'ERR_SHAPE',
    'b has shape [3, 0]; expected […, k, n], none of them zero',
  ],
  [
    'matmul of a vector',
    () => hw.matmul(zeros([3]), zeros([3, 3])),
    'ERR_SHAPE',
    'a has shape [3]; expected […, m, k]',
  ],
  [
    'matmul with a vector',
    () => hw.matmul(zeros([3, 3]), zeros([3])),
    'ERR_SHAPE',
    'b has shape [3]; expected […, k, n]',
  ],
  [
    'matmul with a number',
    () => hw.matmul(zeros([3, 3]), any(2)),
    'ERR_VALUE',
    'b is 2; expected a Tensor',
  ],
  [
    'matmul of one tensor',
    () => any(hw).matmul(zeros([3, 3])),
    'ERR_VALUE',
    'b is undefined; expected a Tensor',
  ],
  [
    'matmul of booleans',
    () => hw.matmul(tensor([[true]]), zeros([1, 1])),
    'ERR_VALUE',
    'a has dtype bool; expected float32',
  ],
  [
    'a product that no memory holds',
    () => hw.matmul(zeros([65536, 1]), zeros([1, 65536])),
    'ERR_MEMORY',
    'not enough memory for 17180393504 bytes of inputs and results; what was loaded is still there',
  ],
  [
    'softmax of an array',
    () => hw.softmax(any([1, 2])),
    'ERR_VALUE',
    'x is [1, 2]; expected a Tensor (tensor(…) makes one of nested arrays)',
  ],
  [
    'softmax of a typed array',
    () => hw.softmax(any(new Float32Array(2))),
    'ERR_VALUE',
    'x is a value of type Float32Array; expected a Tensor',
  ],
  [
    'softmax of a promise',
    () => hw.softmax(any(Promise.resolve())),
    'ERR_VALUE',
    'x is a value of type Promise; expected a Tensor',
  ],
  [
    'softmax of booleans',
    () => hw.softmax(tensor([true])),
    'ERR_VALUE',
    'x has dtype bool; expected float32',
  ],
  [
    'softmax of what was transferred',
    () => hw.softmax(transferred()),
    'ERR_SHAPE',
    'x has shape [2, 3] and 0 values; expected 6 (was its data transferred or replaced?)',
  ],
  [
    'softmax of replaced data',
    () => hw.softmax(Object.assign(zeros([2]), { data: new Float32Array(9) })),
    'ERR_SHAPE',
    'x has shape [2] and 9 values; expected 2 (was its data transferred or replaced?)',
  ],
  [
    'softmax of no elements',
    () => hw.softmax(zeros([2, 0])),
    'ERR_SHAPE',
    'x has shape [2, 0]; expected […, n], none of them zero',
  ],
  [
    'softmax of a scalar',
    () => hw.softmax(zeros([])),
    'ERR_SHAPE',
    'x has shape []; expected […, n]',
  ],
  ['transpose of null', () => hw.transpose(any(null)), 'ERR_VALUE', 'a is null; expected a Tensor'],
  [
    'transpose of a vector',
    () => hw.transpose(zeros([3])),
    'ERR_SHAPE',
    'a has shape [3]; expected […, rows, columns]',
  ],
  [
    'transpose of no rows',
    () => hw.transpose(zeros([0, 2])),
    'ERR_SHAPE',
    'a has shape [0, 2]; expected […, rows, columns], none of them zero',
  ],
  [
    'a causal mask of half a size',
    () => hw.causalMask(2.5),
    'ERR_VALUE',
    'n is 2.5; expected an integer of at least 1',
  ],
  [
    'a causal mask of nothing',
    () => hw.causalMask(0),
    'ERR_VALUE',
    'n is 0; expected an integer of at least 1',
  ],
  [
    'a causal mask of a shape',
    () => hw.causalMask(any([2, 2])),
    'ERR_VALUE',
    'n is [2, 2]; expected an integer of at least 1',
  ],
  [
    'a causal mask that no memory holds',
    () => hw.causalMask(1e6),
    'ERR_MEMORY',
    'the mask [1000000, 1000000] holds 1000000000000 elements, more than any array can',
  ],
  [
    'a causal mask beyond all addresses',
    () => hw.causalMask(2 ** 33),
    'ERR_MEMORY',
    'n is 8589934592, more than memory can hold',
  ],
  [
    'a seed out of range',
    () => hw.manualSeed(2n ** 70n),
    'ERR_VALUE',
    'seed is 1180591620717411303424n; expected an integer from -2^63 to 2^64 - 1',
  ],
  [
    'a seed that numbers do not hold exactly',
    () => hw.manualSeed(2 ** 60),
    'ERR_VALUE',
    'seed is 1152921504606847000; expected an integer, as a bigint if it is beyond 2^53 - 1',
  ],
  [
    'half a seed',
    () => hw.manualSeed(0.5),
    'ERR_VALUE',
    'seed is 0.5; expected an integer, as a bigint if it is beyond 2^53 - 1',
  ],
  [
    'no seed',
    () => hw.manualSeed(any(undefined)),
    'ERR_VALUE',
    'seed is undefined; expected an integer, as a bigint if it is beyond 2^53 - 1',
  ],
  [
    'a seed of text',
    () => hw.manualSeed(any('1')),
    'ERR_VALUE',
    'seed is "1"; expected an integer, as a bigint if it is beyond 2^53 - 1',
  ],
  [
    'a number as shape of randn',
    () => hw.randn(any(5)),
    'ERR_VALUE',
    'shape is 5; expected an array of integers that are not negative',
  ],
  [
    'a negative size of rand',
    () => hw.rand([-1]),
    'ERR_VALUE',
    'shape is [-1]; expected an array of integers that are not negative',
  ],
  [
    'random numbers that no memory holds',
    () => hw.rand([2 ** 31]),
    'ERR_MEMORY',
    'not enough memory for 8589934592 bytes of inputs and results; what was loaded is still there',
  ],
  [
    'random numbers beyond all arrays',
    () => hw.randn([1e9, 1e9]),
    'ERR_MEMORY',
    'shape [1000000000, 1000000000] holds 1000000000000000000 elements, more than any array can',
  ],
];
