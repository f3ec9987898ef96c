import { checkOptions, checkTable } from '../checks/check.js';
import { disposeSymbol } from '../engine/dispose.js';
import { writeStruct } from '../engine/struct.js';
import { ModulePlace } from '../modules/parameter.js';
import { checkFloats, wordsOperand } from '../tensor/operand.js';
import { checkGroups } from './groups.js';
import { dictOf, matchDict } from './optimizer-dict.js';
import { ModuleState, TensorState } from './optimizer-state.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../modules/parameter.js').Parameter} Parameter */
/** @typedef {import('../modules/parameter.js').Place} Place */
/** @typedef {import('../modules/parameter.js').TensorPlace} TensorPlace */
/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {ModuleState | TensorState} State */

/**
 * The method of an optimizer.
 * @typedef {object} Method
 * @property {Record<string, { check: import('../checks/check.js').Check, otherwise: any }>} settings
 * @property {(settings: Record<string, any>) => void} [checkTogether] throws if settings do not go together
 * @property {readonly string[]} moments the state of every element, under torch's names
 * @property {import('../engine/layout.js').Layout<any>} layout of the engine's config
 * @property {(settings: Record<string, any>) => Record<string, any>} configOf
 * @property {'adamw_step' | 'sgd_step'} step of a module's parameters
 * @property {(call: import('../engine/abi.js').Exports, addresses: number[], size: number, steps: number) => number} stepArray
 *   of one array; addresses: of config, value, gradient and moments
 */

/** The base class of AdamW and SGD: parameter groups, optimizer state, and the state dict. */
export class Optimizer {
  #engine;
  #method;
  #table;
  #places;
  /** @type {any[]} */
  #groups;
  /** @type {State[]} of each place, in the groups' order */
  #states;

