// Bad calls that make tensors.
import { Tensor, tensor, zeros } from 'headwise';
import { any } from './table.js';

/** @returns {import('./table.js').BadCall[]} */
export const tensors = () => [
  ['ragged arrays', () => tensor([[1, 2], [3]]), 'ERR_SHAPE', 'array[1]', '[3]'],
  [
    'typed rows that differ in length',
    () => tensor([new Float32Array(3), new Float32Array(3), new Float32Array(2)]),
    'ERR_SHAPE',
    'array[2]',
    'Float32Array of length 2',
  ],
  [
    'a typed row that is shorter than a row beside it',
    () => tensor([[[1, 2]], [Int8Array.of(1)]]),
    'ERR_SHAPE',
    'array[1][0]',
    'Int8Array of length 1',
  ],
  [
    'an array beside a typed row',
    () =>
      tensor(
        any([
          [1, 2],
          [new Float32Array(2), new Float32Array(2)],
        ]),
      ),
    'ERR_SHAPE',
    'array[1][0]',
    'Float32Array of length 2',
  ],
  ['a value beside an array', () => tensor(any([[1], 2])), 'ERR_SHAPE', 'array[1]', '2'],
  ['an array beside a value', () => tensor(any([1, [2]])), 'ERR_SHAPE', 'array[1]', '[2]'],
  [
    'too few values for the shape',
    () => tensor(new Float32Array(5), [2, 3]),
    'ERR_SHAPE',
    'shape',
    '[2, 3]',
  ],
  ['a shape for other nested values', () => tensor([[1, 2]], [3]), 'ERR_SHAPE', 'shape', '[3]'],
  ['text as a value', () => tensor(any([['a']])), 'ERR_VALUE', 'array[0][0]', '"a"'],
  ['a hole in an array', () => tensor(Array(2)), 'ERR_VALUE', 'array[0]', 'undefined'],
  ['bigints as values', () => tensor(any([1n])), 'ERR_VALUE', 'array[0]', '1n'],
  [
    'integers that float32 does not hold',
    () => tensor(Int32Array.of(1, 2 ** 24 + 1)),
    'ERR_VALUE',
    'array[1]',
    '16777217, which float32 would make 16777216',
  ],
  [
    'rows of integers that float32 does not hold',
    () => tensor([Int32Array.of(1, 2), Int32Array.of(2 ** 24 + 1, 2)]),
    'ERR_VALUE',
    'array[1][0]',
    '16777217, which float32 would make 16777216',
  ],
  [
    'unsigned integers that float32 does not hold',
    () => tensor(Uint32Array.of(2 ** 32 - 1)),
    'ERR_VALUE',
    'array[0]',
    '4294967295, which float32 would make 4294967296',
  ],
  [
    'bigints that float32 does not hold',
    () => tensor(BigInt64Array.of(2n ** 60n, 2n ** 60n + 1n)),
    'ERR_VALUE',
    'array[1]',
    '1152921504606846977n, which float32 would make 1152921504606847000',
  ],
  [
    'a dtype that there is not',
    () => tensor([1], [1], { dtype: any('int8') }),
    'ERR_VALUE',
    'dtype',
    '"int8"',
  ],
  [
    'an option that tensor has not',
    () => tensor([1], [1], any({ device: 'gpu' })),
    'ERR_VALUE',
    'tensor',
    'device',
  ],
  [
    'a DataView',
    () => tensor(any(new DataView(new ArrayBuffer(4)))),
    'ERR_VALUE',
    'array',
    'a value of type DataView',
  ],
  [
    'a buffer without a type',
    () => tensor(any(new ArrayBuffer(4))),
    'ERR_VALUE',
    'array',
    'a value of type ArrayBuffer',
  ],
  [
    'an object as values',
    () => tensor(any({ length: 2 })),
    'ERR_VALUE',
    'array',
    'a value of type Object',
  ],
  [
    'a tensor as values',
    () => tensor(any(zeros([2]))),
    'ERR_VALUE',
    'array',
    'a Tensor of shape [2]',
  ],
  ['no values', () => tensor(any(undefined)), 'ERR_VALUE', 'array', 'undefined'],
  [
    'numbers beside booleans',
    () => tensor(any([true, 1])),
    'ERR_VALUE',
    'array',
    'numbers and booleans',
  ],
  ['a text as shape', () => tensor([1], any('1')), 'ERR_VALUE', 'shape', '"1"'],
  ['an array that holds itself', () => tensor(circular()), 'ERR_VALUE', 'array', '64'],
  ['zeros of a dtype', () => zeros([2], any({ dtype: 'bool' })), 'ERR_VALUE', 'zeros', 'dtype'],
  [
    'zeros with a dtype beside the shape',
    () => zeros([2], any('bool')),
    'ERR_VALUE',
    'zeros',
    '"bool"',
  ],
  [
    'a shape of more dimensions than torch has',
    () => zeros(Array(65).fill(1)),
    'ERR_SHAPE',
    'shape',
    '65 dimensions',
  ],
  ['a negative size', () => zeros([2, -1]), 'ERR_VALUE', 'shape', '[2, -1]'],
  ['half a size', () => zeros([1.5]), 'ERR_VALUE', 'shape', '[1.5]'],
  ['a size of NaN', () => zeros([NaN]), 'ERR_VALUE', 'shape', '[NaN]'],
  ['an infinite size', () => zeros([Infinity]), 'ERR_VALUE', 'shape', '[Infinity]'],
  ['a size as text', () => zeros(any(['2'])), 'ERR_VALUE', 'shape', '["2"]'],
  ['sizes side by side, not in an array', () => any(zeros)(2, 3), 'ERR_VALUE', 'shape', '2'],
  ['no shape', () => zeros(any(undefined)), 'ERR_VALUE', 'shape', 'undefined'],
  [
    'sizes whose product no array can hold',
    () => zeros([1e9, 1e9]),
    'ERR_MEMORY',
    'shape',
    '[1000000000, 1000000000]',
  ],
  [
    'a product of sizes that would wrap at 2^64',
    () => zeros([2 ** 32, 2 ** 32]),
    'ERR_MEMORY',
    'shape',
    '[4294967296, 4294967296]',
  ],
  ['an array as data of a Tensor', () => new Tensor(any([1]), [1]), 'ERR_VALUE', 'data', '[1]'],
  [
    'float64 as data of a Tensor',
    () => new Tensor(any(new Float64Array(1)), [1]),
    'ERR_VALUE',
    'data',
    'a Float64Array of length 1',
  ],
  [
    'no shape of a Tensor',
    () => new Tensor(new Float32Array(1), any(undefined)),
    'ERR_VALUE',
    'shape',
    'undefined',
  ],
  [
    'a shape of more than the data',
    () => new Tensor(new Float32Array(1), [2]),
    'ERR_SHAPE',
    'shape',
    '[2]',
  ],
  ['reshape to more elements', () => zeros([2, 3]).reshape([7]), 'ERR_SHAPE', 'shape', '[7]'],
  [
    'reshape to a size that does not divide',
    () => zeros([2, 3]).reshape([4, -1]),
    'ERR_SHAPE',
    'shape',
    '[4, -1]',
  ],
  [
    'reshape to two sizes left open',
    () => zeros([2, 3]).reshape([-1, -1]),
    'ERR_SHAPE',
    'shape',
    '[-1, -1]',
  ],
  [
    'reshape to sizes side by side',
    () => any(zeros([2, 3])).reshape(3, 2),
    'ERR_VALUE',
    'shape',
    '3',
  ],
  ['reshape to nothing', () => any(zeros([2, 3])).reshape(), 'ERR_VALUE', 'shape', 'undefined'],
  [
    'reshape to undefined',
    () => zeros([2, 3]).reshape(any(undefined)),
    'ERR_VALUE',
    'shape',
    'undefined',
  ],
  [
    'permute with an axis twice',
    () => zeros([2, 3]).permute([1, -1]),
    'ERR_VALUE',
    'axes',
    '[1, -1]',
  ],
  ['permute with an axis too few', () => zeros([2, 3]).permute([0]), 'ERR_VALUE', 'axes', '[0]'],
  [
    'permute with axes as text',
    () => zeros([2, 3]).permute(any('10')),
    'ERR_VALUE',
    'axes',
    '"10"',
  ],
  ['slice with numbers side by side', () => any(zeros([4])).slice(0, 2), 'ERR_VALUE', '2 ranges'],
  ['slice with a number', () => zeros([4]).slice(any(2)), 'ERR_VALUE', 'the range of axis 0', '2'],
  [
    'slice from half an index',
    () => zeros([4, 4]).slice([0, 1], [0.5, 2]),
    'ERR_VALUE',
    'the range of axis 1',
    '[0.5, 2]',
  ],
  ['item of two elements', () => zeros([2]).item(), 'ERR_SHAPE', 'the tensor', '[2]'],
  [
    'going along a tensor that is transferred meanwhile',
    () => {
      const x = zeros([2, 3]);
      for (const _ of x) transfer(x);
    },
    'ERR_SHAPE',
    'an array of 6 elements',
    '0 now',
  ],
  ...['reshape', 'permute', 'slice', 'toNested'].map(
    (method) =>
      /** @type {import('./table.js').BadCall} */ ([
        `${method} of a tensor that was transferred`,
        () => any(transferred())[method]([0, 1]),
        'ERR_SHAPE',
        'the tensor',
        '[2, 3] and 0 values',
      ]),
  ),
];

function transferred() {
  const x = zeros([2, 3]);
  transfer(x);
  return x;
}

/** @param {import('headwise').Tensor} x */
const transfer = (x) => structuredClone(x.data, { transfer: [x.data.buffer] });

function circular() {
  /** @type {any[]} */
  const array = [];
  array.push(array);
  return array;
}
