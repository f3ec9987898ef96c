// The state of an optimizer. For a module's parameters it is in the engine's memory; for a tensor it is in JavaScript.
import { addressOf, Owned } from '../engine/owned.js';
import { copyData } from '../tensor/operand.js';
import { newArray } from '../tensor/shape.js';
import { tensorOf } from '../tensor/tensor.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../modules/module.js').Module} Module */
/** @typedef {import('../modules/parameter.js').ModulePlace} ModulePlace */
/** @typedef {import('../modules/parameter.js').Place} Place */
/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/** The optimizer state of a module's parameters. */
export class ModuleState extends Owned {
  #engine;

  /** @param {Engine} engine @param {Module} module */
  constructor(engine, module) {
    engine.check(engine.call.optimizer_create(addressOf(module)), 'an optimizer');
    super(engine, engine.result, 'optimizer_destroy');
    this.#engine = engine;
    this.module = module;
  }

  /** Its address. @throws {HeadwiseError} ERR_DISPOSED: the module is gone, whose parameters it knows */
  get pointer() {
    addressOf(this.module);
    return addressOf(this);
  }

  /** @param {ModulePlace} place */
  stepsOf({ entry }) {
    return this.#engine.call.optimizer_steps(this.pointer, entry.index) >>> 0;
  }

  /** @param {ModulePlace} place @param {number} steps */
  setSteps({ entry }, steps) {
    const engine = this.#engine;
    engine.check(engine.call.optimizer_set_steps(this.pointer, entry.index, steps), 'steps');
  }

  /** @param {ModulePlace} place @param {number} moment @returns {Tensor | undefined} */
  readMoment({ entry: { index, shape, size } }, moment) {
    const engine = this.#engine;
    const { call } = engine;
    if (!call.optimizer_has_moment(this.pointer, index, moment)) {
      return undefined;
    }
    const at = engine.stage(size * 4);
    const status = call.optimizer_store_moment(this.pointer, index, moment, 0, shape[0], at);
    engine.check(status, 'stateDict');
    return engine.read(at, shape);
  }

  /** @param {ModulePlace} place @param {number} moment @param {FloatOperand} value */
  writeMoment({ entry: { index, shape } }, moment, value) {
    const engine = this.#engine;
    const { pointer } = this;
    const [at] = engine.lay([value]);
    const { call } = engine;
    const status = call.optimizer_load_moment(pointer, index, moment, 0, shape[0], at);
    engine.check(status, 'the state of an optimizer');
  }
}

/** The optimizer state of a tensor. */
export class TensorState {
  /** It has none. */
  pointer = 0;
  #steps = 0;
  /** @type {(Float32Array | undefined)[]} */
  #moments = [];

  stepsOf() {
    return this.#steps;
  }

  /** @param {Place} _place @param {number} steps */
  setSteps(_place, steps) {
    this.#steps = steps;
  }

  /** @param {Place} place @param {number} moment @returns {Tensor | undefined} */
  readMoment({ shape }, moment) {
    const data = this.#moments[moment];
    return data && tensorOf(data.slice(), shape);
  }

  /** @param {Place} _place @param {number} moment @param {FloatOperand} value */
  writeMoment(_place, moment, value) {
    this.#moments[moment] = copyData(value);
  }

  /**
   * @param {readonly string[]} names of moments
   * @param {number} size elements
   * @returns {Float32Array[]} zeros where there were none
   */
  moments(names, size) {
    return names.map((_, i) => this.#moments[i] ?? newArray(Float32Array, size));
  }

  /** @param {Float32Array[]} moments after a step */
  keep(moments) {
    this.#moments = moments;
    this.#steps++;
  }

  dispose() {
    this.#moments = [];
  }
}
