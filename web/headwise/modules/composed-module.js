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
 * The modules and the tensors with requiresGrad in an object's properties and arrays, in the order in which they were set.
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
 * An owner that passes each key to the inner module of that name.
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
 * The base class for modules made of other modules, like torch.nn.Module. A subclass keeps modules and tensors with
 * requiresGrad in its properties or in arrays there. The base class finds them under their property names. The subclass
 * defines `forward`.
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
   * The inner modules and tensors, each with its name, at every depth.
   * @param {string} [prefix]
   * @param {readonly object[]} [outer] the enclosing modules; they are not entered again
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

  /** @returns {Entry[]} an entry for each name; a shared part has several */
  #entries() {
    return [...this.#leaves()].flatMap(({ name, value }) =>
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
        const is = place instanceof TensorPlace ? place.tensor : place;
        return !known.has(is) && known.add(is);
      })
      .map(({ key, place }) => new Parameter(key, place));
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
    const tensors = matchState(dict, ownerOf(this, [...this.#leaves()]), entries);
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

  /** Frees all inner modules. */
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

  /** The class name, for consoles. Vue makes no proxy of an object that has a tag. */
  get [Symbol.toStringTag]() {
    return 'Module';
  }
}

/** Deeper than modules are nested in practice. */
const deepest = 64;
