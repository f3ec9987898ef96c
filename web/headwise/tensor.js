import { HeadwiseError } from './error.js';
import { describe } from './describe.js';

/**
 * A number, a truth value, or nested arrays of one of the two.
 * @typedef {number | boolean | NestedArray[]} NestedArray
 */
/**
 * A typed array whose elements are numbers.
 * @typedef {Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | Uint32Array | Float32Array | Float64Array} NumberArray
 */

/** More elements than this no runtime can hold in one array. */
const largestLength = 2 ** 32;

/** As in torch; also ends arrays that hold themselves. */
const mostDimensions = 64;

/**
 * A row-major array of numbers or truth values that owns its memory.
 */
export class Tensor {
  /**
   * @param {Float32Array | Uint8Array} data taken over, not copied; a Uint8Array holds truth values, 0 and 1
   * @param {readonly number[]} shape
   * @throws {HeadwiseError} ERR_SHAPE: the shape does not hold as many elements as data has; ERR_VALUE: not such an array
   */
  constructor(data, shape) {
    if (!(data instanceof Float32Array || data instanceof Uint8Array)) {
      throw new HeadwiseError(
        'ERR_VALUE',
        `data is ${describe(data)}; expected a Float32Array or a Uint8Array`,
      );
    }
    const size = sizeOf(shape, 'shape');
    if (size !== data.length) {
      throw new HeadwiseError(
        'ERR_SHAPE',
        `shape is ${describe(shape)}, which holds ${size} elements; expected ${data.length}, as data has`,
      );
    }
    /**
     * Sizes of the dimensions, frozen.
     * @type {readonly number[]}
     */
    this.shape = Object.isFrozen(shape) ? shape : Object.freeze([...shape]);
    /**
     * What `data` holds.
     * @type {'float32' | 'bool'}
     */
    this.dtype = data instanceof Float32Array ? 'float32' : 'bool';
    /** The elements, row-major: the array itself. A bool tensor's are 0 and 1. */
    this.data = data;
  }

  /**
   * The values as nested arrays; of a tensor of rank 0, the value.
   * @returns {any}
   */
  toNested() {
    const value =
      this.dtype === 'bool'
        ? (/** @type {number} */ i) => this.data[i] !== 0
        : (/** @type {number} */ i) => this.data[i];
    /** @type {(axis: number, start: number, size: number) => any} */
    const nest = (axis, start, size) => {
      if (axis === this.shape.length) {
        return value(start);
      }
      const step = this.shape[axis] === 0 ? 0 : size / this.shape[axis];
      return Array.from({ length: this.shape[axis] }, (_, i) =>
        nest(axis + 1, start + i * step, step),
      );
    };
    return nest(0, 0, this.data.length);
  }
}

/**
 * Elements that a shape holds.
 * @param {unknown} shape
 * @param {string} name the argument's name, for the message
 * @returns {number}
 * @throws {HeadwiseError} ERR_VALUE, or ERR_MEMORY if no array can be that long
 */
export function sizeOf(shape, name) {
  let size = 1;
  for (const n of Array.isArray(shape) ? shape : [NaN]) {
    size *= Number.isSafeInteger(n) && n >= 0 ? n : NaN;
  }
  if (Number.isNaN(size)) {
    throw new HeadwiseError(
      'ERR_VALUE',
      `${name} is ${describe(shape)}; expected an array of integers that are not negative`,
    );
  }
  if (size > largestLength) {
    throw new HeadwiseError(
      'ERR_MEMORY',
      `${name} ${describe(shape)} holds ${size} elements, more than any array can`,
    );
  }
  return size;
}

/**
 * A shape with another last dimension. Frozen, so that a tensor takes it without a copy.
 * @param {readonly number[]} shape
 * @param {number} last
 */
export function withLast(shape, last) {
  const changed = [...shape];
  changed[changed.length - 1] = last;
  return Object.freeze(changed);
}

/**
 * @param {number} length
 * @param {unknown} cause
 */
export const noArray = (length, cause) =>
  new HeadwiseError('ERR_MEMORY', `no memory for an array of ${length} elements`, { cause });

/**
 * @template {Float32Array | Uint8Array | Uint32Array} T
 * @param {new (length: number) => T} Type
 * @param {number} length
 * @returns {T}
 * @throws {HeadwiseError} ERR_MEMORY
 */
