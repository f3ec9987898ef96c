// What an endpoint sends: values are copied, and what cannot be is held here and named.
import { sourceOf } from '../autograd/record.js';
import { classOf } from '../checks/describe.js';
import { HeadwiseError } from '../checks/error.js';
import { isA, isBytes, isOf, tagOf } from '../checks/foreign.js';
import { leave } from './held.js';
import { placeOf } from './places.js';
import { heldIterator, isIterator, membersOf } from './remote.js';
import { packResponse, piecesOf } from './streams.js';
import { ownArray, packError } from './wire.js';

/** @typedef {import('./held.js').Scope} Scope */

/** Of a File Node clones the bytes alone, and nobody its path. @param {File} file */
const packFile = (file) => {
  const { name, type, lastModified, webkitRelativePath: path } = file;
  return { $: 'file', blob: file.slice(), name, type, lastModified, path };
};

/** What objects of an engine say that they are. */
const tags = ['Headwise', 'KeyValueCache', 'Module', 'Optimizer', 'Parameter', 'Trace'];

/** Who is told that a signal has aborted. @type {WeakMap<EventTarget, Set<() => void>>} */
const followers = new WeakMap();

/** One listener for all calls of a signal: of more than ten Node warns. @param {Event} event */
const tellFollowers = ({ target }) =>
  followers.get(/** @type {EventTarget} */ (target))?.forEach((tell) => tell());

/** @param {string} name of an object's class */
const ofAnother = (name) =>
  new HeadwiseError(
    'ERR_VALUE',
    `an argument is a ${name} of another engine; expected one of this engine`,
  );

/** Packs what an endpoint's calls and answers consist of. */
export class Outgoing {
  #endpoint;
  #held;

  /**
   * @param {import('./endpoint.js').Endpoint} endpoint
   * @param {import('./held.js').Held} held
   */
  constructor(endpoint, held) {
    this.#endpoint = endpoint;
    this.#held = held;
  }

  /**
   * Packs what an argument and a result may both be.
   * @param {object} object
   */
  #packKnown(object) {
    const place = placeOf(object);
    if (place !== undefined && place.endpoint !== this.#endpoint) throw ofAnother(place.name);
    if (place !== undefined) return { $: 'yours', id: place.id };
    if (isOf(object, 'URL')) return { $: 'url', href: object.href };
    if (isOf(object, 'File')) return packFile(object);
    if (ArrayBuffer.isView(object)) return ownArray(object);
    return isA(object, Error) ? this.packError(object) : undefined;
  }

  /**
   * Packs an object that an argument is, or has within.
   * @param {object} object
   * @param {Scope} scope
   * @param {number} call
   */
  lend(object, scope, call) {
    const known = this.#packKnown(object);
    if (known !== undefined) return known;
    if (typeof object === 'function') return this.#lendFunction(object, scope, call);
    if (isA(object, Promise)) {
      throw new HeadwiseError(
        'ERR_VALUE',
        'an argument is a Promise; expected what it gives: await it',
      );
    }
    if (tags.includes(String(tagOf(object)))) throw ofAnother(classOf(object));
    if (isOf(object, 'AbortSignal')) return this.#lendSignal(object, scope, call);
    if (isOf(object, 'Response')) {
      const { body, ...packed } = packResponse(object);
      return { $: 'response', ...packed, body: body && this.#lendStream(body, scope) };
    }
    return this.#lendStream(object, scope) ?? object;
  }

  /**
   * A tensor that was recorded on the other side is that one.
   * @param {object} tensor
   */
  #packTheirs(tensor) {
    const place = placeOf(tensor);
    return place?.endpoint === this.#endpoint ? { $: 'yours', id: place.id } : undefined;
  }

  /** @param {object} tensor that a result is, or has within */
  giveRecorded(tensor) {
    const theirs = this.#packTheirs(tensor);
    return theirs ?? (sourceOf(tensor) === undefined ? undefined : this.#held.hold(tensor));
  }

  /** @param {object} tensor that an argument is, or has within */
  lendRecorded(tensor) {
    const theirs = this.#packTheirs(tensor);
    if (theirs !== undefined) return theirs;
    if (sourceOf(tensor) === undefined) return undefined;
    const problem =
      "an argument is a tensor with requiresGrad, but a Worker computes gradients of its modules' parameters alone";
    throw new HeadwiseError('ERR_VALUE', `${problem}; expected a tensor without requiresGrad`);
  }

  /**
   * What it throws is what its call rejects with.
   * @param {Function} callback
   * @param {Scope} scope
   * @param {number} call
   */
  #lendFunction(callback, scope, call) {
    /** What it threw: its call is over, and it is not called again. @type {{ error: unknown } | undefined} */
    let failure;
    const id = this.#held.hold(async (/** @type {unknown[]} */ ...args) => {
      if (failure !== undefined) throw failure.error;
      try {
        return await callback(...args);
      } catch (error) {
        failure = { error };
        // Once the other side is told: what it ends then, such as a stretch of noGrad, has ended before the next call.
        queueMicrotask(() => this.#endpoint.failCall(call, error));
        throw error;
      }
    });
    scope.push(() => this.#held.letGo(id));
    return { $: 'function', id };
  }

  /** @param {AbortSignal} signal @param {Scope} scope @param {number} call */
  #lendSignal(signal, scope, call) {
    const id = this.#held.hold(signal);
    const tell = () => this.#endpoint.abort(id, signal, call);
    const told = followers.get(signal) ?? new Set();
    followers.set(signal, told.add(tell));
    signal.addEventListener('abort', tellFollowers);
    scope.push(() => {
      told.delete(tell);
      if (told.size === 0) signal.removeEventListener('abort', tellFollowers);
      this.#held.letGo(id);
    });
    return { $: 'signal', id, ...(signal.aborted && { reason: this.packError(signal.reason) }) };
  }

  /** @param {object} object @param {Scope} scope */
  #lendStream(object, scope) {
    const pieces = piecesOf(object);
    if (pieces === undefined) return undefined;
    const id = this.#held.hold(pieces);
    scope.push(() => {
      pieces.release();
      this.#held.letGo(id);
    });
    return { $: 'stream', id };
  }

  /**
   * Packs an object that a result is, or has within: most stay here.
   * @param {object} object
   * @param {Scope} scope
   */
  give(object, scope) {
    const known = this.#packKnown(object);
    if (known !== undefined) return known;
    if (isOf(object, 'Response')) {
      const { body, ...packed } = packResponse(object);
      return { $: 'response', ...packed, body: body && this.#giveStream(body) };
    }
    const isFunction = typeof object === 'function'; // which is refused
    if (isFunction || isBytes(object) || isOf(object, 'Blob', 'File')) return object;
    if (isIterator(object)) {
      const own = scope.splice(0); // it goes on until the iterator ends
      const ended = () => {
        this.#held.letGo(id);
        leave(own);
      };
      const id = this.#held.hold(heldIterator(object, ended));
      return { $: 'iterator', id };
    }
    const { name } = object.constructor;
    return { $: 'object', id: this.#held.hold(object), name, has: membersOf(object) };
  }

  /**
   * It is held until it has ended.
   * @param {ReadableStream} stream
   */
  #giveStream(stream) {
    const pieces = heldIterator(piecesOf(stream), () => this.#held.letGo(id));
    const id = this.#held.hold(pieces);
    return { $: 'stream', id };
  }

  /** @param {any} error whatever was thrown */
  packError(error) {
    const reason = this.#held.reasons.get(error);
    const packed = packError(error);
    return reason === undefined
      ? packed
      : { .../** @type {object} */ (packed), $: 'reason', id: reason };
  }
}
