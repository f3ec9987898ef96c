import { modules } from '../engine/abi.js';
import { checkBoolean, checkOptions } from '../checks/check.js';
import { HeadwiseError } from '../checks/error.js';
import { checkUnchanged, isA, isPlain } from '../checks/foreign.js';
import { isLeaf } from '../autograd/record.js';
import { addressOf, hideEngine, Owned } from '../engine/owned.js';
import { writeStruct } from '../engine/struct.js';
import { sizeOf } from '../tensor/shape.js';
import {
  identityOf,
  ModulePlace,
  namedParameterOf,
  parameterOf,
  TensorPlace,
} from './parameter.js';
import { matchState } from './state.js';
import { listParameters } from './parameters.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('./parameter.js').Parameter} Parameter */
/** @typedef {import('./parameter.js').Place} Place */
/** @typedef {import('./parameters.js').Parameter} EngineParameter */
/** @typedef {{ key: string, shape: readonly number[], place: Place }} Entry */

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
  const create = () => {
    let at;
    if (typeof config === 'function') {
      at = config(engine, layout);
    } else {
      at = engine.stage(layout.bytes);
      writeStruct(engine, at, layout, config);
    }
    return engine.call.module_create(number, at, draw);
  };
  engine.check(engine.withIdleMemory(create), what);
  return engine.result;
}

/** Deeper than modules are nested in practice. */
const deepest = 64;

/** Whether a property's value may hold modules; a Proxy that was revoked is nothing. @param {unknown} value @returns {value is object} */
function isContainer(value) {
  try {
    return Array.isArray(value) || isPlain(value);
  } catch {
    return false;
  }
}

/**
 * The modules and the tensors with requiresGrad in an object's properties, and in arrays and plain objects there, each with its
 * name, in the order in which they were set.
 * @param {object} owner
 * @param {boolean} isDeep whether to go on inside the modules
 * @param {string} [prefix] of names
 * @param {readonly object[]} [outer] what encloses the owner; it is not entered again
 * @returns {Generator<{ name: string, value: Module | Tensor }, void, void>}
 */
function* partsOf(owner, isDeep, prefix = '', outer = []) {
  const around = [...outer, owner];
  if (around.length > deepest) {
    const problem = `modules are inside each other ${around.length} deep`;
    throw new HeadwiseError('ERR_VALUE', `${problem}; expected at most ${deepest}`);
  }
  for (const [key, value] of Object.entries(owner)) {
    if (around.includes(value)) continue;
    const name = prefix + key;
    const isModule = isA(value, Module);
    if (isModule || isLeaf(value)) {
      yield { name, value };
    }
    if (isModule ? isDeep : isContainer(value)) {
      yield* partsOf(value, isDeep, `${name}.`, around);
    }
  }
}

/**
 * The parameters that a module has in the engine.
 * @type {(module: Module) => readonly EngineParameter[]}
 * @throws {HeadwiseError} ERR_DISPOSED
 */
export let engineParameters;

/**
 * Their places.
 * @type {(module: Module) => readonly ModulePlace[]}
 * @throws {HeadwiseError} ERR_DISPOSED
 */
export let placesOf;

/**
 * Whether one of them requires its gradient.
 * @type {(module: Module) => boolean}
 */
export let trains;

/**
 * Clears the gradients of frozen ones: backwards give every parameter a gradient.
 * @type {(module: Module) => void}
 */
export let forgetFrozen;

/**
 * The base class of all modules: parameters, training mode and disposal. A class that extends a module may keep further modules
 * and tensors with requiresGrad in its properties, or in arrays and plain objects there. They are found under their property
 * names, after what the engine has.
 */
export class Module extends Owned {
  /** @type {readonly EngineParameter[] | undefined} listed when they are asked for */
  #parameters;
  /** @type {readonly ModulePlace[] | undefined} made when they are asked for */
  #places;
  #training = true;
  /** Whether the modules inside are being gone through: a module may be inside itself. */
  #isOpen = false;

  static {
    const list = (/** @type {Module} */ module) => {
      const pointer = addressOf(module);
      // Without an address the engine has no parameters of it.
      module.#parameters ??= pointer ? listParameters(module.engine, pointer) : [];
      return module.#parameters;
    };
    engineParameters = (module) => list(module).filter(({ key }) => module.keeps(key));
    placesOf = (module) => {
      const all = list(module);
      module.#places ??= all.map((entry) => new ModulePlace(module, entry));
      return module.#places.filter(({ name }) => module.keeps(name));
    };
    trains = (module) =>
      module.#places?.some(({ requiresGrad, name }) => requiresGrad && module.keeps(name)) ?? true;
    forgetFrozen = (module) =>
      module.#places?.forEach((place) => place.requiresGrad || place.clearGrad());
  }

  /** @internal @param {Engine} engine @param {Spec} [spec] none: it has no parameters in the engine */
  constructor(engine, spec) {
    engine.checkAlive();
    super(engine, spec && createModule(engine, spec), 'module_destroy');
    /** @internal */
    this.engine = engine;
    hideEngine(this);
  }

  /** Whether dropout is active. As in torch, a new module is in training mode. */
  get training() {
    return this.#training;
  }

  /** Does the same as `train(mode)`. */
  set training(mode) {
    this.train(mode);
  }

