import { checkBoolean, checkOptions } from '../checks/check.js';
import { HeadwiseError } from '../checks/error.js';
import { checkUnchanged } from '../checks/foreign.js';
import { isLeaf } from '../autograd/record.js';
import { disposeSymbol } from '../engine/dispose.js';
import { sizeOf } from '../tensor/shape.js';
import { Module } from './module.js';
import { Parameter, TensorPlace } from './parameter.js';
import { matchState } from './state.js';

/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('./parameter.js').Place} Place */

/** @typedef {{ key: string, shape: readonly number[], place: Place }} Entry */

/** @param {string} prefix @param {string} name */
const join = (prefix, name) => (prefix === '' ? name : `${prefix}.${name}`);

/**
 * Modules and tensors with requiresGrad among an object's properties, in arrays too, in the order in which they were set.
 * @param {object} owner
 * @param {string} prefix of names
 * @returns {Generator<{ name: string, value: Module | ComposedModule | Tensor }, void, void>}
 */
function* partsOf(owner, prefix) {
  for (const [key, value] of Object.entries(owner)) {
    const name = join(prefix, key);
    if (value instanceof Module || value instanceof ComposedModule || isLeaf(value)) {
      yield { name, value };
    } else if (Array.isArray(value)) {
      yield* partsOf(value, name);
    }
  }
}

/**
 * Knows the keys of modules inside as they do.
 * @param {ComposedModule} owner
 * @param {readonly { name: string, value: Module | Tensor }[]} parts
 * @returns {import('./state.js').Owner}
 */
function ownerOf({ constructor }, parts) {
  const modules = parts.filter(({ value }) => value instanceof Module);
  /** @param {string} key @returns {{ name: string, module: any, rest: string } | undefined} */
  const within = (key) => {
    const found = modules.find(({ name }) => key.startsWith(`${name}.`));
    return (
      found && { name: found.name, module: found.value, rest: key.slice(found.name.length + 1) }
    );
  };
  const owner = {
    constructor,
    canonicalKey(/** @type {string} */ key) {
      const part = within(key);
      return part === undefined ? key : join(part.name, part.module.canonicalKey(part.rest));
    },
    ignoresEntry(/** @type {string} */ key, /** @type {unknown} */ value) {
      const part = within(key);
      return part !== undefined && part.module.ignoresEntry(part.rest, value);
    },
  };
  return owner;
}

/**
 * A module made of others: a class that extends this one keeps modules, and tensors with requiresGrad, in its properties (in
 * arrays too), and finds them there under their names, as torch.nn.Module does. Its `forward` is its own.
 */
export class ComposedModule {
  /** @internal @param {import('../engine/engine.js').Engine} engine */
  constructor(engine) {
    /** @internal */
    this.engine = engine;
    Object.defineProperty(this, 'engine', {
      ...{ enumerable: false, writable: false, configurable: false },
    });
    /** Whether dropout is active; as in torch, a new module is in training mode. */
    this.training = true;
  }

  /**
   * Modules inside, each with its name, and what they are inside.
   * @param {string} [prefix]
   * @param {readonly object[]} [outer] modules around, which are not gone into again
   * @returns {Generator<{ name: string, value: Module | Tensor }, void, void>}
   */
  *#leaves(prefix = '', outer = []) {
    const around = [...outer, this];
    if (around.length > deepest) {
      const problem = `modules are inside each other ${around.length} deep`;
      throw new HeadwiseError('ERR_VALUE', `${problem}; expected at most ${deepest}`);
    }
    for (const { name, value } of partsOf(this, prefix)) {
      if (!(value instanceof ComposedModule)) {
        yield { name, value };
      } else if (!around.includes(value)) {
        yield* value.#leaves(name, around);
      }
    }
  }

  /** @returns {Entry[]} what is there twice under each of its names */
  #entries() {
    return [...this.#leaves()].flatMap(({ name, value }) =>
      value instanceof Module
        ? value.places.map((place) => ({ key: join(name, place.name), shape: place.shape, place }))
        : [{ key: name, shape: value.shape, place: new TensorPlace(value, name) }],
    );
  }

  /**
   * What all modules inside learn, and tensors with requiresGrad, each once.
   * @returns {Parameter[]}
   * @throws {HeadwiseError} ERR_DISPOSED
   */
  parameters() {
    const known = new Set();
    return this.#entries()
      .filter(({ place }) => {
        const is = place instanceof TensorPlace ? place.tensor : place;
        return !known.has(is) && known.add(is);
      })
      .map(({ key, place }) => new Parameter(key, place));
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
    this.#entries().forEach(({ place }) => place.clearGrad());
  }

  /**
   * How many numbers there are in all parameters.
   * @returns {number}
   */
  parameterCount() {
    return this.parameters().reduce((sum, { shape }) => sum + sizeOf(shape, 'shape'), 0);
  }

  /**
   * The parameters, copied.
   * @returns {Record<string, Tensor>} such as fc1.weight or layers.0.weight, by where modules are
   * @throws {HeadwiseError} ERR_DISPOSED
   */
  stateDict() {
    return Object.fromEntries(this.#entries().map(({ key, place }) => [key, place.read()]));
  }

  /**
   * Copies parameters in, strictly: all keys, no others, the same shapes; or nothing is changed.
   * @param {Record<string, import('../tensor/tensor.js').AnyTensor>} dict float32, as `stateDict` gives it; copied
   * @param {Record<string, never>} [options] there are none
   * @returns {this}
   * @throws {HeadwiseError} ERR_VALUE names missing and unexpected keys, and options; ERR_SHAPE misshapen keys
   */
  loadStateDict(dict, options) {
    checkOptions(options, [], 'loadStateDict');
    const entries = this.#entries();
    const tensors = matchState(dict, ownerOf(this, [...this.#leaves()]), entries);
    // Reading the dict may have ended a module; then room for the largest, so that nothing fails half-way.
    const { engine } = this;
    entries.forEach(({ place }) => place.check());
    engine.stage(tensors.reduce((most, { size }) => Math.max(most, size * 4), 0));
    tensors.forEach(({ data, size }) => checkUnchanged(data, size));
    entries.forEach(({ place }, i) => place.write(tensors[i]));
    return this;
  }

  /**
   * Sets training mode here and in all modules inside.
   * @param {boolean} [mode] default true
   * @returns {this}
   */
  train(mode = true) {
    checkBoolean(mode, 'mode');
    const seen = new Set();
    const visit = (/** @type {ComposedModule} */ module) => {
      seen.add(module);
      module.training = mode;
      for (const { value } of partsOf(module, '')) {
        if (value instanceof Module) {
          value.train(mode);
        } else if (value instanceof ComposedModule && !seen.has(value)) {
          visit(value);
        }
      }
    };
    visit(this);
    return this;
  }

  /**
   * Sets evaluation mode: `train(false)`.
   * @returns {this}
   */
  eval() {
    return this.train(false);
  }

  /** Frees all modules inside. */
  dispose() {
    for (const { value } of this.#leaves()) {
      if (value instanceof Module) {
        value.dispose();
      }
    }
  }

  /** `dispose`, for `using`. */
  [disposeSymbol]() {
    this.dispose();
  }

  /** What it is, for consoles; Vue makes no proxy of what says so. */
  get [Symbol.toStringTag]() {
    return 'Module';
  }
}

/** More than anyone nests. */
const deepest = 64;
