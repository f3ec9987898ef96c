import { checkTensor } from './check.js';
import { describe } from './describe.js';
import { HeadwiseError } from './error.js';
import { newArray, Tensor } from './tensor.js';

/** hw_mask_kind */
const kinds = /** @type {const} */ ({ bool: 1, float32: 2 });

/**
 * A mask that is ready to be laid into staging memory.
 * @typedef {object} Mask
 * @property {Tensor} tensor
 * @property {number[]} strides of batch, head, query and key; 0 broadcasts
 */

/**
 * A last axis shorter than the keys (but not 1, which broadcasts) is filled up with "masked".
 * @param {Tensor} mask
 * @param {number} keys
 * @returns {Tensor}
 */
function padKeys(mask, keys) {
  const length = mask.shape[mask.shape.length - 1];
  if (length === 1 || length >= keys) {
    return mask;
  }
  const rows = mask.data.length / length;
  const isBool = mask.dtype === 'bool';
  const data = isBool
    ? newArray(Uint8Array, rows * keys)
    : newArray(Float32Array, rows * keys).fill(-Infinity);
  for (let row = 0; row < rows; row++) {
    data.set(mask.data.subarray(row * length, (row + 1) * length), row * keys);
  }
  return new Tensor(data, [...mask.shape.slice(0, -1), keys]);
}

/**
 * Aligns a mask at the right of the scores' shape.
 * @param {unknown} value
 * @param {readonly [number, number, number, number]} scores [batch, heads, Lq, Lkv]
 * @param {string} expected the shape that is asked for, in words
 * @param {readonly number[]} [shown] the scores' shape as the caller sees it
 * @returns {Mask}
 * @throws {HeadwiseError} ERR_VALUE, ERR_SHAPE
 */
export function prepareMask(value, scores, expected, shown = scores) {
  const given = checkTensor(value, 'mask');
  const misfit = () =>
    new HeadwiseError(
      'ERR_SHAPE',
      `mask has shape ${describe(given.shape)}; expected ${expected}, broadcast to ${describe(shown)}`,
    );
  if (given.shape.length === 0 || given.shape.length > 4 || given.shape.includes(0)) {
    throw misfit();
  }
  const tensor = padKeys(given, scores[3]);
  const shape = [...Array(4 - tensor.shape.length).fill(1), ...tensor.shape];
  const strides = [0, 0, 0, 0];
  for (let axis = 3, stride = 1; axis >= 0; axis--) {
    if (shape[axis] !== 1 && shape[axis] !== scores[axis]) {
      throw misfit();
    }
    strides[axis] = shape[axis] === 1 ? 0 : stride;
    stride *= shape[axis];
  }
  return { tensor, strides };
}

/**
 * Fills an hw_mask.
 * @param {Uint32Array} words
 * @param {number} at index of the first word
 * @param {Mask | undefined} mask
 * @param {number} address of the mask's data
 */
export function writeMask(words, at, mask, address) {
  if (mask === undefined) {
    // HW_MASK_NONE; the other fields are not read.
    words[at] = 0;
    return;
  }
  words[at] = kinds[mask.tensor.dtype];
  words[at + 1] = address;
  words.set(mask.strides, at + 2);
}

/**
 * Bytes that a mask takes in staging memory.
 * @param {Mask | undefined} mask
 */
export const maskBytes = (mask) => (mask === undefined ? 0 : mask.tensor.data.byteLength);
