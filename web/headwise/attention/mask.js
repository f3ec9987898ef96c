import { mask as maskLayout, maskKind } from '../engine/abi.js';
import { copyData } from '../tensor/operand.js';
import { describe } from '../checks/describe.js';
import { misshapen } from '../checks/error.js';
import { newArray, sizeOf } from '../tensor/shape.js';

const kinds = /** @type {const} */ ({ bool: maskKind.bool, float32: maskKind.float });
const fields = maskLayout.words;

/**
 * A mask that is ready for staging memory.
 * @typedef {object} Mask
 * @property {import('../tensor/operand.js').Operand} tensor
 * @property {number[]} strides of batch, head, query and key; 0 broadcasts
 */

/**
 * A last axis shorter than the keys (but not 1, which broadcasts) is filled up with "masked"; one of 0 hides all.
 * @param {import('../tensor/operand.js').Operand} mask
 * @param {number} keys
 * @returns {import('../tensor/operand.js').Operand}
 */
function padKeys(mask, keys) {
  const length = mask.shape.at(-1) ?? 1;
  if (length === 1 || length >= keys) {
    return mask;
  }
  const own = copyData(mask);
  const rows = sizeOf(mask.shape.slice(0, -1), 'the rows of mask');
  const isBool = mask.dtype === 'bool';
  const data = isBool
    ? newArray(Uint8Array, rows * keys)
    : newArray(Float32Array, rows * keys).fill(-Infinity);
  for (let row = 0; row < rows; row++) {
    data.set(own.subarray(row * length, (row + 1) * length), row * keys);
  }
  const shape = [...mask.shape.slice(0, -1), keys];
  return { shape, dtype: mask.dtype, data, size: data.length };
}

/**
 * Aligns a mask at the right of the scores' shape. With a cache, a module's mask has all keys: one of the new tokens alone would
 * hide them.
 * @param {import('../tensor/operand.js').Operand} given
 * @param {readonly [number, number, number, number]} scores [batch, heads, Lq, Lkv]
 * @param {string} expected the shape that is asked for, in words
 * @param {readonly number[]} [shown] of a function's: the scores' shape as the caller sees it
 * @returns {Mask}
 * @throws {HeadwiseError} ERR_SHAPE
 */
export function prepareMask(given, scores, expected, shown) {
  const unfit = () =>
    misshapen(given.shape, 'mask', `${expected}, broadcast to ${describe(shown ?? scores)}`);
  if (given.shape.length > 4) {
    throw unfit();
  }
  const isWhole = shown === undefined && scores[2] < scores[3];
  const tensor = isWhole ? given : padKeys(given, scores[3]);
  const shape = [...Array(4 - tensor.shape.length).fill(1), ...tensor.shape];
  const strides = [0, 0, 0, 0];
  for (let axis = 3, stride = 1; axis >= 0; axis--) {
    if (shape[axis] !== 1 && shape[axis] !== scores[axis]) {
      throw unfit();
    }
    strides[axis] = shape[axis] === 1 ? 0 : stride;
    stride *= shape[axis];
  }
  return { tensor, strides };
}

/**
 * A mask of a module's.
 * @param {import('../tensor/operand.js').Operand} mask
 * @param {readonly [number, number, number, number]} scores [batch, heads, Lq, Lkv]
 * @throws {HeadwiseError} ERR_SHAPE
 */
export function fitModuleMask(mask, scores) {
  const rank = mask.shape.length;
  if (rank === 3) {
    const hint =
      '[batch, 1, Lq, Lkv] for one per batch entry or [1, heads, Lq, Lkv] for one per head';
    throw misshapen(mask.shape, 'mask', hint, ', which is ambiguous');
  }
  const expected = '[Lq, Lkv] or [batch, heads, Lq, Lkv]';
  if (rank < 2) {
    throw misshapen(mask.shape, 'mask', expected);
  }
  return prepareMask(mask, scores, expected);
}

/**
 * Fills an hw_mask.
 * @param {Uint32Array} words
 * @param {number} at index of the first word
 * @param {Mask | undefined} given
 * @param {number} address of the mask's data
 */
export function writeMask(words, at, given, address) {
  // Of HW_MASK_NONE the other fields are not read.
  words[at + fields.kind] = given === undefined ? maskKind.none : kinds[given.tensor.dtype];
  if (given !== undefined) {
    const [batch, head, query, key] = given.strides;
    words[at + fields.data] = address;
    words[at + fields.batchStride] = batch;
    words[at + fields.headStride] = head;
    words[at + fields.queryStride] = query;
    words[at + fields.keyStride] = key;
  }
}
