// What the hostile calls are given: tensors in buffers that can grow and shrink.
import { Tensor, zeros } from 'headwise';
import { data } from '../../helpers.js';

/** @typedef {import('../../helpers.js').Engine} Engine */

/**
 * One call: its arguments, and what the caller can end while it runs.
 * @typedef {object} Call
 * @property {any[]} args
 * @property {(...args: any[]) => any} run
 * @property {{ dispose: () => void }[]} [owned] the module, the cache, the trace
 */

/** @param {number} seed @param {number[]} shape */
export const x = (seed, shape) => resizable(data(seed, shape));

/**
 * The same values in a buffer that can grow and shrink, of which the array is all.
 * @param {import('../../../web/headwise/tensor/tensor.js').AnyTensor} from
 */
export function resizable({ data: values, shape }) {
  const bytes = values.byteLength;
  const buffer = new /** @type {any} */ (ArrayBuffer)(bytes, { maxByteLength: bytes + 4096 });
  const Type = values instanceof Float32Array ? Float32Array : Uint8Array;
  const array = new Type(buffer);
  array.set(values);
  const made = new Tensor(/** @type {Float32Array} */ (array), shape);
  /** @type {{ shape: readonly number[] }} */ (made).shape = [...shape];
  return made;
}

export const bools = (/** @type {number[]} */ shape) =>
  resizable(
    new Tensor(/** @type {any} */ (new Uint8Array(zeros(shape).data.length).fill(1)), shape),
  );
