import { finalizers, pressCollector } from './dispose.js';
import { modesOfEngines } from '../autograd/record.js';
import { RecordingModes } from '../autograd/recording-modes.js';
import { HeadwiseError } from '../checks/error.js';
import { checkUnchanged } from '../checks/foreign.js';
import { noArray, sizeOf } from '../tensor/shape.js';
import { tensorOf } from '../tensor/tensor.js';
import { importsMemory, sharedMemory } from './wanted-threads.js';

/** @typedef {import('../tensor/operand.js').Operand} Operand */
/** @typedef {import('../tensor/operand.js').IdsOperand} IdsOperand */

/** hw_status of include/headwise.h. */
const statusCodes = /** @type {const} */ ([undefined, 'ERR_SHAPE', 'ERR_VALUE', 'ERR_MEMORY']);

/** A result of fewer is copied faster by slice, of more by the constructor. */
const fewFloats = 1024;

/** Every array in staging memory begins at a multiple of this many bytes. */
const alignment = 16;

/**
 * What an array takes in staging memory, so that the next one begins where it may.
 * @type {(bytes: number) => number}
 */
export const aligned = (bytes) => bytes + (-bytes & (alignment - 1));

/**
 * @param {Operand | IdsOperand | number | undefined} part of staging memory
 * @returns {number} its bytes
 */
export function bytesOf(part) {
  if (typeof part !== 'object') {
    return part ?? 0;
  }
  return part.dtype === 'bool' ? part.size : 4 * part.size;
}

/**
 * What ends an engine's threads. Made here, where nothing is at hand that would keep the engine alive.
 * @param {() => void} stop
 * @param {import('./threads.js').Crew} crew
 */
const teamEnder = (stop, crew) => () => {
  // Inside the module workers are deaf, and some browsers take seconds to end such a one.
  stop();
  crew.end();
};

/**
 * One instance of the wasm module and its memory. With the modules and traces built on it, the only code that knows
 * addresses. Arguments are checked before they come here; a status that comes back all the same becomes an error.
 */
export class Engine {
  #floats = new Float32Array(0);
  #bytes = new Uint8Array(0);
  #words = new Uint32Array(0);
  #staging = 0;
  #capacity = 0;
  #isShared = false;
  #growthsAt = 0;
  #growths = 0;
  /** @type {(() => void) | undefined} */
  #endTeam;
  /** @type {unknown} what ended the engine, if that was a thread's death */
  #failure;
  modes = new RecordingModes();
  /** What results that were recorded hold. */
  graphBytes = 0;

  /**
   * @param {WebAssembly.Module} module
   * @param {WebAssembly.Memory} [given] for a module that imports it; default: a new one
   * @returns {Promise<Engine>}
   */
  static async start(module, given) {
    try {
      const memory = given ?? (importsMemory(module) ? sharedMemory() : undefined);
      const instance = await WebAssembly.instantiate(module, memory && { env: { memory } });
      return new Engine(instance.exports, memory);
    } catch (cause) {
      if (cause instanceof HeadwiseError) {
        throw cause;
      }
      // Not instanceof: another realm's WebAssembly throws its own.
      const code = /** @type {Error} */ (cause).name === 'RangeError' ? 'ERR_MEMORY' : 'ERR_LOAD';
      throw new HeadwiseError(
        code,
        `wasm does not start (${/** @type {Error} */ (cause).message}); expected Headwise's module`,
        { cause },
      );
    }
  }

  /** @param {WebAssembly.Exports} exports @param {WebAssembly.Memory} [memory] */
  constructor(exports, memory = /** @type {WebAssembly.Memory} */ (exports.memory)) {
    /** @type {import('./abi.js').Exports | undefined} */
    this.exports = /** @type {any} */ (exports);
    this.memory = memory;
    if (typeof exports._initialize !== 'function' || typeof exports.engine_start !== 'function') {
      throw new HeadwiseError(
        'ERR_LOAD',
        "wasm lacks functions that this version calls; expected Headwise's module",
      );
    }
    this.call._initialize();
    this.check(this.call.engine_start(), 'the engine');
    this.resultSlot = this.call.result_address() >>> 0;
    modesOfEngines.add(this.modes);
    finalizers.register(this, modesOfEngines.delete.bind(modesOfEngines, this.modes), this);
    this.#isShared = memory !== exports.memory;
    if (this.#isShared) {
      this.#growthsAt = (this.call.growths_address() >>> 0) / 4;
      this.#makeViews();
    }
  }

