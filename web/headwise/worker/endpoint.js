import { RecordingModes } from '../autograd/recording-modes.js';
import { HeadwiseError } from '../checks/error.js';
import { reading } from '../checks/foreign.js';
import { Held, leave } from './held.js';
import { Incoming } from './incoming.js';
import { Outgoing } from './outgoing.js';
import { neededBy } from './places.js';
import { iterable, reach } from './remote.js';
import { pack, packError } from './wire.js';

/** @typedef {import('./held.js').Scope} Scope */

/** @typedef {{ resolve: (value: any) => void, reject: (error: unknown) => void, target: object | undefined, needed: Set<object>, scope: Scope, isLast: boolean, hasFailed?: boolean, abort?: { signal: AbortSignal, number: number } }} Pending needed: what stands for the other side's objects in it */

/** @typedef {{ call: number, id: number, path: string[], how: 'call' | 'new' | 'get' | 'set', args: unknown[] }} Call */

/** Why a call fails whose arguments, or whose result, could not be read on the other side. */
const unread =
  'a message could not be read where it arrived: it is too deep, or had no room; expected smaller arguments and results';

/** What they ask for has happened if the other side has ended. */
const lastCalls = ['dispose', 'return'];

/** One side of a conversation: calls what the other side holds, and answers its calls. */
export class Endpoint {
  #post;
  #lastId = 0;
  /** Below 0: the other side numbers the rest. */
  #lastDerived = 0;
  #abortsPosted = 0;
  #abortsHeard = 0;
  /** Calls that were not answered. @type {Map<number, Pending>} */
  #pending = new Map();
  /** Calls of the other side that are under way. @type {Set<number>} */
  #answering = new Set();
  #held;
  #outgoing;
  #incoming;
  /** @type {unknown} why no call can be made any more */
  #ended;
  /** Of the engine on the other side, as the calls so far have set them. */
  modes = new RecordingModes();

  /**
   * @param {(message: object, transfers: Transferable[]) => void} post
   * @param {object} [root] what the other side begins with
   */
  constructor(post, root) {
    this.#post = post;
    this.#held = new Held(root);
    this.#outgoing = new Outgoing(this, this.#held);
    this.#incoming = new Incoming(this, this.#held);
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
    for (const { resolve, reject, scope, isLast } of this.#pending.values()) {
      if (isLast) resolve(undefined);
      else reject(reason);
      leave(scope);
    }
    this.#pending.clear();
    this.#incoming.leaveAll();
  }

  get hasEnded() {
    return this.#ended !== undefined;
  }

  /** @param {any} message from the other side */
  hear(message) {
    if (message.answer !== undefined) this.#settle(message);
    else if (message.call !== undefined) this.#answer(message);
    else if (message.abort !== undefined) this.#hearAbort(message);
    else if (message.derive !== undefined) this.#keep(message);
    else if (message.waits !== undefined) this.#compare(message);
    else this.#held.letGo(message.drop)?.dispose?.();
  }

  /** A message could not be read. It may have been a call or an answer: both sides tell what they wait for. */
  hearUnread() {
    this.#post({ waits: [...this.#pending.keys()], asks: true }, []);
  }

  /**
   * Fails calls that never came, or whose answer could not be read. An answer that is still on its way arrives before this one,
   * and counts.
   * @param {{ waits: number[], asks: boolean }} message
   */
  #compare({ waits, asks }) {
    for (const call of waits.filter((each) => !this.#answering.has(each)))
      this.#post({ answer: call, error: packError(new HeadwiseError('ERR_VALUE', unread)) }, []);
    if (asks) this.#post({ waits: [...this.#pending.keys()], asks: false }, []);
  }

  /** @param {number} id of an object that nothing stands for any more */
  drop(id) {
    this.#incoming.leave(id);
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
    const isLast = how === 'call' && lastCalls.includes(path[path.length - 1]);
    if (isLast && this.hasEnded) return iterable(Promise.resolve());
    const call = ++this.#lastId;
    /** @type {Scope} */
    const scope = [];
    const needed = new Set(target === undefined ? [] : [target]);
    const answer = new Promise((resolve, reject) => {
      this.#pending.set(call, { resolve, reject, target, needed, scope, isLast });
      try {
        this.#ask({ call, id, path, how, args }, scope, needed);
        this.waits(this.#pending.size > 0);
      } catch (error) {
        this.#pending.delete(call);
        leave(scope);
        throw error;
      }
    });
    return iterable(answer);
  }

  /** @param {Call} message @param {Scope} scope @param {Set<object>} needed what its arguments need is added */
  #ask({ call, id, path, how, args }, scope, needed) {
    if (this.hasEnded) throw this.#ended;
    const name = path.join('.') || 'a callback';
    /** @type {Set<Transferable>} */
    const transfers = new Set();
    const note = (/** @type {object} */ object) => {
      for (const one of neededBy(object)) needed.add(one);
      return object;
    };
    const packObject = (/** @type {object} */ object) =>
      this.#outgoing.lend(note(object), scope, call);
    const packRecorded = (/** @type {object} */ tensor) =>
      this.#outgoing.lendRecorded(note(tensor));
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
      const problem = `an argument cannot be posted to the Worker (${/** @type {Error} */ (cause).message})`;
      const expected = 'tensors, numbers, texts, and arrays and plain objects of them';
      throw new HeadwiseError('ERR_VALUE', `${name}: ${problem}; expected ${expected}`, { cause });
    }
  }

