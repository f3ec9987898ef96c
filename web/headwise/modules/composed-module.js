import { checkBoolean, checkOptions } from '../checks/check.js';
import { HeadwiseError } from '../checks/error.js';
import { checkUnchanged, isPlain } from '../checks/foreign.js';
import { isLeaf } from '../autograd/record.js';
import { disposeSymbol } from '../engine/dispose.js';
import { hideEngine } from '../engine/owned.js';
import { sizeOf } from '../tensor/shape.js';
import { Module } from './module.js';
import { identityOf, parameterOf, TensorPlace } from './parameter.js';
import { matchState } from './state.js';

/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('./parameter.js').Parameter} Parameter */
/** @typedef {import('./parameter.js').Place} Place */

/** @typedef {{ key: string, shape: readonly number[], place: Place }} Entry */

/** Deeper than modules are nested in practice. */
const deepest = 64;

/** Whether modules and tensors are looked for in a property's value. @param {unknown} value @returns {value is object} */
const isEntered = (value) =>
  value instanceof ComposedModule || Array.isArray(value) || isPlain(value);

/**
 * The modules and the tensors with requiresGrad in an object's properties, and in modules, arrays and plain objects there, each
 * with its name, in the order in which they were set.
 * @param {object} owner
 * @param {string} [prefix] of names
 * @param {readonly object[]} [outer] what encloses the owner; it is not entered again
 * @returns {Generator<{ name: string, value: Module | Tensor }, void, void>}
 */
function* leavesOf(owner, prefix = '', outer = []) {
  const around = [...outer, owner];
  if (around.length > deepest) {
    const problem = `modules are inside each other ${around.length} deep`;
    throw new HeadwiseError('ERR_VALUE', `${problem}; expected at most ${deepest}`);
  }
  for (const [key, value] of Object.entries(owner)) {
    const name = prefix + key;
    if (value instanceof Module || isLeaf(value)) {
      yield { name, value };
    } else if (isEntered(value) && !around.includes(value)) {
      yield* leavesOf(value, `${name}.`, around);
    }
  }
}

/**
 * An owner that passes each key to the inner module of that name.
 * @param {ComposedModule} owner
 * @param {readonly { name: string, value: Module | Tensor }[]} parts
 * @returns {import('./state.js').Owner}
 */
function ownerOf({ constructor }, parts) {
  /** @type {Record<string, any>} */
  const modules = {};
  for (const { name, value } of parts) {
    if (value instanceof Module) modules[`${name}.`] = value;
  }
  const prefixOf = (/** @type {string} */ key) =>
    Object.keys(modules).find((prefix) => key.startsWith(prefix)) ?? '';
  const owner = {
    constructor,
    canonicalKey(/** @type {string} */ key) {
      const prefix = prefixOf(key);
      const rest = key.slice(prefix.length);
      return prefix + (modules[prefix]?.canonicalKey(rest) ?? rest);
    },
    ignoresEntry(/** @type {string} */ key, /** @type {unknown} */ value) {
      const prefix = prefixOf(key);
      return modules[prefix]?.ignoresEntry(key.slice(prefix.length), value) ?? false;
    },
  };
  return owner;
}

/**
 * The base class for modules made of other modules, like torch.nn.Module. A subclass keeps modules and tensors with
 * requiresGrad in its properties, or in arrays and plain objects there. The base class finds them under their property names.
 * The subclass defines `forward`.
 */
export class ComposedModule {
  /** @internal @param {import('../engine/engine.js').Engine} engine */
  constructor(engine) {
    /** @internal */
    this.engine = engine;
    hideEngine(this);
    /** Whether dropout is active; as in torch, a new module is in training mode. */
    this.training = true;
  }

  /** @returns {Entry[]} an entry for each name; a shared part has several */
  #entries() {
    return [...leavesOf(this)].flatMap(({ name, value }) =>
      value instanceof Module
        ? value.places.map((place) => ({
            ...{ key: value.keyIn(name, place.name), shape: place.shape, place },
          }))
        : [{ key: name, shape: value.shape, place: new TensorPlace(value, name) }],
    );
  }

  /**
   * The parameters of all inner modules and the tensors with requiresGrad, each once.
   * @returns {Parameter[]}
   * @throws {HeadwiseError} ERR_DISPOSED
   */
  parameters() {
    const known = new Set();
    return this.#entries()
      .filter(({ place }) => {
        const is = identityOf(place);
        return !known.has(is) && known.add(is);
      })
      .map(({ key, place }) => parameterOf(key, place));
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
    this.#entries().forEach(({ place }) => place.clearGrad());
  }

  /**
   * The number of elements in all parameters.
   * @returns {number}
   */
  parameterCount() {
    return this.parameters().reduce((sum, { shape }) => sum + sizeOf(shape, 'shape'), 0);
  }

  /**
   * Copies of the parameters.
   * @returns {Record<string, Tensor>} by path, such as fc1.weight or layers.0.weight
   * @throws {HeadwiseError} ERR_DISPOSED
   */
  stateDict() {
    return Object.fromEntries(this.#entries().map(({ key, place }) => [key, place.read()]));
  }

  /**
   * Copies parameters into the module. The dict must have exactly the module's keys and shapes; otherwise nothing changes.
   * @param {Record<string, import('../tensor/tensor.js').AnyTensor>} dict float32 tensors, as from `stateDict`; they are copied
   * @param {Record<string, never>} [options] none are supported
   * @returns {this}
   * @throws {HeadwiseError} ERR_VALUE: missing or unexpected keys (named), or an option; ERR_SHAPE: wrong shapes (keys named)
   */
  loadStateDict(dict, options) {
    checkOptions(options, [], 'loadStateDict');
    const entries = this.#entries();
    const tensors = matchState(dict, ownerOf(this, [...leavesOf(this)]), entries);
    // Reading the dict may have ended a module. Then reserve room for the largest parameter, so that nothing fails half-way.
    const { engine } = this;
    entries.forEach(({ place }) => place.check());
    engine.stage(tensors.reduce((most, { size }) => Math.max(most, size * 4), 0));
    tensors.forEach(({ data, size }) => checkUnchanged(data, size));
    entries.forEach(({ place }, i) => place.write(tensors[i]));
    return this;
  }

  /**
   * Sets training mode for this module and all inner modules.
   * @param {boolean} [mode] default true
   * @returns {this}
   */
  train(mode = true) {
    checkBoolean(mode, 'mode');
    /** @type {Set<object>} */
    const all = new Set([this]);
    // The loop also visits what it adds.
    for (const owner of all) {
      if (owner instanceof ComposedModule) {
        owner.training = mode;
      }
      for (const value of Object.values(owner)) {
        if (value instanceof Module) {
          value.train(mode);
        } else if (isEntered(value)) {
          all.add(value);
        }
      }
    }
    return this;
  }

  /**
   * Sets evaluation mode: `train(false)`.
   * @returns {this}
   */
  eval() {
    return this.train(false);
  }

  /** Frees all inner modules. */
  dispose() {
    for (const { value } of leavesOf(this)) {
      if (value instanceof Module) {
        value.dispose();
      }
    }
  }

  /** `dispose`, for `using`. */
  [disposeSymbol]() {
    this.dispose();
  }

  /** The class name, for consoles. Vue makes no proxy of an object that has a tag. */
  get [Symbol.toStringTag]() {
    return 'Module';
  }
}
