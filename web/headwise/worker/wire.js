// What goes between a page and its engine in a Worker: structured clones, in which tensors and the Worker's objects are
// marked.
//   { $: 'tensor', data, shape }
//   { $: 'object', … } one that stays in the Worker: its id, and on its way out what it has (./host.js)
//   { $: 'self' }      the object that was called
import { describe } from '../checks/describe.js';
import { HeadwiseError } from '../checks/error.js';
import { copyArray, isPlain, tagOf } from '../checks/foreign.js';
import { Tensor } from '../tensor/tensor.js';

/** @typedef {Set<Transferable>} Transfers */

/** A tensor's dimensions and more; also ends arrays that hold themselves. */
const deepest = 100;

/** Arrays that are longer are holes. */
const mostEntries = 2 ** 27;

/** Tensors whose array may be moved. */
const moving = new WeakSet();

/**
 * Lets the next call move this tensor's array to the Worker instead of copying it. The tensor is empty afterwards.
 * @template {import('../tensor/tensor.js').AnyTensor} T
 * @param {T} tensor
 * @returns {T} the same
 */
export function transfer(tensor) {
  moving.add(tensor);
  return tensor;
}

/**
 * @param {import('../tensor/tensor.js').AnyTensor} tensor
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
 * @param {number} [depth] of the value in what is sent
 * @returns {any} what can be posted
 */
export function pack(value, how, depth = 0) {
  const entries = Array.isArray(value) ? copyArray(value, mostEntries) : [];
  if (depth > deepest || entries === undefined) {
    throw new HeadwiseError(
      'ERR_VALUE',
      `an argument is ${describe(value)}; expected at most ${deepest} levels and arrays of at most ${mostEntries}`,
    );
  }
  if (tagOf(value) === 'Tensor') {
    return packTensor(
      /** @type {Tensor} */ (value),
      how.transfers,
      how.moves || moving.has(/** @type {Tensor} */ (value)),
    );
  }
  if (Array.isArray(value)) {
    return entries.map((entry) => pack(entry, how, depth + 1));
  }
  if (isPlain(value)) {
    const named = Object.entries(/** @type {object} */ (value));
    return Object.fromEntries(named.map(([key, entry]) => [key, pack(entry, how, depth + 1)]));
  }
  return typeof value === 'object' && value !== null ? how.packObject(value) : value;
}

/**
 * @param {any} value what was posted
 * @param {(packed: any) => unknown} unpackObject of what is marked as an object, or as the one that was called
 * @returns {any}
 */
export function unpack(value, unpackObject) {
  if (Array.isArray(value)) {
    return value.map((entry) => unpack(entry, unpackObject));
  }
  if (!isPlain(value)) {
    return value;
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
