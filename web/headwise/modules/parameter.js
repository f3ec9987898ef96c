import { checkBoolean } from '../checks/check.js';
import { misfit } from '../checks/error.js';
import { isObject } from '../checks/foreign.js';
import { isLeaf } from '../autograd/record.js';
import { addressOf } from '../engine/owned.js';
import { checkFloats, copyData, viewOf } from '../tensor/operand.js';
import { checkSame } from '../tensor/shape.js';
import { tensorOf } from '../tensor/tensor.js';
import { readGradient, readParameter, writeGradient, writeParameter } from './parameters.js';

/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('./module.js').Module} Module */
/** @typedef {import('./parameters.js').Parameter} Entry */

/**
 * The place of a parameter's value and gradient.
 * @typedef {ModulePlace | TensorPlace} Place
 */

/** A module's parameter in an engine's memory. */
export class ModulePlace {
  requiresGrad = true;

  /** @param {Module} module @param {Entry} entry */
  constructor(module, entry) {
    this.module = module;
    this.entry = entry;
    this.name = entry.key;
    this.shape = entry.shape;
  }

  /** @throws {HeadwiseError} ERR_DISPOSED: it cannot be written */
  check() {
    return addressOf(this.module);
  }

  /** @returns {Tensor} */
  read() {
    return readParameter(this.module.engine, addressOf(this.module), this.entry);
  }

  /** @param {FloatOperand} value */
  write(value) {
    writeParameter(this.module.engine, addressOf(this.module), this.entry, value);
  }

  get hasGrad() {
    const { engine } = this.module;
    // The engine returns a boolean as a number.
    return Boolean(engine.call.module_has_gradient(addressOf(this.module), this.entry.index));
  }

  /** @returns {Tensor | null} */
  get grad() {
    const { engine } = this.module;
    return this.hasGrad ? readGradient(engine, addressOf(this.module), this.entry) : null;
  }

  /** @param {FloatOperand} value */
  writeGrad(value) {
    writeGradient(this.module.engine, addressOf(this.module), this.entry, value);
  }

  clearGrad() {
    const { engine } = this.module;
    const pointer = addressOf(this.module);
    engine.check(engine.call.module_clear_gradient(pointer, this.entry.index), 'grad');
  }
}

/** A parameter that is the caller's tensor with requiresGrad. */
export class TensorPlace {
  /** It belongs to none. */
  module = undefined;

  /** @param {Tensor} tensor @param {string} name */
  constructor(tensor, name) {
    this.tensor = tensor;
    this.name = name;
    this.shape = tensor.shape;
  }

  /** @throws {HeadwiseError} ERR_SHAPE: it cannot be written because its data was transferred */
  check() {
    return checkFloats(this.tensor, this.name);
  }

  /** @returns {Tensor} */
  read() {
    return tensorOf(copyData(checkFloats(this.tensor, this.name)), this.shape);
  }

  /** @param {FloatOperand} value */
  write(value) {
    viewOf(checkFloats(this.tensor, this.name)).set(value.data);
  }

  get requiresGrad() {
    return this.tensor.requiresGrad;
  }

  set requiresGrad(value) {
    this.tensor.requiresGrad = value;
  }

  get hasGrad() {
    return this.tensor.grad !== null;
  }

  get grad() {
    const { grad } = this.tensor;
    return grad && tensorOf(copyData(checkFloats(grad, 'grad')), this.shape);
  }

  /** @param {FloatOperand} value */
  writeGrad(value) {
    this.tensor.grad = tensorOf(copyData(value), this.shape);
  }

  clearGrad() {
    this.tensor.grad = null;
  }
}

/**
 * The place of a parameter. Undefined for other values.
 * @type {(value: unknown) => Place | undefined}
 */
export let placeOf;

/** A trainable parameter of a module. Its value and its gradient are read and written as copies. */
export class Parameter {
  #place;

