import { copyData } from '../tensor/operand.js';
import { describe } from '../checks/describe.js';
import { HeadwiseError, misshapen } from '../checks/error.js';
import { newArray, sameShape } from '../tensor/shape.js';

/** @typedef {import('../tensor/operand.js').Operand} Operand */
/** @typedef {import('./mask.js').Mask} Mask */

/**
 * torch's key_padding_mask: true where a key is ignored.
 * @param {Operand | undefined} padding
 * @param {readonly number[]} shape [batch, Lkv], or [Lkv] for x without a batch
 * @throws {HeadwiseError} ERR_VALUE, ERR_SHAPE
 */
export function checkKeyPadding(padding, shape) {
  if (padding === undefined) {
    return undefined;
  }
  if (padding.dtype !== 'bool') {
    throw new HeadwiseError(
      'ERR_VALUE',
      `keyPaddingMask has dtype ${padding.dtype}; expected bool, true where a key is ignored`,
    );
  }
  if (!sameShape(padding.shape, shape)) {
    const sizes = shape.length === 2 ? '[batch, Lkv]' : '[Lkv]';
    throw misshapen(padding.shape, 'keyPaddingMask', `${sizes}, ${describe(shape)}`);
  }
}

/**
 * @param {Operand} padding
 * @param {number} keys
 * @returns {Mask} the keys that are not padding, broadcast over heads and queries
 */
function keysThatCount(padding, keys) {
  const data = copyData(padding);
  for (let i = 0; i < data.length; i++) {
    data[i] = data[i] === 0 ? 1 : 0;
  }
  return { tensor: { ...padding, data }, strides: [keys, 0, 0, 1] };
}

/**
 * A mask that also masks padding. Its axes of heads and queries still broadcast if the mask's did.
 * @param {Operand | undefined} padding
 * @param {Mask | undefined} mask
 * @param {readonly [number, number, number, number]} scores their shape, [batch, heads, Lq, Lkv]
 * @returns {Mask | undefined}
 */
export function hidePadding(padding, mask, [batch, allHeads, allRows, keys]) {
  if (padding === undefined || mask === undefined) {
    return padding === undefined ? mask : keysThatCount(padding, keys);
  }
  const { tensor, strides } = mask;
  const heads = strides[1] === 0 ? 1 : allHeads;
  const rows = strides[2] === 0 ? 1 : allRows;
  const size = batch * heads * rows * keys;
  const isBool = tensor.dtype === 'bool';
  const data = isBool ? newArray(Uint8Array, size) : newArray(Float32Array, size);
  const hidden = isBool ? 0 : -Infinity;
  const [ignored, own] = [copyData(padding), copyData(tensor)];
  for (let i = 0; i < size; i++) {
    const key = i % keys;
    const row = Math.floor(i / keys) % rows;
    const head = Math.floor(i / (keys * rows)) % heads;
    const entry = Math.floor(i / (keys * rows * heads));
    const at = entry * strides[0] + head * strides[1] + row * strides[2] + key * strides[3];
    data[i] = ignored[entry * keys + key] === 0 ? own[at] : hidden;
  }
  return {
    tensor: { shape: [batch, heads, rows, keys], dtype: tensor.dtype, data, size },
    strides: [heads * rows * keys, heads === 1 ? 0 : rows * keys, rows === 1 ? 0 : keys, 1],
  };
}
