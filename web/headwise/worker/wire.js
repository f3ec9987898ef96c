// What goes between a page and its engine in a Worker: structured clones, in which tensors and the Worker's objects are
// marked.
//   { $: 'tensor', data, shape }
//   { $: 'object', … } one that stays in the Worker: its id, and on its way out what it has (./host.js)
//   { $: 'self' }      the object that was called
import { HeadwiseError } from '../error.js';
import { Tensor } from '../tensor.js';

/** @typedef {Set<Transferable>} Transfers */

/** Tensors whose array may be moved. */
const moving = new WeakSet();

/**
 * Lets the next call move this tensor's array to the Worker instead of copying it. The tensor is empty afterwards.
 * @template {Tensor} T
 * @param {T} tensor
 * @returns {T} the same
 */
export function transfer(tensor) {
  moving.add(tensor);
  return tensor;
}

/** @param {unknown} value */
const isPlain = (value) =>
  Array.isArray(value) ||
  (typeof value === 'object' &&
    value !== null &&
    Object.getPrototypeOf(value) === Object.prototype);

/**
 * @param {Tensor} tensor
 * @param {Transfers} transfers
 * @param {boolean} move
 */
function packTensor(tensor, transfers, move) {
  const { data, shape } = tensor;
  if (data.length === 0 && !shape.includes(0)) {
    throw new HeadwiseError(
      'ERR_VALUE',
      `a tensor of shape [${shape.join(', ')}] is empty: its array was transferred`,
    );
  }
  if (move) {
    transfers.add(data.buffer);
    return { $: 'tensor', data, shape };
  }
  // A part of a buffer would be cloned with all of it.
  const whole = data.byteLength === data.buffer.byteLength;
  return { $: 'tensor', data: whole ? data : data.slice(), shape };
}

/**
 * @param {unknown} value
 * @param {object} how
 * @param {Transfers} how.transfers filled
 * @param {boolean} how.moves whether all tensors move, not only those that were marked
 * @param {(object: object) => unknown} how.packObject of what is neither a tensor nor a plain object
 * @returns {any} what can be posted
 */
export function pack(value, how) {
  if (value instanceof Tensor) {
    return packTensor(value, how.transfers, how.moves || moving.has(value));
  }
  if (Array.isArray(value)) {
    return value.map((entry) => pack(entry, how));
  }
  if (isPlain(value)) {
    const entries = Object.entries(/** @type {object} */ (value));
    return Object.fromEntries(entries.map(([key, entry]) => [key, pack(entry, how)]));
  }
  return typeof value === 'object' && value !== null ? how.packObject(value) : value;
}

/**
 * @param {any} value what was posted
 * @param {(packed: any) => unknown} unpackObject of what is marked as an object, or as the one that was called
 * @returns {any}
 */
export function unpack(value, unpackObject) {
  if (!isPlain(value)) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map((entry) => unpack(entry, unpackObject));
  }
  if (value.$ === 'tensor') {
    return new Tensor(value.data, value.shape);
  }
  if (value.$ !== undefined) {
    return unpackObject(value);
  }
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, entry]) => [key, unpack(entry, unpackObject)]));
}
