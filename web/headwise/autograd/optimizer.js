import { checkOptions } from '../checks/check.js';
import { addressOf, Owned } from '../engine/owned.js';
import { writeStruct } from '../engine/struct.js';
import { checkFloats, operandOf } from '../tensor/operand.js';
import { checkGroups, filled, partsOf } from './groups.js';
import { dictOf, matchDict } from './optimizer-dict.js';
import { ModuleState, TensorState } from './optimizer-state.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../modules/module.js').Module} Module */
/** @typedef {import('../modules/parameter.js').Place} Place */
/** @typedef {import('../modules/parameter.js').TensorPlace} TensorPlace */
/** @typedef {import('./groups.js').Part} Part */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {ModuleState | TensorState} State */
/** @typedef {Map<Module | TensorPlace, State>} States a module's is of all its parameters */

/**
 * The method of an optimizer.
 * @typedef {object} Method
 * @property {Record<string, import('../checks/check.js').Check>} checks of its settings
 * @property {Record<string, any>} defaults of the same
 * @property {(settings: Record<string, any>) => void} [checkTogether] throws if settings do not go together
 * @property {readonly string[]} moments the state of every element, under torch's names
 * @property {import('../engine/layout.js').Layout<any>} layout of the engine's config
 * @property {(settings: Record<string, any>) => Record<string, any>} configOf
 * @property {'adamw_step' | 'sgd_step'} step of a module's parameters
 * @property {(call: import('../engine/abi.js').Exports, addresses: number[], size: number, steps: number) => number} stepArray
 *   of one array; addresses: of config, value, gradient and moments
 */

/**
 * @param {readonly Place[]} places
 * @param {States} states
 * @returns {State[]} of each place
 */
const statesOf = (places, states) =>
  places.map((place) => /** @type {State} */ (states.get(place.module ?? place)));

/**
 * The base class of AdamW and SGD: parameter groups, optimizer state, and the state dict.
 * @template [Settings=any]
 */
export class Optimizer extends Owned {
  #engine;
  #method;
  #places;
  #parts;
  /** @type {any[]} */
  #groups;
  /** @type {States} */
  #states;

  /**
   * @internal
   * @param {Engine} engine
   * @param {unknown} parameters
   * @param {unknown} options
   * @param {Method} method
   */
  constructor(engine, parameters, options, method) {
    super(engine);
    const owner = new.target.name;
    this.#engine = engine;
    this.#method = method;
    const { defaults } = method;
    const own = checkOptions(options, Object.keys(defaults), owner);
    const groups = checkGroups(engine, parameters, filled(own, defaults), owner);
    this.#places = groups.map(({ places }) => places);
    this.#parts = this.#places.map(partsOf);
    this.#groups = groups.map(({ params, settings }) => {
      const fixed = { value: Object.freeze(params), enumerable: true };
      return Object.seal(Object.defineProperty(this.#check(settings), 'params', fixed));
    });
    this.#states = this.#newStates();
  }