  /** @param {{ answer: number, value?: unknown, error?: unknown, aborts: number }} message */
  #settle(message) {
    const { answer, value } = message;
    const pending = this.#pending.get(answer);
    if (pending === undefined) return;
    const { resolve, reject, target, needed, scope, abort } = pending;
    // It ended before it heard of the abort, at which it would have rejected or given less.
    const isTooLate = abort !== undefined && message.aborts < abort.number;
    this.#pending.delete(answer);
    this.waits(this.#pending.size > 0);
    try {
      if ('error' in message) reject(this.#incoming.unpack(message.error, scope));
      else if (isTooLate) reject(abort.signal.reason);
      else resolve(this.#incoming.unpack(value, scope, target, needed));
    } catch (problem) {
      reject(problem);
    }
    leave(scope);
    const { $, id } = /** @type {any} */ (value ?? {});
    if ((pending.hasFailed || isTooLate) && ['object', 'iterator'].includes($)) this.drop(id);
  }

  /** @param {Call} message */
  async #answer({ call, id, path, how, args }) {
    /** @type {Scope} */
    const scope = [];
    this.#answering.add(call);
    try {
      if (!this.#held.has(id)) {
        throw new HeadwiseError('ERR_DISPOSED', 'a callback was called after its call had ended');
      }
      const target = this.#held.get(id);
      const own = args.map((value) => this.#incoming.unpack(value, scope));
      const result = await reach(target, path, how, own);
      /** @type {Set<Transferable>} */
      const transfers = new Set();
      const packObject = (/** @type {object} */ object) => this.#outgoing.give(object, scope);
      const packRecorded = (/** @type {object} */ tensor) => this.#outgoing.giveRecorded(tensor);
      const given = { transfers, moves: true, packObject, packRecorded };
      const value = result === target ? { $: 'self' } : pack(result, given);
      this.#post({ answer: call, value, aborts: this.#abortsHeard }, [...transfers]);
    } catch (error) {
      this.#post({ answer: call, error: this.#outgoing.packError(error) }, []);
    }
    this.#answering.delete(call);
    leave(scope);
  }

  /**
   * Calls a method whose result is known here. Later calls may name it at once.
   * @param {number} id of an object of the other side
   * @param {string} name
   * @param {unknown[]} args plain
   * @returns {number} of the result there
   */
  derive(id, name, args) {
    const derive = --this.#lastDerived;
    this.#post({ derive, id, name, args }, []);
    return derive;
  }

  /** @param {{ derive: number, id: number, name: string, args: unknown[] }} message */
  #keep({ derive, id, name, args }) {
    try {
      this.#held.keep(derive, this.#held.get(id)[name](...args));
    } catch (error) {
      this.#held.keep(derive, error); // No memory: it is refused where it is used.
    }
  }

  // Of what was lent

  /** @param {number} call whose callback failed @param {unknown} error */
  failCall(call, error) {
    const pending = this.#pending.get(call);
    if (pending !== undefined) pending.hasFailed = true;
    pending?.reject(error);
  }

  /** @param {{ abort: number, reason: unknown }} message */
  #hearAbort({ abort, reason }) {
    this.#abortsHeard++;
    this.#incoming.abort(abort, reason);
  }

  /** @param {number} id of a signal that has aborted @param {AbortSignal} signal @param {number} call it was lent with */
  abort(id, signal, call) {
    const number = ++this.#abortsPosted;
    const pending = this.#pending.get(call);
    if (pending !== undefined) pending.abort = { signal, number };
    this.#post({ abort: id, reason: this.#outgoing.packError(signal.reason) }, []);
  }
}
