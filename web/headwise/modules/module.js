import { modules } from '../engine/abi.js';
import { checkBoolean, checkOptions } from '../checks/check.js';
import { checkUnchanged } from '../checks/foreign.js';
import { addressOf, hideEngine, Owned } from '../engine/owned.js';
import { writeStruct } from '../engine/struct.js';
import { ModulePlace, parameterOf } from './parameter.js';
import { matchState } from './state.js';
import { listParameters, writeParameter, writeRows } from './parameters.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('./parameter.js').Parameter} Parameter */
/** @typedef {import('./parameter.js').Place} Place */
/** @typedef {import('./parameters.js').Parameter} Entry */

/**
 * What writes a config with lists into staging memory, and returns its address.
 * @typedef {(engine: Engine, layout: import('../engine/struct.js').Layout) => number} Lay
 */

/**
 * The specification of a module.
 * @typedef {object} Spec
 * @property {keyof typeof modules} kind
 * @property {Record<string, any> | Lay} config the engine's
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
  let at;
  if (typeof config === 'function') {
    at = config(engine, layout);
  } else {
    at = engine.stage(layout.bytes);
    writeStruct(engine, at, layout, config);
  }
  engine.check(engine.call.module_create(number, at, draw), what);
  return engine.result;
}

/** The base class of all modules: parameters, training mode and disposal. */
export class Module extends Owned {
  /** @type {readonly Entry[] | undefined} listed when they are asked for */
  #parameters;

  /** @internal @param {Engine} engine @param {Spec} spec */
  constructor(engine, spec) {
    super(engine, createModule(engine, spec), 'module_destroy');
    /** @internal */
    this.engine = engine;
    hideEngine(this);
  }

  #training = true;

  /** Whether dropout is active. As in torch, a new module is in training mode. */
  get training() {
    return this.#training;
  }

  /** Does the same as `train(mode)`. */
  set training(mode) {
    this.train(mode);
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

  #list() {
    this.#parameters ??= listParameters(this.engine, this.pointer);
    return this.#parameters;
  }

  /**
   * Whether a parameter is part of the state dict.
   * @protected
   * @param {string} _key
   */
  keeps(_key) {
    return true;
  }

  /** @internal */
  get parameterList() {
    return this.#list().filter(({ key }) => this.keeps(key));
  }

  /** @type {readonly ModulePlace[] | undefined} made when they are asked for */
  #places;

  /** @internal Whether a parameter requires its gradient. */
  get trains() {
    return this.#places === undefined || this.#places.some((place) => place.requiresGrad);
  }

  /** @internal Backwards give every parameter a gradient, frozen ones too. */
  forgetFrozen() {
    for (const place of this.#places ?? []) {
      if (!place.requiresGrad) {
        place.clearGrad();
      }
    }
  }

  /** @internal @returns {readonly Place[]} */
  get places() {
    this.checkAlive();
    this.#places ??= this.#list().map((entry) => new ModulePlace(this, entry));
    return this.#places.filter(({ name }) => this.keeps(name));
  }

  /**
   * The parameters of the module, in the order of the state dict.
   * @returns {Parameter[]}
   * @throws {HeadwiseError} ERR_DISPOSED
   */
  parameters() {
    return this.places.map((place) => parameterOf(place.name, place));
  }

  /**
   * Returns the same as `parameters`. Each parameter has its name.
   * @returns {Parameter[]}
   * @throws {HeadwiseError} ERR_DISPOSED
   */
  namedParameters() {
    return this.parameters();
  }

  /**
   * Clears the gradients of all parameters.
   * @throws {HeadwiseError} ERR_DISPOSED
   */
  zeroGrad() {
    this.places.forEach((place) => place.clearGrad());
  }

  /**
   * Copies whole rows of a parameter in.
   * @internal
   * @param {Entry} parameter
   * @param {number} type of matrixType
   * @param {Uint8Array} bytes
   * @param {number} firstRow
   * @param {number} rows
   */
  loadRows(parameter, type, bytes, firstRow, rows) {
    writeRows(this.engine, this.pointer, parameter, type, bytes, firstRow, rows);
  }

  /**
   * The key of a parameter in the state dict of a module that holds this one under a name.
   * @internal
   * @param {string} name
   * @param {string} own the parameter's key here
   */
  keyIn(name, own) {
    return `${name}.${own}`;
  }

  /**
   * Maps a key that loading accepts to the module's key.
   * @protected
   * @param {string} key
   */
  canonicalKey(key) {
    return key;
  }

  /**
   * Whether loading skips an entry of torch's state dict. Such an entry, a causal mask for example, is checked and not loaded.
   * @protected
   * @param {string} _key
   * @param {unknown} _value
   * @throws {HeadwiseError} the entry contradicts the module
   */
  ignoresEntry(_key, _value) {
    return false;
  }

  /**
   * Copies of the parameters, as from torch's state_dict.
   * @returns {Record<string, Tensor>} with torch's names and shapes
   */
  stateDict() {
    return Object.fromEntries(this.places.map((place) => [place.name, place.read()]));
  }

  /**
   * Copies parameters into the module. The dict must have exactly the module's keys and shapes; otherwise nothing changes.
   * @param {Record<string, import('../tensor/tensor.js').AnyTensor>} dict float32 tensors, as from `stateDict`; they are copied
   * @param {Record<string, never>} [options] none are supported; torch's `strict: false`, for example, throws
   * @returns {this}
   * @throws {HeadwiseError} ERR_VALUE: missing or unexpected keys (named), or an option; ERR_SHAPE: wrong shapes (keys named)
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
   * The number of elements in all parameters.
   * @returns {number}
   */
  parameterCount() {
    this.checkAlive();
    return this.parameterList.reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Sets training mode: dropout is active.
   * @param {boolean} [mode] default true
   * @returns {this}
   */
  train(mode = true) {
    const { pointer } = this;
    checkBoolean(mode, 'mode');
    this.engine.call.module_train(pointer, mode);
    this.#training = mode;
    return this;
  }

  /**
   * Sets evaluation mode: dropout is off. It is the same as `train(false)`.
   * @returns {this}
   */
  eval() {
    return this.train(false);
  }

  /** The class name, for consoles. Vue makes no proxy of an object that has a tag. */
  get [Symbol.toStringTag]() {
    return 'Module';
  }
}