  /**
   * @internal
   * @param {Engine} engine
   * @param {unknown} parameters
   * @param {unknown} options
   * @param {Method} method
   */
  constructor(engine, parameters, options, method) {
    const owner = new.target.name;
    this.#engine = engine;
    this.#method = method;
    const settings = Object.entries(method.settings);
    this.#table = Object.fromEntries(settings.map(([name, { check }]) => [name, check]));
    const own = checkOptions(options, Object.keys(this.#table), owner);
    const defaults = Object.fromEntries(
      settings.map(([name, { otherwise }]) => [name, own[name] ?? otherwise]),
    );
    const groups = checkGroups(engine, parameters, defaults, owner);
    engine.checkAlive();
    this.#places = groups.map(({ places }) => places);
    this.#groups = groups.map((group) => ({
      params: group.params,
      ...this.#check(group.settings),
    }));
    this.#states = this.#newStates();
  }

  /** @param {Record<string, any>} settings */
  #check(settings) {
    const checked = checkTable(settings, this.#table, 'a group');
    this.#method.checkTogether?.(checked);
    return checked;
  }

  /** @returns {State[]} */
  #newStates() {
    const engine = this.#engine;
    /** @type {Map<object, ModuleState>} */
    const ofModules = new Map();
    return this.#places.flat().map((place) => {
      if (!(place instanceof ModulePlace)) {
        return new TensorState(place);
      }
      const state = ofModules.get(place.module) ?? new ModuleState(engine, place.module);
      ofModules.set(place.module, state);
      return state;
    });
  }

  /**
   * The groups of parameters with their settings. You may change the settings at any time.
   * @returns {any[]}
   */
  get groups() {
    return [...this.#groups];
  }

  /** The learning rate of the first group. Setting it changes all groups. */
  get lr() {
    return this.#groups[0].lr;
  }

  /** Sets the learning rate of all groups. */
  set lr(value) {
    const lr = this.#table.lr(value, 'lr');
    this.#groups.forEach((group) => (group.lr = lr));
  }

  /**
   * Updates every parameter that has a gradient.
   * @throws {HeadwiseError} ERR_VALUE: a group's setting; ERR_MEMORY; ERR_DISPOSED
   */
  step() {
    const names = Object.keys(this.#table);
    const checked = this.#groups.map((group) =>
      this.#check(Object.fromEntries(names.map((name) => [name, group[name]]))),
    );
    // No code of the caller's runs from here on.
    const states = this.#states;
    states.forEach((state) => state instanceof ModuleState && state.pointer);
    let at = 0;
    this.#places.forEach((places, i) => {
      this.#stepGroup(places, states.slice(at, at + places.length), checked[i]);
      at += places.length;
    });
  }

  /**
   * @param {readonly Place[]} places
   * @param {readonly State[]} states
   * @param {Record<string, any>} settings
   */
  #stepGroup(places, states, settings) {
    /** @type {Map<ModuleState, number[]>} */
    const ofModules = new Map();
    places.forEach((place, i) => {
      const state = states[i];
      if (state instanceof ModuleState) {
        const indices = ofModules.get(state) ?? [];
        indices.push(/** @type {ModulePlace} */ (place).entry.index);
        ofModules.set(state, indices);
      } else if (place.hasGrad) {
        this.#stepTensor(/** @type {TensorPlace} */ (place), state, settings);
      }
    });
    const engine = this.#engine;
    const { layout, configOf, step } = this.#method;
    for (const [state, indices] of ofModules) {
      const { pointer } = state;
      const [config, list] = engine.lay([layout.bytes, wordsOperand(indices)]);
      writeStruct(engine, config, layout, configOf(settings));
      engine.check(engine.call[step](pointer, config, list, indices.length), 'step');
    }
  }

  /**
   * @param {TensorPlace} place
   * @param {TensorState} state
   * @param {Record<string, any>} settings
   */
  #stepTensor(place, state, settings) {
    const engine = this.#engine;
    const { layout, configOf, moments: names, stepArray } = this.#method;
    const { shape, name } = place;
    const operand = (/** @type {Float32Array} */ data) =>
      /** @type {FloatOperand} */ ({ shape, data, size: data.length, dtype: 'float32' });
    const parts = [
      checkFloats(place.tensor, name),
      checkFloats(place.grad, 'grad'),
      ...state.moments(names.length).map(operand),
    ];
    const addresses = engine.lay([layout.bytes, ...parts]);
    const [config, value, , ...moments] = addresses;
    writeStruct(engine, config, layout, configOf(settings));
    const { size } = parts[0];
    const status = stepArray(engine.call, addresses, size, state.stepsOf() + 1);
    engine.check(status, 'step');
    place.write(operand(engine.read(value, shape).data));
    state.keep(moments.map((at) => engine.read(at, shape).data));
  }

  /**
   * Clears the gradients of all parameters.
   * @throws {HeadwiseError} ERR_DISPOSED
   */
  zeroGrad() {
    this.#places.flat().forEach((place) => place.clearGrad());
  }

  /**
   * The optimizer state and the groups' settings, as tensors for a safetensors file. A run continues from them with the same
   * bits. Keys number the parameters and groups: state.0.exp_avg, state.0.step, param_groups.0.lr and so on.
   * @returns {Record<string, Tensor>} a setting is a tensor of three numbers; their sum is the double
   * @throws {HeadwiseError} ERR_MEMORY; ERR_DISPOSED
   */
  stateDict() {
    return dictOf(this.#groups, this.#places.flat(), this.#states, this.#method.moments);
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
    const places = this.#places.flat();
    const found = matchDict(
      dict,
      this.#groups,
      places,
      this.#method.moments,
      this.constructor.name,
    );
    const settings = found.settings.map((group) => this.#check(group));
    const states = this.#newStates();
    try {
      found.entries.forEach(({ steps, moments }, i) => {
        states[i].setSteps(/** @type {any} */ (places[i]), steps);
        moments.forEach(
          (value, m) => value && states[i].writeMoment(/** @type {any} */ (places[i]), m, value),
        );
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

  /** Frees the optimizer state. Parameters and gradients stay. */
  dispose() {
    this.#states.forEach((state) => state.dispose());
  }

  /** `dispose`, for `using`. */
  [disposeSymbol]() {
    this.dispose();
  }

  /** The class name, for consoles. Vue makes no proxy of an object that has a tag. */
  get [Symbol.toStringTag]() {
    return 'Optimizer';
  }
}
