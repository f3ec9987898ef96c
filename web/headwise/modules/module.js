import { modules } from '../engine/abi.js';
import { checkBoolean, checkOptions } from '../checks/check.js';
import { checkFloats } from '../tensor/operand.js';
import { classOf, describe } from '../checks/describe.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { checkUnchanged, entriesOf } from '../checks/foreign.js';
import { addressOf, Owned } from '../engine/owned.js';
import { writeStruct } from '../engine/struct.js';
import { sameShape } from '../tensor/shape.js';
import { listParameters, readParameter, writeParameter } from './parameters.js';

/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */
/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('./parameters.js').Parameter} Parameter */

/**
 * What a module is made of.
 * @typedef {object} Spec
 * @property {keyof typeof modules} kind
 * @property {Record<string, any>} config the engine's
 * @property {string} what it is, for messages
 * @property {boolean} [draw] false: leave the weights zero and the generator where it is
 */

/**
 * @param {Engine} engine
 * @param {Spec} spec
 * @returns {number} the address of a new module
 */
export function createModule(engine, { kind, config, what, draw = true }) {
  const { kind: number, config: layout } = modules[kind];
  const at = engine.stage(layout.bytes);
  writeStruct(engine, at, layout, config);
  engine.check(engine.call.module_create(number, at, draw), what);
  return engine.result;
}

/** What all modules share: parameters, mode and end of life. */
export class Module extends Owned {
  /** @type {readonly Parameter[] | undefined} listed when they are asked for */
  #parameters;

  /** @internal @param {Engine} engine @param {Spec} spec */
  constructor(engine, spec) {
    super(engine, createModule(engine, spec), 'module_destroy');
    /** @internal */
    this.engine = engine;
    Object.defineProperty(this, 'engine', {
      ...{ enumerable: false, writable: false, configurable: false },
    });
    /** Whether dropout is active; as in torch, a new module is in training mode. */
    this.training = true;
  }

  /**
   * @protected
   * @throws {HeadwiseError} ERR_DISPOSED, ERR_LOAD: the module or its engine is gone
   */
  checkAlive() {
    addressOf(this);
  }

  /** @internal */
  get pointer() {
    return addressOf(this);
  }

  /** @internal */
  get parameterList() {
    this.#parameters ??= listParameters(this.engine, this.pointer);
    return this.#parameters;
  }

  /**
   * Copies whole rows of a parameter in.
   * @internal
   * @param {Parameter} parameter
   * @param {Float32Array} data
   * @param {number} firstRow
   * @param {number} rows
   */
  loadRows(parameter, data, firstRow, rows) {
    const value = { dtype: /** @type {const} */ ('float32'), shape: [], data, size: data.length };
    writeParameter(this.engine, this.pointer, parameter, value, firstRow, rows);
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
    const { engine, pointer } = this;
    return Object.fromEntries(
      this.parameterList.map((parameter) => [
        parameter.key,
        readParameter(engine, pointer, parameter),
      ]),
    );
  }

  /**
   * Copies parameters in, strictly: all keys, no others, torch's shapes; or nothing is changed.
   * @param {Record<string, import('../tensor/tensor.js').AnyTensor>} dict float32, as `stateDict` gives it; copied
   * @param {Record<string, never>} [options] there are none: torch's `strict: false` and the like are refused
   * @returns {this}
   * @throws {HeadwiseError} ERR_VALUE names missing and unexpected keys, and options; ERR_SHAPE misshapen keys
   */
  loadStateDict(dict, options) {
    checkOptions(options, [], 'loadStateDict');
    const parameters = this.parameterList;
    const tensors = this.#match(dict);
    // Reading the dict may have ended the module. Reserve the most room any parameter needs first, so that nothing fails half-way.
    const { engine, pointer } = this;
    engine.stage(parameters.reduce((most, { size }) => Math.max(most, size * 4), 0));
    tensors.forEach(({ data, size: elements }) => checkUnchanged(data, elements));
    parameters.forEach((parameter, i) => writeParameter(engine, pointer, parameter, tensors[i]));
    return this;
  }

  /**
   * @param {unknown} dict
   * @returns {Map<string, unknown>} by the parameters' keys
   */
  #read(dict) {
    if (typeof dict !== 'object' || dict === null) {
      throw misfit(dict, 'dict', 'an object of tensors');
    }
    return new Map(
      entriesOf(dict, 'dict')
        .filter(([key, value]) => !this.ignoresEntry(key, value))
        .map(([key, value]) => [this.canonicalKey(key), value]),
    );
  }

  /**
   * @param {unknown} dict
   * @returns {FloatOperand[]} in the parameters' order
   */
  #match(dict) {
    const given = this.#read(dict);
    const keys = this.parameterList.map(({ key }) => key);
    const missing = keys.filter((key) => !given.has(key));
    const expected = new Set(keys);
    const unexpected = [...given.keys()].filter((key) => !expected.has(key));
    const tensors = new Map(
      keys.filter((key) => given.has(key)).map((key) => [key, checkFloats(given.get(key), key)]),
    );
    const misshapen = this.parameterList.flatMap(({ key, shape }) => {
      const found = tensors.get(key)?.shape ?? shape;
      const fits = sameShape(found, shape);
      return fits ? [] : [`${key} has shape ${describe(found)}, expected ${describe(shape)}`];
    });
    const problems = [
      ...(missing.length > 0 ? [`missing: ${missing.join(', ')}`] : []),
      ...(unexpected.length > 0 ? [`unexpected: ${unexpected.join(', ')}`] : []),
      ...misshapen,
    ];
    if (problems.length > 0) {
      const code = missing.length + unexpected.length > 0 ? 'ERR_VALUE' : 'ERR_SHAPE';
      throw new HeadwiseError(code, `dict does not fit ${classOf(this)}: ${problems.join('; ')}`);
    }
    return keys.map((key) => /** @type {FloatOperand} */ (tensors.get(key)));
  }

  /**
   * How many numbers there are in all parameters.
   * @returns {number}
   */
  parameterCount() {
    this.checkAlive();
    return this.parameterList.reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Sets training mode, in which dropout is active.
   * @param {boolean} [mode] default true
   * @returns {this}
   */
  train(mode = true) {
    const { pointer } = this;
    checkBoolean(mode, 'mode');
    this.engine.call.module_train(pointer, mode);
    this.training = mode;
    return this;
  }

  /**
   * Sets evaluation mode, in which nothing is dropped: `train(false)`.
   * @returns {this}
   */
  eval() {
    return this.train(false);
  }

  /** What it is, for consoles; Vue makes no proxy of what says so. */
  get [Symbol.toStringTag]() {
    return 'Module';
  }
}
