import { sourceOf } from '../autograd/record.js';
import { HeadwiseError } from '../checks/error.js';
import { isA, isBytes, isOf, reading } from '../checks/foreign.js';
import { Tensor } from '../tensor/tensor.js';
import {
  heldIterator,
  isIterator,
  iterable,
  membersOf,
  reach,
  remoteIterator,
  remoteObject,
} from './remote.js';
import { loading } from './there.js';
import { packResponse, piecesOf, responseOf, streamOf } from './streams.js';
import { errorOf, isObject, ownArray, pack, packError, unpack } from './wire.js';

/** What is to be let go of when a call is over. @typedef {(() => void)[]} Scope */

/** @typedef {{ resolve: (value: any) => void, reject: (error: unknown) => void, target: object | undefined, scope: Scope, hasFailed?: boolean }} Pending */

/** @typedef {{ call: number, id: number, path: string[], how: 'call' | 'new' | 'get' | 'set', args: unknown[] }} Call */

/** A net under those who forget to dispose. */
const remotes = new FinalizationRegistry(
  (/** @type {{ endpoint: WeakRef<Endpoint>, id: number }} */ { endpoint, id }) =>
    endpoint.deref()?.drop(id),
);

/** Where the objects that stand for the other side's are. @type {WeakMap<object, { endpoint: Endpoint, id: number, name: string }>} */
const places = new WeakMap();

/** @param {Scope} scope */
const leave = (scope) => scope.splice(0).forEach((letGo) => letGo());

/** One side of a conversation: calls what the other side holds, and answers its calls. */
export class Endpoint {
  #post;
  #lastId = 0;
  /** Calls that were not answered. @type {Map<number, Pending>} */
  #pending = new Map();
  /** What the other side may name; 0 is where it begins. @type {Map<number, any>} */
  #held;
  /** Of the signals that the other side lent. @type {Map<number, AbortController>} */
  #controllers = new Map();
  /** Reasons of theirs. @type {WeakMap<object, number>} */
  #reasons = new WeakMap();
  /** Of iterators of the other side that have not ended. @type {Map<number, Scope>} */
  #scopes = new Map();
  /** @type {unknown} why no call can be made any more */
  #ended;

  /**
   * @param {(message: object, transfers: Transferable[]) => void} post
   * @param {object} [root] what the other side begins with
   */
  constructor(post, root) {
    this.#post = post;
    this.#held = new Map([[0, root]]);
  }

  /**
   * Whether an answer is waited for. For those who must be kept alive meanwhile.
   * @protected
   * @param {boolean} _isWaiting
   */
  waits(_isWaiting) {}

  /** @param {unknown} reason what all who wait, and all later calls, are told */
  end(reason) {
    this.#ended = reason;
    for (const { reject, scope } of this.#pending.values()) {
      reject(reason);
      leave(scope);
    }
    this.#pending.clear();
    this.#scopes.forEach(leave);
  }

  get hasEnded() {
    return this.#ended !== undefined;
  }

  /** @param {any} message from the other side */
  hear(message) {
    if (message.answer !== undefined) this.#settle(message);
    else if (message.call !== undefined) this.#answer(message);
    else if (message.abort !== undefined) this.#abort(message.abort, message.reason);
    else {
      const object = this.#held.get(message.drop);
      this.#held.delete(message.drop);
      object?.dispose?.();
    }
  }

