import { checkOptions } from '../checks/check.js';
import { checkTensor } from '../tensor/operand.js';
import { newArray } from '../tensor/shape.js';
import { magic } from './npy-header.js';
import { byteLengthOf, bytesOf } from './write-safetensors.js';

/** @typedef {import('../tensor/tensor.js').AnyTensor} AnyTensor */

/**
 * Returns the bytes of a .npy file, version 1.0: float32 or bool in C order. The data starts at a multiple of 64 bytes.
 *
 * @param {AnyTensor} tensor
 * @param {Record<string, never>} [options] none are supported; a `dtype`, for example, throws
 * @returns {Uint8Array<ArrayBuffer>}
 * @throws {HeadwiseError} ERR_VALUE, ERR_SHAPE: an option, or not a Tensor that can be written; ERR_MEMORY: no memory for the file
 */
export function writeNpy(tensor, options) {
  checkOptions(options, [], 'writeNpy');
  const checked = checkTensor(tensor, 'tensor');
  const { dtype, shape } = checked;
  const descr = dtype === 'bool' ? '|b1' : '<f4';
  // A tuple of one has a comma in Python.
  const tuple = `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${tuple}, }`;
  const start = Math.ceil((10 + text.length + 1) / 64) * 64;
  const file = newArray(Uint8Array, start + byteLengthOf(checked));
  file.set(magic);
  file[6] = 1;
  new DataView(file.buffer).setUint16(8, start - 10, true);
  file.set(new TextEncoder().encode(`${text.padEnd(start - 11)}\n`), 10);
  file.set(bytesOf(checked), start);
  return file;
}
