// The messages between a page and a Worker. Both sides send and receive them:
//   { call, id, path, how, args }  how: 'call' or 'new' what is at the path from object id, 'get' or 'set' it
//   { answer, value, aborts } or { answer, error }  of the call of that number; aborts: how many the sender has heard
//   { derive, id, name, args }     calls a method of object id; derive: what the sender calls its result, below 0
//   { abort: id, reason }          a signal that was lent
//   { drop: id }                   the sender holds the object no longer
//   { waits, asks }                a message could not be read. waits: calls that the sender waits for; the receiver answers
//                                  with an error those that it is not working on; asks: the receiver sends its own too
// They are structured clones. Objects that cannot be cloned become marks:
//   { $: 'plain', entries }        an object that has a text under $ itself
//   { $: 'tensor', data, shape, id? }   id: it was recorded, and stays where it is, too
//   { $: 'self' }                  the object that was called
//   { $: 'object', id, name, has } stays where it is; what stands for it on the other side has these members (./remote.js)
//   { $: 'yours', id }             an object of the receiver's
//   { $: 'iterator', id }          becomes an async one
//   { $: 'function', id }          an argument that is called where it came from
//   { $: 'signal', id, reason? }   an AbortSignal; reason: it is aborted
//   { $: 'reason', id, … }         an error, which a signal of the receiver's had as its reason
//   { $: 'stream', id }, { $: 'response', … }, { $: 'file', … }, { $: 'url', href }, { $: 'error', … }
// What was lent with a call (functions, signals, streams) is let go of when it is answered, or when the iterator that it
// returned has ended.
import { describe } from '../checks/describe.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { copyArray, isPlain, tagOf } from '../checks/foreign.js';
import { isTensor } from '../tensor/operand.js';
import { Tensor } from '../tensor/tensor.js';

/** @typedef {Set<Transferable>} Transfers */

/** A tensor's dimensions and more; also ends arrays that hold themselves. */
const deepest = 100;

/** Arrays that are longer are holes. */
const mostEntries = 2 ** 27;

/** Tensors whose array the next call may move. */
const moving = new WeakSet();

/**
 * Lets the next call move this tensor's array to the Worker instead of copying it. The tensor is empty afterwards. An array that
 * lies in shared memory, or in a part of a buffer, is copied all the same: what else lies there stays.
 * @template {import('../tensor/tensor.js').AnyTensor} T
 * @param {T} tensor
 * @returns {T} the same
 * @throws {HeadwiseError} ERR_VALUE: not a tensor
 */
export function transfer(tensor) {
  if (!isTensor(tensor)) {
    throw misfit(tensor, 'tensor', 'a Tensor');
  }
  moving.add(tensor);
  return tensor;
}

/**
 * @param {unknown} value
 * @returns {value is object}
 */
export const isObject = (value) =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

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
  const own = ownArray(data);
  if (move) {
    transfers.add(own.buffer);
  }
  return { $: 'tensor', data: own, shape };
}

/** @param {ArrayBufferView} array */
const isShared = ({ buffer }) => tagOf(buffer) === 'SharedArrayBuffer';

/**
 * A part of a buffer would be cloned with all of it, and memory that is shared would stay so.
 * @template {ArrayBufferView} T
 * @param {T} array
 * @returns {T}
 */
export const ownArray = (array) =>
  (array.byteLength === array.buffer.byteLength && !isShared(array)) || array instanceof DataView
    ? array
    : // Not the slice of Node's Buffer, which copies nothing.
      Object.getPrototypeOf(Uint8Array.prototype).slice.call(array);

/**
 * @param {unknown} value
 * @param {object} how
 * @param {Transfers} how.transfers filled
 * @param {boolean} how.moves whether all tensors move, not only those that were marked
 * @param {(tensor: object) => number | { $: string } | undefined} how.packRecorded a number that it is held by, or what stands for it
 * @param {(object: object) => unknown} how.packObject of a function, and of what is neither a tensor nor a plain object
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
  if (isTensor(value)) {
    const tensor = /** @type {Tensor} */ (value);
    const id = how.packRecorded(tensor);
    if (typeof id === 'object') {
      return id;
    }
    const moves = id === undefined && (moving.delete(tensor) || how.moves);
    return { ...packTensor(tensor, how.transfers, moves), ...(id !== undefined && { id }) };
  }
  if (Array.isArray(value)) {
    return entries.map((entry) => pack(entry, how, depth + 1));
  }
  if (isPlain(value)) {
    const named = Object.entries(/** @type {object} */ (value));
    const packed = Object.fromEntries(
      named.map(([key, entry]) => [key, pack(entry, how, depth + 1)]),
    );
    return typeof packed.$ === 'string' ? { $: 'plain', entries: packed } : packed;
  }
  return isObject(value) ? how.packObject(value) : value;
}

/**
 * @param {any} value what was posted
 * @param {(packed: any) => unknown} unpackObject of what is marked as something else than a tensor
 * @returns {any}
 */
export function unpack(value, unpackObject) {
  if (Array.isArray(value)) {
    return value.map((entry) => unpack(entry, unpackObject));
  }
  if (!isPlain(value)) {
    return value;
  }
  if (value.$ === 'tensor' && value.id === undefined) {
    return new Tensor(value.data, value.shape);
  }
  if (typeof value.$ === 'string' && value.$ !== 'plain') {
    return unpackObject(value);
  }
  const entries = Object.entries(value.$ === 'plain' ? value.entries : value);
  return Object.fromEntries(entries.map(([key, entry]) => [key, unpack(entry, unpackObject)]));
}

/** @param {unknown} error whatever was thrown */
export function packError(error) {
  try {
    if (typeof error === 'symbol') return String(error);
    if (!isObject(error)) return error;
    const { name, message, code, cause } = /** @type {any} */ (error);
    const told = { name: String(name), message: String(message), code: isObject(code) ? '' : code };
    const because = isObject(cause) && {
      cause: {
        name: String(/** @type {any} */ (cause).name),
        message: String(/** @type {any} */ (cause).message),
      },
    };
    return { $: 'error', ...told, ...because, isDom: tagOf(error) === 'DOMException' };
  } catch {
    return { $: 'error', name: 'Error', message: 'an error that cannot be read' };
  }
}

/**
 * @param {{ name: string, message: string, code?: any, isDom?: boolean, cause?: { name: string, message: string } }} packed
 * @returns {Error}
 */
export function errorOf({ name, message, code, isDom, cause }) {
  const options = cause && { cause: errorOf(cause) };
  if (name === 'HeadwiseError') return new HeadwiseError(code, message, options);
  if (isDom) return new DOMException(message, name);
  return Object.assign(new Error(message, options), { name, ...(code !== undefined && { code }) });
}