  /** @param {number} id of an object that nothing stands for any more */
  drop(id) {
    leave(this.#scopes.get(id) ?? []);
    this.#scopes.delete(id);
    if (!this.hasEnded) this.#post({ drop: id }, []);
  }

  // Calls

  /**
   * @param {number} id of an object of the other side
   * @param {string[]} path from it
   * @param {'call' | 'new' | 'get' | 'set'} how
   * @param {unknown[]} args
   * @param {object} [target] what stands for the object here
   * @returns {Promise<any>} which can also be iterated, if an iterator comes
   */
  send(id, path, how, args, target) {
    const call = ++this.#lastId;
    /** @type {Scope} */
    const scope = [];
    const answer = new Promise((resolve, reject) => {
      this.#pending.set(call, { resolve, reject, target, scope });
      try {
        this.#ask({ call, id, path, how, args }, scope);
        this.waits(this.#pending.size > 0);
      } catch (error) {
        this.#pending.delete(call);
        leave(scope);
        throw error;
      }
    });
    return iterable(answer);
  }

  /** @param {Call} message @param {Scope} scope */
  #ask({ call, id, path, how, args }, scope) {
    if (this.hasEnded) throw this.#ended;
    const name = path.join('.') || 'a callback';
    /** @type {Set<Transferable>} */
    const transfers = new Set();
    const packObject = (/** @type {object} */ object) => this.#lend(object, scope, call);
    const packRecorded = (/** @type {object} */ tensor) => this.#lendRecorded(tensor);
    const packed = reading(
      () => args.map((value) => pack(value, { transfers, moves: false, packObject, packRecorded })),
      name,
      'arguments that can be posted',
    );
    // Reading them may have ended the Worker, of which no answer would come.
    if (this.hasEnded) throw this.#ended;
    try {
      this.#post({ call, id, path, how, args: packed }, [...transfers]);
    } catch (cause) {
      const { message } = /** @type {Error} */ (cause);
      throw new HeadwiseError('ERR_VALUE', `${name}: ${message}`, { cause });
    }
  }

  /** @param {{ answer: number, value?: unknown, error?: unknown }} message */
  #settle(message) {
    const { answer, value } = message;
    const pending = this.#pending.get(answer);
    if (pending === undefined) return;
    const { resolve, reject, target, scope, hasFailed } = pending;
    this.#pending.delete(answer);
    this.waits(this.#pending.size > 0);
    try {
      if ('error' in message) reject(this.#unpack(message.error, scope));
      else resolve(this.#unpack(value, scope, target));
    } catch (problem) {
      reject(problem);
    }
    leave(scope);
    const { $, id } = /** @type {any} */ (value ?? {});
    if (hasFailed && ['object', 'iterator'].includes($)) this.drop(id);
  }

  /** @param {Call} message */
  async #answer({ call, id, path, how, args }) {
    /** @type {Scope} */
    const scope = [];
    try {
      if (!this.#held.has(id)) {
        throw new HeadwiseError('ERR_DISPOSED', 'a callback was called after its call had ended');
      }
      const target = this.#held.get(id);
      const own = args.map((value) => this.#unpack(value, scope));
      const result = await reach(target, path, how, own);
      /** @type {Set<Transferable>} */
      const transfers = new Set();
      const packObject = (/** @type {object} */ object) => this.#give(object, scope);
      const packRecorded = (/** @type {object} */ tensor) => this.#giveRecorded(tensor);
      const given = { transfers, moves: true, packObject, packRecorded };
      const value = result === target ? { $: 'self' } : pack(result, given);
      this.#post({ answer: call, value }, [...transfers]);
    } catch (error) {
      this.#post({ answer: call, error: this.#packError(error) }, []);
    }
    leave(scope);
  }

  /** @param {number} id @param {unknown} packed */
  #abort(id, packed) {
    const reason = this.#unpack(packed, []);
    if (isObject(reason)) this.#reasons.set(reason, id);
    this.#controllers.get(id)?.abort(reason);
  }

  // What is sent

  /** @param {unknown} object */
  #hold(object) {
    this.#held.set(++this.#lastId, object);
    return this.#lastId;
  }

  /**
   * Packs what an argument and a result may both be.
   * @param {object} object
   */
  #packKnown(object) {
    const place = places.get(object);
    if (place !== undefined && place.endpoint !== this) {
      const found = `an argument is a ${place.name} of another engine`;
      throw new HeadwiseError('ERR_VALUE', `${found}; expected one of this engine`);
    }
    if (place !== undefined) return { $: 'yours', id: place.id };
    if (isOf(object, 'URL')) return { $: 'url', href: object.href };
    if (ArrayBuffer.isView(object)) return ownArray(object);
    return isA(object, Error) ? this.#packError(object) : undefined;
  }

