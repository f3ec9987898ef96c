import { modules } from '../engine/abi.js';
import { checkBoolean, checkOptions } from '../checks/check.js';
import { checkUnchanged } from '../checks/foreign.js';
import { addressOf, Owned } from '../engine/owned.js';
import { writeStruct } from '../engine/struct.js';
import { ModulePlace, Parameter } from './parameter.js';
import { matchState } from './state.js';
import { listParameters, readParameter, writeParameter } from './parameters.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('./parameter.js').Place} Place */
/** @typedef {import('./parameters.js').Parameter} Entry */

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
  /** @type {readonly Entry[] | undefined} listed when they are asked for */
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

  /** @type {readonly ModulePlace[] | undefined} made when they are asked for */
  #places;

  /** @internal Whether gradients lead to a parameter. */
  get trains() {
    return this.#places === undefined || this.#places.some((place) => place.requiresGrad);
  }

  /** @internal Backwards give every parameter a gradient, frozen ones too. */
  forgetFrozen() {
    this.#places?.filter((place) => !place.requiresGrad).forEach((place) => place.clearGrad());
  }

  /** @internal @returns {readonly Place[]} */
  get places() {
    this.checkAlive();
    this.#places ??= this.parameterList.map((entry) => new ModulePlace(this, entry));
    return this.#places;
  }

  /**
   * What the module learns, in the state dict's order.
   * @returns {Parameter[]}
   * @throws {HeadwiseError} ERR_DISPOSED
   */
  parameters() {
    return this.places.map((place) => new Parameter(place.name, place));
  }

  /**
   * The same as `parameters`: each knows its name.
   * @returns {Parameter[]}
   * @throws {HeadwiseError} ERR_DISPOSED
   */
  namedParameters() {
    return this.parameters();
  }

  /**
   * Forgets the gradients of all parameters.
   * @throws {HeadwiseError} ERR_DISPOSED
   */
  zeroGrad() {
    this.places.forEach((place) => place.clearGrad());
  }

  /**
   * Copies whole rows of a parameter in.
   * @internal
   * @param {Entry} parameter
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
    const tensors = matchState(dict, /** @type {any} */ (this), parameters);
    // Reading the dict may have ended the module. Reserve the most room any parameter needs first, so that nothing fails half-way.
    const { engine, pointer } = this;
    engine.stage(parameters.reduce((most, { size }) => Math.max(most, size * 4), 0));
    tensors.forEach(({ data, size: elements }) => checkUnchanged(data, elements));
    parameters.forEach((parameter, i) => writeParameter(engine, pointer, parameter, tensors[i]));
    return this;
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
