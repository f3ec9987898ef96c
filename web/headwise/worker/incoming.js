// What arrives at an endpoint: what the other side copied, held or named.
import { Tensor } from '../tensor/tensor.js';
import { leave } from './held.js';
import { dropWith, keepWith, standFor } from './places.js';
import { standIn } from './recorded.js';
import { remoteIterator, remoteObject } from './remote.js';
import { loading } from './there.js';
import { responseOf, streamOf } from './streams.js';
import { errorOf, isObject, unpack as unpackWith } from './wire.js';

/** @typedef {import('./held.js').Scope} Scope */

/** @param {{ blob: Blob, name: string, type: string, lastModified: number, path: string | undefined }} packed */
const fileOf = ({ blob, name, path, ...rest }) =>
  Object.defineProperty(new File([blob], name, rest), 'webkitRelativePath', { value: path });

/** Unpacks what an endpoint hears. */
export class Incoming {
  #endpoint;
  #held;
  /** Of the signals that the other side lent. @type {Map<number, AbortController>} */
  #controllers = new Map();
  /** Of iterators of the other side that have not ended. @type {Map<number, Scope>} */
  #scopes = new Map();

  /**
   * @param {import('./endpoint.js').Endpoint} endpoint
   * @param {import('./held.js').Held} held
   */
  constructor(endpoint, held) {
    this.#endpoint = endpoint;
    this.#held = held;
  }

  /** @param {number} id of an iterator that is over */
  leave(id) {
    leave(this.#scopes.get(id) ?? []);
    this.#scopes.delete(id);
  }

  leaveAll() {
    this.#scopes.forEach(leave);
  }

  /** @param {number} id of a signal @param {unknown} packed its reason */
  abort(id, packed) {
    const reason = this.unpack(packed, []);
    if (isObject(reason)) this.#held.reasons.set(reason, id);
    this.#controllers.get(id)?.abort(reason);
  }

  /**
   * @param {unknown} value
   * @param {Scope} scope
   * @param {object} [target] that was called
   * @param {ReadonlySet<object>} [needed] by the objects that come: what the call was of
   * @returns {any}
   */
  unpack(value, scope, target, needed = new Set()) {
    const withNeeds = (/** @type {object} */ object) => {
      keepWith(object, needed);
      return object;
    };
    return unpackWith(value, (packed) => {
      switch (packed.$) {
        case 'self':
          return target;
        case 'yours':
          return this.#held.get(packed.id);
        case 'object':
          return withNeeds(this.#remote(packed));
        case 'tensor':
          return withNeeds(
            standIn(this.#endpoint, packed.id, new Tensor(packed.data, packed.shape)),
          );
        case 'iterator':
          return withNeeds(this.#iterator(packed.id, scope));
        case 'function':
          return this.#function(packed.id);
        case 'signal':
          return this.#signal(packed, scope);
        case 'reason':
          return this.#held.has(packed.id) ? this.#held.get(packed.id).reason : errorOf(packed);
        case 'stream':
          return streamOf((path) => this.#endpoint.send(packed.id, path, 'call', []));
        case 'response':
          return responseOf({ ...packed, body: packed.body && this.unpack(packed.body, scope) });
        case 'file':
          return fileOf(packed);
        case 'url':
          return new URL(packed.href);
        default:
          return errorOf(packed);
      }
    });
  }

  /** @param {{ id: number, name: string, has: import('./remote.js').Members }} packed */
  #remote({ id, name, has }) {
    const remote = remoteObject(has, (...asked) => this.#endpoint.send(id, ...asked));
    remote[loading] = (/** @type {string} */ of, /** @type {unknown[]} */ ...args) =>
      this.#endpoint.send(0, [of], 'call', [remote, ...args]);
    standFor(remote, { endpoint: this.#endpoint, id, name });
    return remote;
  }

  /** @param {number} id @param {Scope} scope emptied: it goes on until the iterator ends */
  #iterator(id, scope) {
    this.#scopes.set(id, scope.splice(0));
    const ended = () => this.leave(id);
    const iterator = remoteIterator((...asked) => this.#endpoint.send(id, ...asked), ended);
    dropWith(iterator, this.#endpoint, id);
    return iterator;
  }

  /** What it threw, its next call throws; nobody may have waited. @param {number} id */
  #function(id) {
    /** @type {{ error: unknown } | undefined} */
    let failure;
    return (/** @type {unknown[]} */ ...args) => {
      if (failure !== undefined) throw failure.error;
      const answer = this.#endpoint.send(id, [], 'call', args);
      answer.catch((error) => (failure = { error }));
      return answer;
    };
  }

  /** @param {{ id: number, reason?: unknown }} packed @param {Scope} scope */
  #signal({ id, ...packed }, scope) {
    const controller = new AbortController();
    this.#controllers.set(id, controller);
    scope.push(() => this.#controllers.delete(id));
    if ('reason' in packed) this.abort(id, packed.reason);
    return controller.signal;
  }
}
