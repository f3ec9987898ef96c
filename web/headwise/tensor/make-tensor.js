import { checkTable, maybe, oneOf } from '../checks/check.js';
import { describe } from '../checks/describe.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { isArray, kindOf, lengthOf, reading } from '../checks/foreign.js';
import { mostDimensions, newArray, sizeOf } from './shape.js';
import { Tensor } from './tensor.js';

/** @typedef {import('./tensor.js').AnyTensor} AnyTensor */
/** @typedef {import('./tensor.js').DType} DType */

/**
 * A number, or nested arrays of numbers, whose rows may be typed arrays.
 * @typedef {number | NumberArray | BigIntArray | readonly NestedNumbers[]} NestedNumbers
 */
/**
 * A truth value, or nested arrays of them.
 * @typedef {boolean | readonly NestedBooleans[]} NestedBooleans
 */
/**
 * A number, a truth value, or nested arrays of one of the two; rows of numbers may be typed arrays.
 * @typedef {number | boolean | NumberArray | BigIntArray | readonly NestedArray[]} NestedArray
 */
/**
 * A typed array of numbers, such as a Float64Array, or a Float16Array if the runtime has it.
 * @typedef {ArrayBufferView & ArrayLike<number>} NumberArray
 */
/**
 * A typed array of 64-bit integers.
 * @typedef {BigInt64Array | BigUint64Array} BigIntArray
 */

const nestedOrTyped = 'nested arrays or a typed array of numbers';

/**
 * @param {any} value
 * @returns {any} a number: of an array or a typed array; otherwise undefined
 */
export const lengthIn = (value) =>
  isArray(value) ? value.length : kindOf(value) && lengthOf(value);

/**
 * The shape of nested arrays, read from the first element of each level.
 * @param {unknown} nested
 * @param {string} name the argument's name, for the message
 * @returns {number[]}
 * @throws {HeadwiseError} ERR_VALUE: nested too deep, or an array that contains itself
 */
export function shapeOfNested(nested, name) {
  const shape = [];
  /** @type {any} */
  let level = nested;
  for (let length; (length = lengthIn(level)) !== undefined; level = level[0]) {
    if (shape.length === mostDimensions) {
      throw new HeadwiseError(
        'ERR_VALUE',
        `${name} is nested more than ${mostDimensions} deep; expected at most ${mostDimensions} dimensions`,
      );
    }
    shape.push(length);
  }
  return shape;
}

/**
 * Copies the leading numbers of a row. Nearly always this is the whole row, and much faster than value by value.
 * @param {readonly unknown[]} row
 * @param {number} length of the row
 * @param {Float32Array | Float64Array} values the destination
 * @param {number} at the index of the first number in it
 * @returns {number} how many numbers were copied
 */
function takeNumbers(row, length, values, at) {
  for (let i = 0; i < length; i++) {
    const value = row[i];
    if (typeof value !== 'number') {
      return i;
    }
    values[at + i] = value;
  }
  return length;
}

/**
 * Copies a typed array. Floats are rounded once.
 * @param {NumberArray | BigIntArray} array
 * @param {number} length of the array
 * @param {Float32Array | Float64Array} values the destination
 * @param {number} at the index of the first number in it
 * @param {() => string} where the array is, for the message
 * @returns {number} how many numbers were copied
 * @throws {HeadwiseError} ERR_VALUE: integers that float32 does not represent exactly
 */
function takeTyped(array, length, values, at, where) {
  if (kindOf(array)?.startsWith('Float')) {
    values.set(/** @type {NumberArray} */ (array), at);
    return length;
  }
  for (let i = 0; i < length; i++) {
    const value = array[i];
    values[at + i] = Number(value);
    // Integers may be ids: rounding would turn them into other ids.
    if (
      values.BYTES_PER_ELEMENT === 4 &&
      values[at + i] !== value &&
      BigInt(values[at + i]) !== value
    ) {
      throw new HeadwiseError(
        'ERR_VALUE',
        `${where()}[${i}] is ${describe(value)}, which float32 would make ${values[at + i]}; expected integers that float32 holds (a Float64Array is rounded)`,
      );
    }
  }
  return length;
}

/**
 * All values of nested arrays, row-major.
 * @template {Float32Array | Float64Array} T
 * @param {unknown} nested
 * @param {readonly number[]} shape
 * @param {object} how
 * @param {string} how.name the argument's name, for the message
 * @param {new (length: number) => T} how.Type the type of the result
 * @param {'boolean' | 'bigint'} how.other what values may be that are no numbers; booleans are 0 and 1
 * @returns {{ values: T, others: number }} others: how many of the values are such
 * @throws {HeadwiseError} ERR_SHAPE: ragged; ERR_VALUE: something else; ERR_MEMORY
 */
