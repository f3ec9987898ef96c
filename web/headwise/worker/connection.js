import { HeadwiseError } from '../checks/error.js';
import { reading } from '../checks/foreign.js';
import { whyNoWorker } from '../engine/hints.js';
import { startNodeWorker } from '../engine/node.js';
import { pack, unpack } from './wire.js';

/**
 * @typedef {object} Pending
 * @property {(value: any) => void} resolve
 * @property {(error: unknown) => void} reject
 * @property {object | undefined} target whose method was called
 */

/** An object of the Worker as it arrives: ./host.js, keep. */
/** @typedef {{ id: number, name: string, has: { methods: Set<string>, values: Set<string>, constants: Record<string, unknown>, classes: Record<string, string[]> } }} Arrived */

/** Those that wait for an answer, which nobody else may hold. @type {Set<Connection>} */
const waiting = new Set();

/** Nets under those who forget to dispose: a Worker that nobody can reach ends, an object in it is freed. */
const workers = new FinalizationRegistry((/** @type {any} */ worker) => worker.terminate());
const remotes = new FinalizationRegistry(
  (/** @type {{ connection: WeakRef<Connection>, id: number }} */ { connection, id }) =>
    connection.deref()?.drop(id),
);

/** Where the objects that stand for the Worker's are. @type {WeakMap<object, { connection: Connection, id: number, name: string }>} */
const places = new WeakMap();

class RemoteObject {
  /** What it is, for consoles; Vue makes no proxy of what says so. */
  get [Symbol.toStringTag]() {
    return 'RemoteObject';
  }
}

/**
 * What stands for a class of the Worker's. Its instances live there, so that no class here can add to them.
 * @param {string} name
 * @param {(args: unknown[]) => Promise<any>} construct
 */
function remoteClass(name, construct) {
  // Not an arrow: it is called with new.
  return function Remote(/** @type {unknown[]} */ ...args) {
    if (new.target !== undefined && new.target !== Remote) {
      const problem = `${name}: classes of headwise/worker cannot be extended`;
      const expected = `new ${name}(options), or a class that extends one of headwise`;
      throw new HeadwiseError('ERR_VALUE', `${problem}; expected ${expected}`);
    }
    return construct(args);
  };
}

/** @returns {Promise<any>} */
async function startWorker() {
  if (globalThis.Worker !== undefined) {
    // Written out so that bundlers follow it.
    return new Worker(new URL('./host.js', import.meta.url), { type: 'module' });
  }
  return startNodeWorker(import.meta.url, 'host.js');
}

/** One Worker, and calls to what is in it. */
export class Connection {
  #worker;
  #lastCall = 0;
  /** @type {Map<number, Pending>} */
  #pending = new Map();
  /** @type {unknown} why no call can be made any more */
  #ended;

  static async start() {
    try {
      return new Connection(await startWorker());
    } catch (cause) {
      const why = whyNoWorker(/** @type {Error} */ (cause), import.meta.url);
      throw new HeadwiseError('ERR_LOAD', `a Worker could not be started: ${why}`, { cause });
    }
  }

  /** @param {any} worker */
  constructor(worker) {
    this.#worker = worker;
    // The Worker must not hold what its end depends on.
    const self = new WeakRef(this);
    const hear = (/** @type {any} */ data) => self.deref()?.hear(data);
    const fail = (/** @type {{ message?: string }} */ failure) =>
      self.deref()?.fail(whyNoWorker(failure, import.meta.url));
    if (typeof worker.on === 'function') {
      worker.on('message', hear);
      worker.on('error', fail);
      worker.on('exit', () => fail({ message: 'it ended' }));
      worker.unref();
    } else {
      worker.onmessage = (/** @type {MessageEvent} */ { data }) => hear(data);
      worker.onerror = (/** @type {ErrorEvent} */ event) => {
        event.preventDefault();
        fail(event);
      };
      worker.onmessageerror = () => fail({ message: 'an answer could not be read' });
    }
    workers.register(this, worker, this);
  }