  /**
   * Packs an object that an argument is, or has within.
   * @param {object} object
   * @param {Scope} scope
   * @param {number} call
   */
  #lend(object, scope, call) {
    const known = this.#packKnown(object);
    if (known !== undefined) return known;
    if (typeof object === 'function') return this.#lendFunction(object, scope, call);
    if (isOf(object, 'AbortSignal')) return this.#lendSignal(object, scope);
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
    const place = places.get(tensor);
    return place?.endpoint === this ? { $: 'yours', id: place.id } : undefined;
  }

  /** @param {object} tensor that a result is, or has within */
  #giveRecorded(tensor) {
    const theirs = this.#packTheirs(tensor);
    return theirs ?? (sourceOf(tensor) === undefined ? undefined : this.#hold(tensor));
  }

  /** @param {object} tensor that an argument is, or has within */
  #lendRecorded(tensor) {
    const theirs = this.#packTheirs(tensor);
    if (theirs !== undefined) return theirs;
    if (sourceOf(tensor) === undefined) return undefined;
    const problem =
      'an argument is a tensor with requiresGrad, which no gradient of a Worker reaches';
    throw new HeadwiseError('ERR_VALUE', `${problem}; expected parameters of modules there`);
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
    const id = this.#hold(async (/** @type {unknown[]} */ ...args) => {
      if (failure !== undefined) throw failure.error;
      try {
        return await callback(...args);
      } catch (error) {
        failure = { error };
        const pending = this.#pending.get(call);
        if (pending !== undefined) pending.hasFailed = true;
        pending?.reject(error);
        throw error;
      }
    });
    scope.push(() => this.#held.delete(id));
    return { $: 'function', id };
  }

  /** @param {AbortSignal} signal @param {Scope} scope */
  #lendSignal(signal, scope) {
    const id = this.#hold(signal);
    const reason = () => this.#packError(signal.reason);
    const abort = () => this.#post({ abort: id, reason: reason() }, []);
    signal.addEventListener('abort', abort);
    scope.push(() => {
      signal.removeEventListener('abort', abort);
      this.#held.delete(id);
    });
    return { $: 'signal', id, ...(signal.aborted && { reason: reason() }) };
  }

  /** @param {object} object @param {Scope} scope */
  #lendStream(object, scope) {
    const pieces = piecesOf(object);
    if (pieces === undefined) return undefined;
    const id = this.#hold(pieces);
    scope.push(() => {
      pieces.release();
      this.#held.delete(id);
    });
    return { $: 'stream', id };
  }

  /**
   * Packs an object that a result is, or has within: most stay here.
   * @param {object} object
   * @param {Scope} scope
   */
  #give(object, scope) {
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
        this.#held.delete(id);
        leave(own);
      };
      const id = this.#hold(heldIterator(object, ended));
      return { $: 'iterator', id };
    }
    const { name } = object.constructor;
    return { $: 'object', id: this.#hold(object), name, has: membersOf(object) };
  }

  /**
   * It is held until it has ended.
   * @param {ReadableStream} stream
   */
  #giveStream(stream) {
    const pieces = heldIterator(piecesOf(stream), () => this.#held.delete(id));
    const id = this.#hold(pieces);
    return { $: 'stream', id };
  }

  /** @param {any} error whatever was thrown */
  #packError(error) {
    const reason = this.#reasons.get(error);
    const packed = packError(error);
    return reason === undefined
      ? packed
      : { .../** @type {object} */ (packed), $: 'reason', id: reason };
  }

  // What arrives

  /**
   * @param {unknown} value
   * @param {Scope} scope
   * @param {object} [target] that was called
   * @returns {any}
   */
  #unpack(value, scope, target) {
    return unpack(value, (packed) => {
      switch (packed.$) {
        case 'self':
          return target;
        case 'yours':
          return this.#held.get(packed.id);
        case 'object':
          return this.#remote(packed);
        case 'tensor':
          return this.#recorded(packed);
        case 'iterator':
          return this.#iterator(packed.id, scope);
        case 'function':
          return this.#function(packed.id);
        case 'signal':
          return this.#signal(packed, scope);
        case 'reason':
          return this.#held.has(packed.id) ? this.#held.get(packed.id).reason : errorOf(packed);
        case 'stream':
          return streamOf((path) => this.send(packed.id, path, 'call', []));
        case 'response':
          return responseOf({ ...packed, body: packed.body && this.#unpack(packed.body, scope) });
        case 'url':
          return new URL(packed.href);
        default:
          return errorOf(packed);
      }
    });
  }

  /** @param {{ id: number, name: string, has: import('./remote.js').Members }} packed */
  #remote({ id, name, has }) {
    const remote = remoteObject(has, (...asked) => this.send(id, ...asked));
    remote[loading] = (/** @type {string} */ of, /** @type {unknown[]} */ ...args) =>
      this.send(0, [of], 'call', [remote, ...args]);
    places.set(remote, { endpoint: this, id, name });
    remotes.register(remote, { endpoint: new WeakRef(this), id });
    return remote;
  }

  /**
   * A tensor that was recorded on the other side: its values are here, its graph is there.
   * @param {{ id: number, data: Float32Array, shape: number[] }} packed
   */
  #recorded({ id, data, shape }) {
    const tensor = new Tensor(data, shape);
    Object.defineProperties(tensor, {
      requiresGrad: { value: true },
      backward: {
        value: (/** @type {unknown[]} */ ...args) => this.send(id, ['backward'], 'call', args),
      },
    });
    places.set(tensor, { endpoint: this, id, name: 'Tensor' });
    remotes.register(tensor, { endpoint: new WeakRef(this), id });
    return tensor;
  }

  /** @param {number} id @param {Scope} scope emptied: it goes on until the iterator ends */
  #iterator(id, scope) {
    this.#scopes.set(id, scope.splice(0));
    const ended = () => {
      leave(this.#scopes.get(id) ?? []);
      this.#scopes.delete(id);
    };
    const iterator = remoteIterator(async (...asked) => {
      // With its Worker it has ended, and a loop may be left.
      const isOver = asked[0][0] === 'return' && this.hasEnded;
      return isOver ? undefined : this.send(id, ...asked);
    }, ended);
    remotes.register(iterator, { endpoint: new WeakRef(this), id });
    return iterator;
  }

  /** What it threw, its next call throws; nobody may have waited. @param {number} id */
  #function(id) {
    /** @type {{ error: unknown } | undefined} */
    let failure;
    return (/** @type {unknown[]} */ ...args) => {
      if (failure !== undefined) throw failure.error;
      const answer = this.send(id, [], 'call', args);
      answer.catch((error) => (failure = { error }));
      return answer;
    };
  }

  /** @param {{ id: number, reason?: unknown }} packed @param {Scope} scope */
  #signal({ id, ...packed }, scope) {
    const controller = new AbortController();
    this.#controllers.set(id, controller);
    scope.push(() => this.#controllers.delete(id));
    if ('reason' in packed) this.#abort(id, packed.reason);
    return controller.signal;
  }
}