  /** @param {Record<string, any>} group @returns {Record<string, any>} its settings */
  #check(group) {
    const { checks, checkTogether } = this.#method;
    /** @type {Record<string, any>} */
    const checked = {};
    for (const name of Object.keys(checks)) {
      checked[name] = checks[name](group[name], name);
    }
    checkTogether?.(checked);
    return checked;
  }

  /** @returns {Record<string, any>[]} of each group, as they are now */
  #settings() {
    const settings = this.#groups.map((group) => this.#check(group));
    // No code of the caller's runs from here on.
    addressOf(this);
    return settings;
  }

  #newStates() {
    addressOf(this);
    /** @type {States} */
    const states = new Map();
    for (const place of this.#places.flat()) {
      const { module } = place;
      if (module === undefined) {
        states.set(place, new TensorState());
      } else if (!states.has(module)) {
        states.set(module, new ModuleState(this.#engine, module));
      }
    }
    return states;
  }

  /**
   * The groups of parameters with their settings. You may change the settings at any time. Parameters and other keys cannot be
   * added or removed.
   * @returns {Required<import('./optimizers.js').ParameterGroup<Settings>>[]}
   */
  get groups() {
    return [...this.#groups];
  }

  /** The learning rate of the first group. Setting it changes all groups. @returns {number} */
  get lr() {
    return this.#groups[0].lr;
  }

  /** Sets the learning rate of all groups. */
  set lr(value) {
    const lr = this.#method.checks.lr(value, 'lr');
    this.#groups.forEach((group) => (group.lr = lr));
  }

  /**
   * Updates every parameter that has a gradient.
   * @param {Record<string, never>} [options] none are supported; torch's `closure`, for example, throws
   * @throws {HeadwiseError} nothing was updated then: ERR_VALUE: a group's setting; ERR_SHAPE: the data of a tensor or of its
   *   gradient was transferred; ERR_DISPOSED. ERR_MEMORY: some parameters may have been updated
   */
  step(options) {
    checkOptions(options, [], 'step');
    const given = this.#parts.map(({ tensors }) =>
      tensors.flatMap((place) =>
        place.hasGrad
          ? [{ place, own: [place.check(), checkFloats(place.tensor.grad, 'grad')] }]
          : [],
      ),
    );
    const settings = this.#settings();
    // Throws if a module is gone.
    this.#states.forEach((state) => state.pointer);
    this.#parts.forEach(({ modules }, i) => {
      given[i].forEach(({ place, own }) => this.#stepTensor(place, own, settings[i]));
      modules.forEach((part) => this.#stepModule(part, settings[i]));
    });
  }

  /**
   * @param {Part} part
   * @param {Record<string, any>} settings
   */
  #stepModule({ module, indices }, settings) {
    const engine = this.#engine;
    const { layout, configOf, step } = this.#method;
    const { pointer } = /** @type {ModuleState} */ (this.#states.get(module));
    const [config, list] = engine.lay([layout.bytes, indices]);
    writeStruct(engine, config, layout, configOf(settings));
    engine.check(engine.call[step](pointer, config, list, indices.size), 'step');
  }

  /**
   * @param {TensorPlace} place
   * @param {readonly import('../tensor/operand.js').FloatOperand[]} own its value and gradient
   * @param {Record<string, any>} settings
   */
  #stepTensor(place, own, settings) {
    const engine = this.#engine;
    const state = /** @type {TensorState} */ (this.#states.get(place));
    const { layout, configOf, moments: names, stepArray } = this.#method;
    const { shape } = place;
    const [{ size }] = own;
    const parts = [...own, ...state.moments(names, size).map((data) => operandOf({ data, shape }))];
    const addresses = engine.lay([layout.bytes, ...parts]);
    const [config, value, , ...moments] = addresses;
    writeStruct(engine, config, layout, configOf(settings));
    const status = stepArray(engine.call, addresses, size, state.stepsOf() + 1);
    engine.check(status, 'step');
    const [stepped, ...kept] = [value, ...moments].map((at) => engine.read(at, shape));
    place.write(operandOf(stepped));
    state.keep(kept.map(({ data }) => data));
  }

  /**
   * Clears the gradients of all parameters.
   * @param {Record<string, never>} [options] none are supported; torch's `set_to_none`, for example, throws
   * @throws {HeadwiseError} ERR_DISPOSED
   */
  zeroGrad(options) {
    checkOptions(options, [], 'zeroGrad');
    addressOf(this);
    const places = this.#places.flat();
    // All are asked before one is changed: a module may be gone.
    places.filter(({ hasGrad }) => hasGrad).forEach((place) => place.clearGrad());
  }

  /**
   * The optimizer state and the groups' settings, as tensors for a safetensors file. A run continues from them with the same
   * bits. Keys number the parameters and groups: state.0.exp_avg, state.0.step, param_groups.0.lr and so on.
   * @param {Record<string, never>} [options] none are supported
   * @returns {Record<string, Tensor>} a setting is a tensor of three numbers; their sum is the double, to within 1e-45
   * @throws {HeadwiseError} ERR_VALUE: a group's setting; ERR_MEMORY; ERR_DISPOSED
   */
  stateDict(options) {
    checkOptions(options, [], 'stateDict');
    const settings = this.#settings();
    const states = statesOf(this.#places.flat(), this.#states);
    return dictOf(settings, this.#places, states, this.#method.moments);
  }

  /**
   * Loads a dict from `stateDict`. The groups must have the same parameters; otherwise nothing changes.
   * @param {Record<string, import('../tensor/tensor.js').AnyTensor>} dict
   * @param {Record<string, never>} [options] none are supported
   * @returns {this}
   * @throws {HeadwiseError} ERR_VALUE, ERR_SHAPE: an entry does not fit (key named); ERR_MEMORY; ERR_DISPOSED
   */
  loadStateDict(dict, options) {
    checkOptions(options, [], 'loadStateDict');
    addressOf(this);
    const places = this.#places.flat();
    const { groups, entries } = matchDict(dict, this.#method, this.#places, this.constructor.name);
    const settings = groups.map((group) => this.#check(group));
    const states = this.#newStates();
    try {
      statesOf(places, states).forEach((state, i) => {
        const place = /** @type {any} */ (places[i]);
        const { steps, moments } = entries[i];
        state.setSteps(place, steps);
        moments.forEach((value, m) => value && state.writeMoment(place, m, value));
      });
    } catch (error) {
      states.forEach((state) => state.dispose());
      throw error;
    }
    this.#states.forEach((state) => state.dispose());
    this.#states = states;
    settings.forEach((group, i) => Object.assign(this.#groups[i], group));
    return this;
  }

  /** Frees the optimizer state. Parameters and gradients stay. Later steps throw ERR_DISPOSED. @override */
  dispose() {
    super.dispose();
    this.#states.forEach((state) => state.dispose());
  }

  /** The class name, for consoles. Vue makes no proxy of an object that has a tag. */
  get [Symbol.toStringTag]() {
    return 'Optimizer';
  }
}