  /**
   * Whether a parameter is part of the state dict.
   * @protected
   * @param {string} _key
   */
  keeps(_key) {
    return true;
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
   * Refuses a call that is to be recorded, where the module cannot be trained.
   * @internal
   * @param {string} _name of the method
   * @throws {HeadwiseError} ERR_VALUE
   */
  checkRecording(_name) {}

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
   * What passes each key to the innermost module of that name.
   * @returns {import('./state.js').Owner}
   */
  #owner() {
    const { constructor } = this;
    const inside = [...partsOf(this, true)]
      .flatMap(({ name, value }) =>
        value instanceof Module ? [{ prefix: `${name}.`, value }] : [],
      )
      .reverse();
    const holderOf = (/** @type {string} */ key) =>
      inside.find(({ prefix }) => key.startsWith(prefix)) ?? { prefix: '', value: this };
    const owner = {
      constructor,
      canonicalKey(/** @type {string} */ key) {
        const { prefix, value } = holderOf(key);
        return prefix + value.canonicalKey(key.slice(prefix.length));
      },
      ignoresEntry(/** @type {string} */ key, /** @type {unknown} */ given) {
        const { prefix, value } = holderOf(key);
        return value.ignoresEntry(key.slice(prefix.length), given);
      },
    };
    return owner;
  }

  /** @returns {Entry[]} an entry for each name; a shared part has several */
  #entries() {
    /** @type {(place: Place, key?: string) => Entry} */
    const entryOf = (place, key = place.name) => ({ key, shape: place.shape, place });
    return [
      ...placesOf(this).map((place) => entryOf(place)),
      ...[...partsOf(this, true)].flatMap(({ name, value }) =>
        value instanceof Module
          ? placesOf(value).map((place) => entryOf(place, value.keyIn(name, place.name)))
          : [entryOf(new TensorPlace(value, name))],
      ),
    ];
  }

  /**
   * The parameters of the module and of all modules and tensors in it, each once, in the order of the state dict.
   * @param {Record<string, never>} [options] none are supported; torch's `recurse`, for example, throws
   * @returns {Parameter[]}
   * @throws {HeadwiseError} ERR_DISPOSED
   */
  parameters(options) {
    return this.#entriesOnce(options, 'parameters').map(({ key, place }) =>
      parameterOf(key, place),
    );
  }

  /**
   * Returns the same as `parameters`, each with its name in this module's state dict. A parameter that an outer module has
   * listed under a longer name is another object here.
   * @param {Record<string, never>} [options] none are supported; torch's `prefix`, for example, throws
   * @returns {Parameter[]}
   * @throws {HeadwiseError} ERR_DISPOSED
   */
  namedParameters(options) {
    return this.#entriesOnce(options, 'namedParameters').map(({ key, place }) =>
      namedParameterOf(key, place),
    );
  }

  /** The first entry of each parameter. @param {unknown} options @param {string} method whose they are */
  #entriesOnce(options, method) {
    checkOptions(options, [], method);
    const known = new Set();
    return this.#entries().filter(({ place }) => {
      const is = identityOf(place);
      return !known.has(is) && known.add(is);
    });
  }

  /**
   * Clears the gradients of all parameters.
   * @param {Record<string, never>} [options] none are supported; torch's `set_to_none`, for example, throws
   * @throws {HeadwiseError} ERR_DISPOSED
   */
  zeroGrad(options) {
    checkOptions(options, [], 'zeroGrad');
    this.#entries().forEach(({ place }) => place.clearGrad());
  }

  /**
   * The number of elements in all parameters.
   * @returns {number}
   * @throws {HeadwiseError} ERR_DISPOSED
   */
  parameterCount() {
    return this.parameters().reduce((sum, { shape }) => sum + sizeOf(shape, 'shape'), 0);
  }

  /**
   * Copies of the parameters.
   * @param {Record<string, never>} [options] none are supported; torch's `prefix`, for example, throws
   * @returns {Record<string, Tensor>} with torch's names and shapes, such as fc1.weight or layers.0.weight
   * @throws {HeadwiseError} ERR_DISPOSED
   */
  stateDict(options) {
    checkOptions(options, [], 'stateDict');
    return Object.fromEntries(this.#entries().map(({ key, place }) => [key, place.read()]));
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
    const entries = this.#entries();
    const tensors = matchState(dict, this.#owner(), entries);
    // Reading the dict may have ended a module. Then reserve room for the largest parameter, so that nothing fails half-way.
    const { engine } = this;
    entries.forEach(({ place }) => place.check());
    engine.stage(tensors.reduce((most, { size }) => Math.max(most, size * 4), 0));
    tensors.forEach(({ data, size }) => checkUnchanged(data, size));
    entries.forEach(({ place }, i) => place.write(tensors[i]));
    return this;
  }

  /** @param {(part: Module) => void} act on each module directly inside */
  #forEachPart(act) {
    if (this.#isOpen) return;
    this.#isOpen = true;
    try {
      for (const { value } of partsOf(this, false)) {
        if (value instanceof Module) act(value);
      }
    } finally {
      this.#isOpen = false;
    }
  }

  /**
   * Sets training mode, in which dropout is active, for this module and those inside it.
   * @param {boolean} [mode] default true
   * @returns {this}
   * @throws {HeadwiseError} ERR_DISPOSED
   */
  train(mode = true) {
    const pointer = addressOf(this);
    checkBoolean(mode, 'mode');
    // All are asked before one is changed: one may be gone.
    [...partsOf(this, true)].forEach(({ value }) => value instanceof Module && addressOf(value));
    this.#forEachPart((part) => part.train(mode));
    // Last: a module inside may have asked this one, which holds it.
    if (pointer) {
      this.engine.call.module_train(pointer, mode);
    }
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

  /** @override Frees the module and those inside it; what they returned stays valid. Calls after this throw ERR_DISPOSED. */
  dispose() {
    this.#forEachPart((part) => part.dispose());
    super.dispose();
  }

  /** The class name, for consoles. Vue makes no proxy of an object that has a tag. */
  get [Symbol.toStringTag]() {
    return 'Module';
  }
}