export function newArray(Type, length) {
  try {
    return new Type(length);
  } catch (cause) {
    throw noArray(length, cause);
  }
}

/**
 * A float32 tensor of zeros.
 * @param {readonly number[]} shape
 * @returns {Tensor}
 * @throws {HeadwiseError} ERR_VALUE: not a shape; ERR_MEMORY
 */
export function zeros(shape) {
  return new Tensor(newArray(Float32Array, sizeOf(shape, 'shape')), shape);
}

/**
 * Shape of nested arrays, judged by the first element of each level.
 * @param {unknown} nested
 * @returns {number[]}
 */
export function shapeOfNested(nested) {
  const shape = [];
  for (let level = nested; Array.isArray(level); level = level[0]) {
    if (shape.length === mostDimensions) {
      throw new HeadwiseError(
        'ERR_SHAPE',
        `array is nested more than ${mostDimensions} deep; expected at most ${mostDimensions} dimensions`,
      );
    }
    shape.push(level.length);
  }
  return shape;
}

const nestedOrTyped = 'nested arrays or a typed array of numbers';

/**
 * @param {unknown} nested
 * @param {number[]} shape
 * @param {string} name the argument's name, for the message
 * @returns {(number | boolean)[]} all values, row-major
 */
export function flatten(nested, shape, name) {
  /** @type {(number | boolean)[]} */
  const values = [];
  /** @type {(level: unknown, axis: number, at: string) => void} */
  const visit = (level, axis, at) => {
    if (axis < shape.length) {
      if (!Array.isArray(level) || level.length !== shape[axis]) {
        const expected = `an array of ${shape[axis]}, like its neighbours`;
        throw new HeadwiseError(
          'ERR_SHAPE',
          `${name}${at} is ${describe(level)}; expected ${expected}`,
        );
      }
      // Not forEach, which skips holes.
      for (let i = 0; i < level.length; i++) {
        visit(level[i], axis + 1, `${at}[${i}]`);
      }
    } else if (typeof level === 'number' || typeof level === 'boolean') {
      values.push(level);
    } else {
      const code = Array.isArray(level) ? 'ERR_SHAPE' : 'ERR_VALUE';
      const expected = at === '' ? nestedOrTyped : 'a number or a boolean';
      throw new HeadwiseError(code, `${name}${at} is ${describe(level)}; expected ${expected}`);
    }
  };
  visit(nested, 0, '');
  return values;
}

/**
 * @param {unknown} array
 * @returns {array is NumberArray}
 */
function isNumberArray(array) {
  return (
    ArrayBuffer.isView(array) &&
    !(array instanceof DataView) &&
    typeof (/** @type {any} */ (array)[0] ?? 0) === 'number'
  );
}

/**
 * @param {(number | boolean)[]} values
 * @returns {Float32Array | Uint8Array}
 */
function dataOf(values) {
  const booleans = values.filter((value) => typeof value === 'boolean').length;
  if (booleans > 0 && booleans < values.length) {
    throw new HeadwiseError(
      'ERR_VALUE',
      'array mixes numbers and booleans; expected one of the two',
    );
  }
  return booleans > 0
    ? Uint8Array.from(values, Number)
    : Float32Array.from(/** @type {number[]} */ (values));
}

/**
 * A tensor of a copy of the values.
 * @param {NestedArray | NumberArray} array nested arrays of numbers (float32) or of booleans (bool), or a typed array;
 *   a Uint8Array makes a bool tensor, every other one float32
 * @param {readonly number[]} [shape] default: as nested; a typed array's is [length]
 * @returns {Tensor}
 * @throws {HeadwiseError} ERR_SHAPE: ragged, or not as many values as the shape holds; ERR_VALUE: not numbers
 */
export function tensor(array, shape) {
  if (isNumberArray(array)) {
    const data =
      array instanceof Uint8Array
        ? array.map((value) => (value === 0 ? 0 : 1))
        : Float32Array.from(array);
    return new Tensor(data, shape ?? [array.length]);
  }
  if (ArrayBuffer.isView(array)) {
    throw new HeadwiseError('ERR_VALUE', `array is ${describe(array)}; expected ${nestedOrTyped}`);
  }
  const nestedShape = shapeOfNested(array);
  return new Tensor(dataOf(flatten(array, nestedShape, 'array')), shape ?? nestedShape);
}
