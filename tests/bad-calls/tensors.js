// Bad calls that make tensors.
import { Tensor, tensor, zeros } from 'headwise';
import { any } from './table.js';

/** @returns {import('./table.js').BadCall[]} */
export const tensors = () => [
  [
    'ragged arrays',
    () => tensor([[1, 2], [3]]),
    'ERR_SHAPE',
    'array[1] is [3]; expected an array of 2, like its neighbours',
  ],
  [
    'a value beside an array',
    () => tensor(any([[1], 2])),
    'ERR_SHAPE',
    'array[1] is 2; expected an array of 1, like its neighbours',
  ],
  [
    'an array beside a value',
    () => tensor(any([1, [2]])),
    'ERR_SHAPE',
    'array[1] is [2]; expected a number or a boolean',
  ],
  [
    'too few values for the shape',
    () => tensor(new Float32Array(5), [2, 3]),
    'ERR_SHAPE',
    'shape is [2, 3], which holds 6 elements; expected 5, as data has',
  ],
  [
    'a shape for other nested values',
    () => tensor([[1, 2]], [3]),
    'ERR_SHAPE',
    'shape is [3], which holds 3 elements; expected 2, as data has',
  ],
  [
    'text as a value',
    () => tensor(any([['a']])),
    'ERR_VALUE',
    'array[0][0] is "a"; expected a number or a boolean',
  ],
  [
    'a hole in an array',
    () => tensor(Array(2)),
    'ERR_VALUE',
    'array[0] is undefined; expected a number or a boolean',
  ],
  [
    'bigints as values',
    () => tensor(any([1n])),
    'ERR_VALUE',
    'array[0] is 1n; expected a number or a boolean',
  ],
  [
    'a typed array of bigints',
    () => tensor(any(new BigInt64Array(2))),
    'ERR_VALUE',
    'array is a value of type BigInt64Array; expected nested arrays or a typed array of numbers',
  ],
  [
    'a DataView',
    () => tensor(any(new DataView(new ArrayBuffer(4)))),
    'ERR_VALUE',
    'array is a value of type DataView; expected nested arrays or a typed array of numbers',
  ],
  [
    'a buffer without a type',
    () => tensor(any(new ArrayBuffer(4))),
    'ERR_VALUE',
    'array is a value of type ArrayBuffer; expected nested arrays or a typed array of numbers',
  ],
  [
    'an object as values',
    () => tensor(any({ length: 2 })),
    'ERR_VALUE',
    'array is a value of type Object; expected nested arrays or a typed array of numbers',
  ],
  [
    'a tensor as values',
    () => tensor(any(zeros([2]))),
    'ERR_VALUE',
    'array is a Tensor of shape [2]; expected nested arrays or a typed array of numbers',
  ],
  [
    'no values',
    () => tensor(any(undefined)),
    'ERR_VALUE',
    'array is undefined; expected nested arrays or a typed array of numbers',
  ],
  [
    'numbers beside booleans',
    () => tensor(any([true, 1])),
    'ERR_VALUE',
    'array mixes numbers and booleans; expected one of the two',
  ],
  [
    'a text as shape',
    () => tensor([1], any('1')),
    'ERR_VALUE',
    'shape is "1"; expected an array of integers that are not negative',
  ],
  [
    'an array that holds itself',
    () => tensor(circular()),
    'ERR_SHAPE',
    'array is nested more than 64 deep; expected at most 64 dimensions',
  ],
  [
    'a negative size',
    () => zeros([2, -1]),
    'ERR_VALUE',
    'shape is [2, -1]; expected an array of integers that are not negative',
  ],
  [
    'half a size',
    () => zeros([1.5]),
    'ERR_VALUE',
    'shape is [1.5]; expected an array of integers that are not negative',
  ],
  [
    'a size of NaN',
    () => zeros([NaN]),
    'ERR_VALUE',
    'shape is [NaN]; expected an array of integers that are not negative',
  ],
  [
    'an infinite size',
    () => zeros([Infinity]),
    'ERR_VALUE',
    'shape is [Infinity]; expected an array of integers that are not negative',
  ],
  [
    'a size as text',
    () => zeros(any(['2'])),
    'ERR_VALUE',
    'shape is ["2"]; expected an array of integers that are not negative',
  ],
  [
    'sizes side by side, not in an array',
    () => any(zeros)(2, 3),
    'ERR_VALUE',
    'shape is 2; expected an array of integers that are not negative',
  ],
  [
    'no shape',
    () => zeros(any(undefined)),
    'ERR_VALUE',
    'shape is undefined; expected an array of integers that are not negative',
  ],
  [
    'sizes whose product no array can hold',
    () => zeros([1e9, 1e9]),
    'ERR_MEMORY',
    'shape [1000000000, 1000000000] holds 1000000000000000000 elements, more than any array can',
  ],
  [
    'a product of sizes that would wrap at 2^64',
    () => zeros([2 ** 32, 2 ** 32]),
    'ERR_MEMORY',
    'shape [4294967296, 4294967296] holds 18446744073709552000 elements, more than any array can',
  ],
  [
    'an array as data of a Tensor',
    () => new Tensor(any([1]), [1]),
    'ERR_VALUE',
    'data is [1]; expected a Float32Array or a Uint8Array',
  ],
  [
    'float64 as data of a Tensor',
    () => new Tensor(any(new Float64Array(1)), [1]),
    'ERR_VALUE',
    'data is a value of type Float64Array; expected a Float32Array or a Uint8Array',
  ],
  [
    'no shape of a Tensor',
    () => new Tensor(new Float32Array(1), any(undefined)),
    'ERR_VALUE',
    'shape is undefined; expected an array of integers that are not negative',
  ],
  [
    'a shape of more than the data',
    () => new Tensor(new Float32Array(1), [2]),
    'ERR_SHAPE',
    'shape is [2], which holds 2 elements; expected 1, as data has',
  ],
];

function circular() {
  /** @type {any[]} */
  const array = [];
  array.push(array);
  return array;
}