  /**
   * @internal
   * @param {string} message
   */
  fail(message) {
    this.end(
      new HeadwiseError(
        'ERR_LOAD',
        `the engine's Worker failed: ${message}; load() starts another`,
      ),
    );
  }

  /**
   * Ends the Worker.
   * @param {unknown} reason what all who wait, and all later calls, are told
   */
  end(reason) {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    workers.unregister(this);
    this.#worker.terminate();
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
    waiting.delete(this);
  }

  /**
   * @param {number} id of an object in the Worker
   * @param {string[]} path from it
   * @param {'call' | 'new' | 'get'} how
   * @param {unknown[]} args
   * @param {object} [target] what stands for the object here
   * @returns {Promise<any>}
   */
  send(id, path, how, args, target) {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) throw this.#ended;
      /** @type {Set<Transferable>} */
      const transfers = new Set();
      const packObject = (/** @type {object} */ object) => this.#packObject(object);
      const packed = reading(
        () => args.map((value) => pack(value, { transfers, moves: false, packObject })),
        path.join('.'),
        'arguments that can be posted',
      );
      // Reading them may have ended the Worker, of which no answer would come.
      if (this.#ended !== undefined) throw this.#ended;
      const call = ++this.#lastCall;
      try {
        this.#worker.postMessage({ call, id, path, how, args: packed }, [...transfers]);
      } catch (cause) {
        const message = `${path.join('.')}: ${/** @type {Error} */ (cause).message}`;
        throw new HeadwiseError('ERR_VALUE', message, { cause });
      }
      this.#pending.set(call, { resolve, reject, target });
      waiting.add(this);
      this.#worker.ref?.();
    });
  }

  /** @param {number} id */
  drop(id) {
    if (this.#ended === undefined) this.#worker.postMessage({ drop: id });
  }

  /** @param {object} object */
  #packObject(object) {
    const place = places.get(object);
    if (place === undefined) return object;
    if (place.connection !== this) {
      const found = `an argument is a ${place.name} of another engine`;
      throw new HeadwiseError('ERR_VALUE', `${found}; expected one of this engine`);
    }
    return { $: 'object', id: place.id };
  }

  /**
   * @internal
   * @param {{ call: number, value?: unknown, error?: { code?: any, message: string } }} data
   */
  hear({ call, value, error }) {
    const pending = this.#pending.get(call);
    if (pending === undefined) return;
    this.#pending.delete(call);
    if (this.#pending.size === 0) {
      waiting.delete(this);
      // Node: idle, it does not keep the process alive.
      this.#worker.unref?.();
    }
    if (error !== undefined) {
      const { code, message } = error;
      pending.reject(code ? new HeadwiseError(code, message) : new Error(message));
    } else {
      const here = (/** @type {any} */ packed) =>
        packed.$ === 'self' ? pending.target : this.#remote(packed);
      pending.resolve(unpack(value, here));
    }
  }

  /**
   * What stands for an object of the Worker.
   * @param {Arrived} arrived
   */
  #remote({ id, name, has }) {
    /** @type {Record<PropertyKey, any>} */
    const remote = Object.assign(new RemoteObject(), has.constants);
    for (const method of has.methods) {
      remote[method] = (/** @type {unknown[]} */ ...args) =>
        this.send(id, [method], 'call', args, remote);
    }
    for (const value of has.values) {
      Object.defineProperty(remote, value, { get: () => this.send(id, [value], 'get', []) });
    }
    for (const [of, statics] of Object.entries(has.classes)) {
      remote[of] = remoteClass(of, (args) => this.send(id, [of], 'new', args));
      for (const method of statics) {
        remote[of][method] = (/** @type {unknown[]} */ ...args) =>
          this.send(id, [of, method], 'call', args);
      }
    }
    places.set(remote, { connection: this, id, name });
    remotes.register(remote, { connection: new WeakRef(this), id });
    return remote;
  }
}
