import { checkBoolean, checkFloats } from '../check.js';
import { describe } from '../describe.js';
import { disposeSymbol } from '../dispose.js';
import { HeadwiseError } from '../error.js';

/** @typedef {import('../engine.js').Engine} Engine */
/** @typedef {import('../tensor.js').Tensor} Tensor */

/**
 * @typedef {object} Parameter
 * @property {string} key its name in the state dict, torch's
 * @property {readonly number[]} shape torch's
 * @property {number} staged bytes of staging memory that reading and writing need
 * @property {(engine: Engine) => Tensor} read
 * @property {(engine: Engine, value: Tensor) => void} write
 */

/** @type {(shape: readonly number[]) => number} */
const size = (shape) => shape.reduce((product, n) => product * n, 1);

/**
 * Creates by an export that leaves the module's address in the result slot.
 * @param {Engine} engine
 * @param {string} create
 * @param {(number | boolean)[]} values
 * @param {string} what for the message
 */
export function createModule(engine, create, values, what) {
  engine.check(engine.call[create](...values), what);
  return engine.result;
}

/**
 * An array that a module keeps as it is.
 * @param {string} key
 * @param {number} address
 * @param {readonly number[]} shape
 * @returns {Parameter}
 */
export const arrayParameter = (key, address, shape) => ({
  key,
  shape,
  staged: 0,
  read: (engine) => engine.read(address, shape),
  write: (engine, value) => engine.write(address, value),
});

/**
 * Rows of an hw_linear's weight, or of its bias: they are packed, and copied by way of staging memory.
 * @param {string} key
 * @param {{ linear: number, firstRow: number }} place
 * @param {readonly number[]} shape [rows, inFeatures] of a weight, [rows] of a bias
 * @returns {Parameter}
 */
export function packedParameter(key, { linear, firstRow }, shape) {
  const staged = size(shape) * 4;
  /** @type {(engine: Engine, copy: 'linear_load' | 'linear_store', at: number, what: string) => void} */
  const copyRows = (engine, copy, at, what) => {
    const [weight, bias] = shape.length === 2 ? [at, 0] : [0, at];
    engine.check(engine.call[copy](linear, firstRow, shape[0], weight, bias), what);
  };
  return {
    key,
    shape,
    staged,
    read(engine) {
      const at = engine.stage(staged);
      copyRows(engine, 'linear_store', at, 'stateDict');
      return engine.read(at, shape);
    },
    write(engine, value) {
      const at = engine.stage(staged);
      engine.write(at, value);
      copyRows(engine, 'linear_load', at, 'loadStateDict');
    },
  };
}

/**
 * The parameters of `rows` rows of one hw_linear.
 * @param {string} name such as W_query; empty for the module itself
 * @param {{ linear: number, firstRow?: number, rows: number, inFeatures: number, bias: boolean }} place
 * @returns {Parameter[]}
 */
export function linearParameters(name, { linear, firstRow = 0, rows, inFeatures, bias }) {
  const prefix = name === '' ? '' : `${name}.`;
  const place = { linear, firstRow };
  const weight = packedParameter(`${prefix}weight`, place, [rows, inFeatures]);
  return bias ? [weight, packedParameter(`${prefix}bias`, place, [rows])] : [weight];
}

/** What all modules share: parameters, mode and end of life. */
export class Module {
  /** @type {number} */
  #pointer;
  /** @type {Parameter[]} */
  #parameters;
  #destroy;
  #train;

  /**
   * @internal
   * @param {Engine} engine
   * @param {object} created
   * @param {number} created.pointer the module's address
   * @param {string} created.destroy the export that frees it
   * @param {string} [created.train] the export that sets its mode, if it has modes
   * @param {Parameter[]} created.parameters in torch's order
   */
  constructor(engine, { pointer, destroy, train, parameters }) {
    /** @internal */
    this.engine = engine;
    Object.defineProperty(this, 'engine', { enumerable: false });
    this.#pointer = pointer;
    this.#destroy = destroy;
    this.#train = train;
    this.#parameters = parameters;
    engine.catchForgotten(this, destroy, pointer);
    /** Whether dropout is active; as in torch, a new module is in training mode. */
    this.training = true;
  }

