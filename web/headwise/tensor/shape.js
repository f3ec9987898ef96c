// Shapes, and arrays for their elements.
import { describe } from '../checks/describe.js';
import { HeadwiseError, misfit, misshapen } from '../checks/error.js';
import { copyArray, isArray } from '../checks/foreign.js';

/** No runtime has arrays of more elements than this. */
const largestLength = 2 ** 32;

/** As in torch. It also stops at arrays that contain themselves. */
export const mostDimensions = 64;

/**
 * Reads the caller's shape and counts its elements.
 * @param {unknown} shape
 * @param {string} name the argument's name, for the message
 * @returns {{ sizes: number[], size: number }} sizes: a copy
 * @throws {HeadwiseError} ERR_VALUE: not a shape; other errors as in sizeOf
 */
export function readShape(shape, name) {
  const sizes = copyArray(shape, mostDimensions);
  if (sizes === undefined) {
    throw notShape(shape, name);
  }
  return { sizes, size: sizeOf(sizes, name) };
}

/** @param {unknown} shape @param {string} name */
function notShape(shape, name) {
  const tooMany = isArray(shape) && shape.length > mostDimensions;
  return tooMany
    ? new HeadwiseError(
        'ERR_SHAPE',
        `${name} has ${shape.length} dimensions; expected at most ${mostDimensions}`,
      )
    : misfit(shape, name, 'an array of integers that are not negative');
}

/** @type {(a: readonly number[], b: readonly number[]) => boolean} */
export const sameShape = (a, b) => a.length === b.length && a.every((n, i) => n === b[i]);

/**
 * @param {{ shape: readonly number[] }} x
 * @param {string} name
 * @param {readonly number[]} shape that it must have
 * @param {string} [why] for the message
 */
export function checkSame(x, name, shape, why = '') {
  if (!sameShape(x.shape, shape)) {
    throw misshapen(x.shape, name, describe(shape) + why);
  }
}

/**
 * Counts the elements of a shape. No caller can change the shape any more.
 * @param {readonly number[]} shape
 * @param {string} name the argument's name, for the message
 * @returns {number}
 * @throws {HeadwiseError} ERR_VALUE; ERR_SHAPE: too many dimensions; ERR_MEMORY: no array can be that long
 */
export function sizeOf(shape, name) {
  let size = shape.length > mostDimensions ? NaN : 1;
  for (const n of shape) {
    size *= Number.isSafeInteger(n) && n >= 0 ? n : NaN;
  }
  if (Number.isNaN(size)) {
    throw notShape(shape, name);
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
 * A shape with another last dimension.
 * @param {readonly number[]} shape
 * @param {number} last
 */
export function withLast(shape, last) {
  const changed = [...shape];
  changed[changed.length - 1] = last;
  return changed;
}

/** @param {number} length @param {unknown} cause */
export const noArray = (length, cause) =>
  new HeadwiseError('ERR_MEMORY', `no memory for an array of ${length} elements`, { cause });

/**
 * @template {Float32Array | Float64Array | Uint8Array | Uint32Array} T
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
