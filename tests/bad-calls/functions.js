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
    'layerNorm with an eps beyond float32',
    () => hw.layerNorm(zeros([2, 3]), { eps: 4e38 }),
    'ERR_VALUE',
    'eps',
    '4e+38',
  ],
  [
    'rmsNorm with an eps beyond float32',
    () => hw.rmsNorm(zeros([2, 3]), { eps: 1e39 }),
    'ERR_VALUE',
    'eps',
    '1e+39',
  ],
  [
    'matmul of unequal inner sizes',
    () => hw.matmul(zeros([2, 3]), zeros([4, 2])),
    'ERR_SHAPE',
    'a',
    '[2, 3] and b [4, 2]',
  ],
  [
    'a tensor that was posted, and has lost its class',
    () => hw.softmax(structuredClone(any(zeros([2, 3])))),
    'ERR_VALUE',
    'x',
    'an Object of shape [2, 3]; expected a Tensor (new Tensor(data, shape)',
  ],
  [
    'matmul of batches that do not fit',
    () => hw.matmul(zeros([2, 3, 3]), zeros([4, 3, 3])),
    'ERR_SHAPE',
    'a',
    '[2, 3, 3] and b [4, 3, 3]',
  ],
  [
    'matmul of a number in a tensor',
    () => hw.matmul(zeros([]), zeros([3, 3])),
    'ERR_SHAPE',
    'a',
    '[]',
  ],
  [
    'matmul with a number in a tensor',
    () => hw.matmul(zeros([3, 3]), zeros([])),
    'ERR_SHAPE',
    'b',
    '[]',
  ],
  [
    'matmul of a vector of another length',
    () => hw.matmul(zeros([3]), zeros([4, 2])),
    'ERR_SHAPE',
    'a',
    '[3]',
  ],
  ['matmul with a number', () => hw.matmul(zeros([3, 3]), any(2)), 'ERR_VALUE', 'b', '2'],
  [
    'causalMask of rows and columns',
    () => any(hw).causalMask(2, 1),
    'ERR_VALUE',
    'causalMask: options',
    '1',
  ],
  [
    'causalMask as a dtype',
    () => any(hw).causalMask(2, { dtype: 'float32' }),
    'ERR_VALUE',
    'causalMask',
    'dtype',
  ],
  [
    'softmax over a dimension',
    () => any(hw).softmax(zeros([2, 3]), 0),
    'ERR_VALUE',
    'softmax',
    '0',
  ],
  [
    'softmax over a dimension by name',
    () => any(hw).softmax(zeros([2, 3]), { dim: 0 }),
    'ERR_VALUE',
    'softmax',
    'dim',
  ],
  [
    'transpose of two dimensions',
    () => any(hw).transpose(zeros([2, 3, 4]), 0, 1),
    'ERR_VALUE',
    'transpose',
    '0',
  ],
  ...['rand', 'randn'].map(
    (name) =>
      /** @type {import('./table.js').BadCall} */ ([
        `${name} with a generator`,
        () => any(hw)[name]([2], { generator: 1 }),
        'ERR_VALUE',
        name,
        'generator',
      ]),
  ),
  ['matmul of one tensor', () => any(hw).matmul(zeros([3, 3])), 'ERR_VALUE', 'b', 'undefined'],
  [
    'matmul of booleans',
    () => hw.matmul(any(tensor([[true]])), zeros([1, 1])),
    'ERR_VALUE',
    'a',
    'bool',
  ],
  [
    'a product that no memory holds',
    () => hw.matmul(zeros([65536, 1]), zeros([1, 65536])),
    'ERR_MEMORY',
    '17180393520 bytes of inputs and results',
  ],
  ['softmax of an array', () => hw.softmax(any([1, 2])), 'ERR_VALUE', 'x', '[1, 2]'],
  [
    'softmax of a typed array',
    () => hw.softmax(any(new Float32Array(2))),
    'ERR_VALUE',
    'x',
    'a Float32Array of length 2',
  ],
  [
    'softmax of a promise',
    () => hw.softmax(any(Promise.resolve())),
    'ERR_VALUE',
    'x',
    'a value of type Promise',
  ],
  ['softmax of booleans', () => hw.softmax(any(tensor([true]))), 'ERR_VALUE', 'x', 'bool'],
  [
    'softmax of what was transferred',
    () => hw.softmax(transferred()),
    'ERR_SHAPE',
    'x',
    '[2, 3] and 0 values',
  ],
  [
    'softmax of replaced data',
    () => hw.softmax(Object.assign(zeros([2]), { data: new Float32Array(9) })),
    'ERR_SHAPE',
    'x',
    '[2] and 9 values',
  ],
  ['transpose of null', () => hw.transpose(any(null)), 'ERR_VALUE', 'a', 'null'],
  ['transpose of a vector', () => hw.transpose(zeros([3])), 'ERR_SHAPE', 'a', '[3]'],
  ['a causal mask of half a size', () => hw.causalMask(2.5), 'ERR_VALUE', 'n', '2.5'],
  ['a causal mask of less than nothing', () => hw.causalMask(-1), 'ERR_VALUE', 'n', '-1'],
  ['a causal mask of a shape', () => hw.causalMask(any([2, 2])), 'ERR_VALUE', 'n', '[2, 2]'],
  [
    'a causal mask that no memory holds',
    () => hw.causalMask(1e6),
    'ERR_MEMORY',
    'the mask',
    '[1000000, 1000000]',
  ],
  [
    'a causal mask beyond all addresses',
    () => hw.causalMask(2 ** 33),
    'ERR_MEMORY',
    'n',
    '8589934592',
  ],
  [
    'a seed out of range',
    () => hw.manualSeed(2n ** 70n),
    'ERR_VALUE',
    'seed',
    '1180591620717411303424n',
  ],
  [
    'a seed that numbers do not hold exactly',
    () => hw.manualSeed(2 ** 60),
    'ERR_VALUE',
    'seed',
    '1152921504606847000',
  ],
  ['half a seed', () => hw.manualSeed(0.5), 'ERR_VALUE', 'seed', '0.5'],
  ['no seed', () => hw.manualSeed(any(undefined)), 'ERR_VALUE', 'seed', 'undefined'],
  ['a seed of text', () => hw.manualSeed(any('1')), 'ERR_VALUE', 'seed', '"1"'],
  ['a number as shape of randn', () => hw.randn(any(5)), 'ERR_VALUE', 'shape', '5'],
  ['a negative size of rand', () => hw.rand([-1]), 'ERR_VALUE', 'shape', '[-1]'],
  [
    'random numbers that no memory holds',
    () => hw.rand([2 ** 31]),
    'ERR_MEMORY',
    '8589934592 bytes of inputs and results',
  ],
  [
    'random numbers beyond all arrays',
    () => hw.randn([1e9, 1e9]),
    'ERR_MEMORY',
    'shape',
    '[1000000000, 1000000000]',
  ],
];