  /** @protected */
  get pointer() {
    return this.engine.live(this.#pointer, this.constructor.name);
  }

  /**
   * Keys that are accepted for others on loading.
   * @protected
   * @param {string} key
   */
  canonicalKey(key) {
    return key;
  }

  /**
   * Entries of torch's state dicts that say nothing new of this module are checked and left out on loading.
   * @protected
   * @param {string} _key
   * @param {unknown} _value
   * @throws {HeadwiseError} the entry says something else than this module does
   */
  ignoresEntry(_key, _value) {
    return false;
  }

  /**
   * The parameters, copied: what torch's state_dict gives.
   * @returns {Record<string, Tensor>} under torch's names and in torch's shapes
   */
  stateDict() {
    void this.pointer;
    return Object.fromEntries(this.#parameters.map(({ key, read }) => [key, read(this.engine)]));
  }

  /**
   * Copies parameters in, strictly: all keys, no others, torch's shapes; or nothing is changed.
   * @param {Record<string, Tensor>} dict float32, as `stateDict` gives it; copied
   * @returns {this}
   * @throws {HeadwiseError} ERR_VALUE names missing and unexpected keys, ERR_SHAPE misshapen ones
   */
  loadStateDict(dict) {
    void this.pointer;
    const tensors = this.#match(dict);
    // All the room there will be need for, so that nothing fails half-way.
    this.engine.stage(this.#parameters.reduce((most, { staged }) => Math.max(most, staged), 0));
    this.#parameters.forEach(({ write }, i) => write(this.engine, tensors[i]));
    return this;
  }

  /**
   * @param {unknown} dict
   * @returns {Tensor[]} in the parameters' order
   */
  #match(dict) {
    if (typeof dict !== 'object' || dict === null) {
      throw new HeadwiseError(
        'ERR_VALUE',
        `dict is ${describe(dict)}; expected an object of tensors`,
      );
    }
    const given = new Map(
      Object.entries(dict)
        .filter(([key, value]) => !this.ignoresEntry(key, value))
        .map(([key, value]) => [this.canonicalKey(key), value]),
    );
    const keys = this.#parameters.map(({ key }) => key);
    const missing = keys.filter((key) => !given.has(key));
    const expected = new Set(keys);
    const unexpected = [...given.keys()].filter((key) => !expected.has(key));
    const misshapen = this.#parameters
      .filter(({ key }) => given.has(key))
      .filter(
        ({ key, shape }) => describe(checkFloats(given.get(key), key).shape) !== describe(shape),
      );
    const problems = [
      ...(missing.length > 0 ? [`missing: ${missing.join(', ')}`] : []),
      ...(unexpected.length > 0 ? [`unexpected: ${unexpected.join(', ')}`] : []),
      ...misshapen.map(
        ({ key, shape }) =>
          `${key} has shape ${describe(given.get(key).shape)}, expected ${describe(shape)}`,
      ),
    ];
    if (problems.length > 0) {
      const code = missing.length + unexpected.length > 0 ? 'ERR_VALUE' : 'ERR_SHAPE';
      throw new HeadwiseError(
        code,
        `dict does not fit ${this.constructor.name}: ${problems.join('; ')}`,
      );
    }
    return keys.map((key) => given.get(key));
  }

  /**
   * How many numbers there are in all parameters.
   * @returns {number}
   */
  parameterCount() {
    void this.pointer;
    return this.#parameters.reduce((sum, { shape }) => sum + size(shape), 0);
  }

  /**
   * Sets training mode, in which dropout is active.
   * @param {boolean} [mode] default true
   * @returns {this}
   */
  train(mode = true) {
    const { pointer } = this;
    this.training = checkBoolean(mode, 'mode');
    if (this.#train !== undefined) {
      this.engine.call[this.#train](pointer, mode);
    }
    return this;
  }

  /**
   * Sets evaluation mode, in which nothing is dropped: `train(false)`.
   * @returns {this}
   */
  eval() {
    return this.train(false);
  }

  /** Frees the module's memory; what it returned stays valid. Calls after this throw ERR_DISPOSED. */
  dispose() {
    this.engine.free(this.#destroy, this.#pointer, this);
    this.#pointer = 0;
  }

  /** `dispose`, for `using`. */
  [disposeSymbol]() {
    this.dispose();
  }
}