  static {
    placeOf = (value) => (isObject(value) && #place in value ? value.#place : undefined);
  }

  /** @internal @param {string} name @param {Place} place */
  constructor(name, place) {
    /**
     * The parameter's name in the outermost module that has listed it. A module's `namedParameters()` has the names of its own
     * state dict.
     * @type {string}
     * @readonly
     */
    this.name = name;
    /**
     * The shape, frozen.
     * @type {readonly number[]}
     * @readonly
     */
    this.shape = place.shape;
    this.#place = place;
  }

  /**
   * A copy of the value.
   * @returns {Tensor}
   */
  get data() {
    return this.#place.read();
  }

  /** @throws {HeadwiseError} ERR_SHAPE: another shape; ERR_VALUE: not a float32 tensor; ERR_DISPOSED */
  set data(value) {
    this.#place.write(this.#fit(value, 'data'));
  }

  /**
   * A copy of the sum of the gradients from all calls of `backward`; null without a gradient. Set it to a tensor, or to null to
   * clear it.
   * @returns {Tensor | null}
   */
  get grad() {
    return this.#place.grad;
  }

  /** @throws {HeadwiseError} ERR_SHAPE, ERR_VALUE: neither null nor a tensor of the parameter's shape */
  set grad(value) {
    if (value === null) {
      this.#place.clearGrad();
    } else {
      this.#place.writeGrad(this.#fit(value, 'grad'));
    }
  }

  /**
   * Whether `backward` computes the gradient; the value at the time `backward` runs counts. A forward of a module whose
   * parameters are all frozen is only recorded if its input requires a gradient. Default true. Set it to false to freeze the
   * parameter; unlike in torch, that also clears its gradient, so that no optimizer moves it.
   * @returns {boolean}
   */
  get requiresGrad() {
    return this.#place.requiresGrad;
  }

  /** @throws {HeadwiseError} ERR_VALUE: neither true nor false; ERR_DISPOSED: false, after the module's end */
  set requiresGrad(value) {
    this.#place.requiresGrad = checkBoolean(value, 'requiresGrad');
    if (!value) {
      this.#place.clearGrad();
    }
  }

  /** @param {unknown} value @param {string} name */
  #fit(value, name) {
    const given = checkFloats(value, name);
    checkSame(given, name, this.shape, `, as ${this.name}`);
    return given;
  }

  /** The class name, for consoles. Vue makes no proxy of an object that has a tag. */
  get [Symbol.toStringTag]() {
    return 'Parameter';
  }
}

/**
 * What tells parameters apart: the same one may be met under several names.
 * @param {Place} place
 */
export const identityOf = (place) => (place instanceof ModulePlace ? place : place.tensor);

/** By what they are of. @type {WeakMap<object, Parameter>} */
const parameters = new WeakMap();

/**
 * The parameter of a place: the same each time, so that it can be found among others. Of its names it keeps the longest, which
 * of modules within each other is the outermost one's.
 * @param {string} name
 * @param {Place} place
 * @returns {Parameter}
 */
export function parameterOf(name, place) {
  const is = identityOf(place);
  const parameter = parameters.get(is) ?? new Parameter(name, place);
  parameters.set(is, parameter);
  if (name.length > parameter.name.length) {
    /** @type {{ name: string }} */ (parameter).name = name;
  }
  return parameter;
}

/**
 * The parameter of a place under a name, which may not be the longest one.
 * @param {string} name
 * @param {Place} place
 * @returns {Parameter}
 */
export function namedParameterOf(name, place) {
  const parameter = parameterOf(name, place);
  return parameter.name === name ? parameter : new Parameter(name, place);
}

/**
 * The place of a tensor that is a parameter.
 * @param {unknown} value
 * @param {string} name
 */
export function checkLeaf(value, name) {
  if (isLeaf(value)) {
    return new TensorPlace(/** @type {Tensor} */ (value), name);
  }
  throw misfit(value, name, 'what parameters() gives, or a tensor with requiresGrad');
}