  /**
   * Shares the work with the crew from now on.
   * @param {import('./threads.js').Crew} crew that has joined
   */
  startTeam(crew) {
    const { call } = this;
    this.check(call.team_start(crew.threads, crew.mebilooks), 'the threads');
    crew.begin((thread) => call.team_stack(thread) >>> 0);
    this.#endTeam = teamEnder(call.team_stop, crew);
    finalizers.register(this, this.#endTeam, this);
    // A call that waits for a thread that has died ends in a trap.
    this.exports = /** @type {any} */ (
      Object.fromEntries(
        Object.entries(call).map(([name, run]) => [
          name,
          (/** @type {any[]} */ ...values) => this.#try(run, values),
        ]),
      )
    );
  }

  /** @param {(...values: any[]) => unknown} run @param {any[]} values */
  #try(run, values) {
    try {
      return run(...values);
    } catch (cause) {
      this.dispose();
      this.#failure = cause;
      throw this.#end;
    }
  }

  /** Why nothing can be called any more. */
  get #end() {
    const cause = this.#failure;
    return cause
      ? new HeadwiseError('ERR_LOAD', 'a thread of the engine died; load() starts another', {
          cause,
        })
      : new HeadwiseError('ERR_DISPOSED', 'the engine was disposed of; load() starts another');
  }

  /** @throws {HeadwiseError} ERR_DISPOSED, ERR_LOAD: nothing can be called any more */
  checkAlive() {
    if (this.exports === undefined) {
      throw this.#end;
    }
  }

  /** The module's functions. */
  get call() {
    this.checkAlive();
    return /** @type {import('./abi.js').Exports} */ (this.exports);
  }

  /**
   * @param {string} what
   * @param {string} remedy
   * @returns {HeadwiseError} why it cannot be used: it was disposed of, or the engine has ended
   */
  gone(what, remedy) {
    return this.disposed
      ? this.#end
      : new HeadwiseError('ERR_DISPOSED', `the ${what} was disposed of; ${remedy}`);
  }

  get disposed() {
    return this.exports === undefined;
  }

  /** Whether what results came from is kept, for backward. */
  get isRecording() {
    return this.modes.latest;
  }

  dispose() {
    modesOfEngines.delete(this.modes);
    this.modes = new RecordingModes();
    finalizers.unregister(this);
    this.#endTeam?.();
    this.#endTeam = undefined;
    this.exports = undefined;
    this.#failure = undefined;
    this.#capacity = 0;
    this.memory = /** @type {any} */ (undefined);
    this.#floats = new Float32Array(0);
    this.#bytes = new Uint8Array(0);
    this.#words = new Uint32Array(0);
  }

  #makeViews() {
    this.checkAlive();
    const { buffer } = this.memory;
    this.#floats = new Float32Array(buffer);
    this.#bytes = new Uint8Array(buffer);
    this.#words = new Uint32Array(buffer);
    this.#growths = this.#words[this.#growthsAt];
  }

  /* Growth detaches the views of a memory of one thread; those of a shared one it leaves as they are, too short. */
  #refreshViews() {
    const stale = this.#isShared
      ? this.#words[this.#growthsAt] !== this.#growths
      : this.#words.length === 0;
    if (stale) {
      this.#makeViews();
    }
  }

  get floats() {
    this.#refreshViews();
    return this.#floats;
  }

  get bytes() {
    this.#refreshViews();
    return this.#bytes;
  }

  get words() {
    this.#refreshViews();
    return this.#words;
  }

  /**
   * @param {number} status hw_status
   * @param {string} what what was being done or made
   * @param {string} [problem] the message if what was given cannot be used
   */
  check(status, what, problem = `${what}: sizes or values that the engine cannot use`) {
    const code = statusCodes[status];
    if (code === 'ERR_MEMORY') {
      // Large inputs would leave no room for anything after them.
      this.#releaseStaging();
      throw this.#noMemory(what);
    }
    if (code !== undefined) {
      throw new HeadwiseError(code, problem);
    }
  }

  /**
   * Has unreachable objects collected, so that the next try finds room.
   * @param {string} what was being done or made
   */
  #noMemory(what) {
    pressCollector(2 ** 30);
    const message = `not enough memory for ${what}; what was loaded is still there`;
    return new HeadwiseError('ERR_MEMORY', `${message}${this.#held()}`);
  }

  /** Tells of memory that the caller may not know of. */
  #held() {
    const { graphBytes } = this;
    if (graphBytes === 0) {
      return '';
    }
    const held = `recorded results without a backward hold ${Math.ceil(graphBytes / 1e6)} MB`;
    return `, and ${held}: use hw.noGrad where none is needed`;
  }

  #releaseStaging() {
    this.call.staging_release();
    this.#capacity = 0;
  }

  /**
   * @param {() => number} run lays its input, and calls the engine
   * @returns {number} its status: of a second time where memory lacked that inputs and results of earlier calls took
   */
  withIdleMemory(run) {
    const status = run();
    if (statusCodes[status] !== 'ERR_MEMORY') {
      return status;
    }
    this.#releaseStaging();
    return run();
  }

  /** The address of what the last call created. */
  get result() {
    return this.words[this.resultSlot / 4];
  }

  /** @param {number} total bytes */
  #grow(total) {
    const { call } = this;
    // More than an address can hold would wrap on its way to the module.
    if (total < 2 ** 32) {
      this.#staging = call.staging_reserve(total) >>> 0;
      this.#capacity = call.staging_capacity() >>> 0;
    }
    if (total > this.#capacity) {
      throw this.#noMemory(`${total} bytes of inputs and results`);
    }
  }

  /**
   * Room in staging memory, until the next call of this.
   * @param {number} bytes
   * @returns {number} its address
   */
  stage(bytes) {
    if (bytes > this.#capacity) {
      this.#grow(bytes);
    }
    return this.#staging;
  }

  /**
   * @param {number} address
   * @param {Operand | IdsOperand} source
   * @throws {HeadwiseError} ERR_SHAPE: it has not the elements any more that it had when room was asked for
   */
  write(address, { dtype, data, size }) {
    checkUnchanged(data, size);
    if (dtype === 'float32') {
      this.floats.set(data, address / 4);
    } else if (dtype === 'bool') {
      this.bytes.set(data, address);
    } else {
      this.words.set(data, address / 4);
    }
  }

  /**
   * Lays arrays one after another into staging memory.
   * @param {readonly (Operand | IdsOperand | number | undefined)[]} parts number: room for so many bytes
   * @returns {number[]} their addresses, 0 of what is undefined
   */
  lay(parts) {
    // Empty arrays have addresses too.
    let bytes = alignment;
    for (let i = 0; i < parts.length; i++) {
      bytes += aligned(bytesOf(parts[i]));
    }
    let at = this.stage(bytes);
    const addresses = [];
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i];
      addresses.push(part === undefined ? 0 : at);
      if (typeof part === 'object') {
        this.write(at, part);
      }
      at += aligned(bytesOf(part));
    }
    return addresses;
  }

  /**
   * A float32 tensor of a copy.
   * @param {number} address
   * @param {readonly number[]} shape it is frozen
   * @param {number} [length] elements of the shape, if known
   */
  read(address, shape, length = sizeOf(shape, 'the result')) {
    const { floats } = this;
    const start = address / 4;
    const end = start + length;
    try {
      const copy =
        length < fewFloats
          ? floats.slice(start, end)
          : new Float32Array(floats.subarray(start, end));
      return tensorOf(copy, shape);
    } catch (cause) {
      throw noArray(length, cause);
    }
  }
}
