import { checkOptions } from '../checks/check.js';
import { describe } from '../checks/describe.js';
import { newArray } from '../tensor/shape.js';
import { dtypes, tensorRead } from './convert.js';
import { readNpyHeader } from './npy-header.js';
import { openReader } from './source.js';

/** @typedef {import('./npy-header.js').NpyHeader} NpyHeader */
/** @typedef {import('./safetensors-header.js').Reader} Reader */
/** @typedef {import('./source.js').Source} Source */
/** @typedef {import('./source.js').SourceOptions} SourceOptions */

/** Elements that are read at a time. */
const stride = 2 ** 20;

/**
 * @param {Uint8Array} bytes
 * @param {number} size of an element
 * @returns {Uint8Array} a copy, in the other byte order
 */
function swapped(bytes, size) {
  const copy = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) {
    copy[i] = bytes[i - (i % size) + size - 1 - (i % size)];
  }
  return copy;
}

/**
 * @param {Float32Array} values in Fortran's order, the first index fastest
 * @param {readonly number[]} shape
 * @returns {Float32Array} in C's order, the last index fastest
 */
function fromFortran(values, shape) {
  const result = newArray(Float32Array, values.length);
  const steps = shape.map((_, axis) => shape.slice(0, axis).reduce((step, n) => step * n, 1));
  const index = shape.map(() => 0);
  let from = 0;
  for (let to = 0; to < result.length; to++) {
    result[to] = values[from];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += steps[axis];
      index[axis]++;
      if (index[axis] < shape[axis]) {
        break;
      }
      from -= index[axis] * steps[axis];
      index[axis] = 0;
    }
  }
  return result;
}

/**
 * @param {Reader} reader at the data
 * @param {NpyHeader} header
 */
async function readValues(reader, { dtype, isBigEndian, shape, elements }) {
  const { size, toFloats } = dtypes[dtype];
  /** Not before there is data: a header may claim more than any memory holds. @type {Float32Array | undefined} */
  let values;
  for (let at = 0; at < elements; at += stride) {
    const count = Math.min(stride, elements - at);
    const bytes = await reader.read(count * size);
    if (bytes.length < count * size) {
      const there = at * size + bytes.length;
      throw reader.formatError(
        `truncated: ${there} bytes of data; expected ${elements * size}, as ${describe(shape)} of ${dtype} has`,
      );
    }
    values ??= newArray(Float32Array, elements);
    toFloats(isBigEndian ? swapped(bytes, size) : bytes, values.subarray(at, at + count));
  }
  return values ?? new Float32Array(0);
}

/**
 * Reads a .npy file of numbers or truth values. bool gives a bool tensor; all other types give float32, rounded if necessary.
 * Arrays in Fortran order are converted to C order.
 *
 * @param {Source} source the file, or its address
 * @param {SourceOptions} [options]
 * @returns {Promise<import('../tensor/tensor.js').Tensor | import('../tensor/tensor.js').Tensor<'bool'>>} of numbers or of truth values, as its dtype says
 * @throws {HeadwiseError} ERR_FORMAT: another kind of file, an unsupported type (structures, objects, text, complex numbers), or
 *   a file that is truncated or too long; ERR_LOAD: it cannot be loaded, or a server sent a page instead; ERR_VALUE: a bad
 *   argument; ERR_MEMORY. An abort rejects with the signal's reason.
 */
export async function readNpy(source, options) {
  const reader = await openReader(source, checkOptions(options, ['name', 'signal'], 'readNpy'));
  try {
    const header = await readNpyHeader(reader);
    const values = await readValues(reader, header);
    if ((await reader.read(1)).length > 0) {
      throw reader.formatError(
        `bytes follow the data of shape ${describe(header.shape)}; expected the file's end`,
      );
    }
    const data = header.isFortran ? fromFortran(values, header.shape) : values;
    return tensorRead(header.dtype, data, header.shape);
  } finally {
    reader.close();
  }
}