export function flatten(nested, shape, { name, Type, other }) {
  const values = newArray(Type, sizeOf(shape, name));
  /** @type {number[]} */
  const index = [];
  let at = 0;
  let others = 0;
  const where = () => `${name}${index.map((i) => `[${i}]`).join('')}`;
  /** @type {(level: any, axis: number) => void} */
  const visit = (level, axis) => {
    if (axis < shape.length) {
      const length = shape[axis];
      if (lengthIn(level) !== length) {
        throw misfit(level, where(), `an array of ${length}, like its neighbours`, 'ERR_SHAPE');
      }
      const take = kindOf(level) === undefined ? takeNumbers : takeTyped;
      const taken = axis + 1 === shape.length ? take(level, length, values, at, where) : 0;
      at += taken;
      // Not forEach, which skips holes.
      for (let i = taken; i < length; i++) {
        index[axis] = i;
        visit(level[i], axis + 1);
      }
      index.length = axis;
    } else if (typeof level === 'number') {
      values[at++] = level;
    } else if (typeof level === other) {
      values[at++] = Number(level);
      others++;
    } else {
      const expected = shape.length === 0 ? nestedOrTyped : `a number or a ${other}`;
      const code = lengthIn(level) === undefined ? 'ERR_VALUE' : 'ERR_SHAPE';
      throw misfit(level, where(), expected, code);
    }
  };
  visit(nested, 0);
  return { values, others };
}

/**
 * @param {NumberArray | BigIntArray} values
 * @returns {Uint8Array} 1 where a value is not zero, as in torch
 */
function truthsOf(values) {
  const truths = newArray(Uint8Array, lengthOf(values));
  for (let i = 0; i < truths.length; i++) {
    truths[i] = Number(values[i]) === 0 ? 0 : 1;
  }
  return truths;
}

/** @param {any} array @param {readonly number[]} shape @param {DType | undefined} dtype @param {string} name */
function dataOf(array, shape, dtype, name) {
  const isBool = dtype === 'bool';
  if (isBool && kindOf(array) !== undefined) return truthsOf(array);
  /** @type {new (length: number) => Float32Array | Float64Array} */
  // What a float32 would make 0 is true.
  const Type = isBool ? Float64Array : Float32Array;
  const { values, others } = flatten(array, shape, { name, Type, other: 'boolean' });
  const areTruths = dtype === undefined && others > 0;
  if (areTruths && others < values.length) {
    throw new HeadwiseError(
      'ERR_VALUE',
      `${name} mixes numbers and booleans; expected one of the two`,
    );
  }
  return isBool || areTruths ? truthsOf(values) : values;
}

const table = { dtype: maybe(oneOf(['float32', 'bool'])) };

/**
 * Makes a tensor from a copy of the values.
 * @overload
 * @param {NestedNumbers} array nested arrays of numbers, a typed array, or nested arrays of typed arrays. The values of a typed array
 *   are numbers: a Uint8Array does not hold truth values, and a Uint16Array does not hold float16 (a Float16Array does). Integers
 *   must be exact in float32
 * @param {readonly number[]} [shape] default: the shape of the nested arrays; for a typed array [length]
 * @param {{ dtype?: 'float32' }} [options]
 * @returns {Tensor}
 * @throws {HeadwiseError} ERR_SHAPE: ragged, another number of values than the shape has, or a shape of more than 64 dimensions;
 *   ERR_VALUE: not numbers, nested more than 64 deep, or integers that float32 would round; ERR_MEMORY
 */
/**
 * Makes a bool tensor from a copy of truth values.
 * @overload
 * @param {NestedBooleans} array nested arrays of booleans
 * @param {readonly number[]} [shape] default: the shape of the nested arrays
 * @param {{ dtype?: 'bool' }} [options]
 * @returns {Tensor<'bool'>}
 * @throws {HeadwiseError} as for numbers
 */
/**
 * Makes a tensor of type `dtype` from a copy of the values.
 * @template {DType} D
 * @overload
 * @param {NestedArray} array
 * @param {readonly number[] | undefined} shape default: the shape of the nested arrays; for a typed array [length]
 * @param {{ dtype: D }} options 'bool' makes truth values from any data, true for all but zero; 'float32' makes numbers from booleans
 * @returns {Tensor<D>}
 * @throws {HeadwiseError} as for numbers
 */
/**
 * Makes a tensor from a copy of the values, of the type that they have.
 * @overload
 * @param {NestedArray} array
 * @param {readonly number[]} [shape] default: the shape of the nested arrays; for a typed array [length]
 * @param {{ dtype?: DType }} [options] dtype: 'bool' or 'float32', as above
 * @returns {Tensor | Tensor<'bool'>}
 * @throws {HeadwiseError} as for numbers
 */
/**
 * @param {NestedArray} array
 * @param {readonly number[]} [shape]
 * @param {{ dtype?: DType }} [options]
 * @returns {AnyTensor}
 */
export function tensor(array, shape, options) {
  return readTensor(array, 'array', shape, checkTable(options, table, 'tensor').dtype);
}

/**
 * As `tensor`, of an argument that has a name of its own.
 * @param {NestedArray} array
 * @param {string} name for messages
 * @param {readonly number[]} [shape]
 * @param {DType} [dtype]
 * @returns {AnyTensor}
 */
export function readTensor(array, name, shape, dtype) {
  /** @type {readonly number[]} */
  let own = [];
  const read = () => dataOf(array, (own = shapeOfNested(array, name)), dtype, name);
  const data = reading(read, name, nestedOrTyped);
  return /** @type {AnyTensor} */ (new Tensor(/** @type {any} */ (data), shape ?? own));
}
