// The state dict of an optimizer: tensors alone, so that a safetensors file holds it.
import { HeadwiseError, misfit, misshapen } from '../checks/error.js';
import { describe } from '../checks/describe.js';
import { entriesOf, isObject } from '../checks/foreign.js';
import { checkFloats, copyOf } from '../tensor/operand.js';
import { sameShape } from '../tensor/shape.js';
import { tensorOf } from '../tensor/tensor.js';

/** @typedef {import('../modules/parameter.js').Place} Place */
/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('./optimizer.js').State} State */

const threeFloats = [3];
/** @type {readonly number[]} */
const one = [];

/**
 * A double as three floats whose sum it is, up to what float32 has nothing for: a multiple of 2^-149.
 * @param {number} value
 */
function floatsOf(value) {
  const first = Math.fround(value);
  const second = Math.fround(value - first);
  return [first, second, value - first - second];
}

/**
 * A setting as rows of three floats.
 * @param {any} value a number, a boolean or a list of numbers
 */
function settingOf(value) {
  const rows = (Array.isArray(value) ? value : [Number(value)]).map(floatsOf);
  const shape = rows.length === 1 ? threeFloats : [rows.length, 3];
  return tensorOf(Float32Array.from(rows.flat()), shape);
}

/**
 * @param {FloatOperand} operand
 * @param {any} like the setting's default
 */
function readSetting({ data }, like) {
  const at = (/** @type {number} */ i) => data[3 * i] + data[3 * i + 1] + data[3 * i + 2];
  if (Array.isArray(like)) {
    return like.map((_, i) => at(i));
  }
  return typeof like === 'boolean' ? at(0) !== 0 : at(0);
}

/**
 * @param {readonly Record<string, any>[]} settings of each group
 * @param {readonly Place[][]} places of each group
 * @param {readonly State[]} states of all places
 * @param {readonly string[]} moments their names
 * @returns {Record<string, Tensor>}
 */
export function dictOf(settings, places, states, moments) {
  /** @type {Record<string, Tensor>} */
  const dict = {};
  let first = 0;
  settings.forEach((group, g) => {
    const { length } = places[g];
    const numbers = Float32Array.from(places[g], (_, i) => first + i);
    dict[`param_groups.${g}.params`] = tensorOf(numbers, [length]);
    for (const [name, value] of Object.entries(group)) {
      dict[`param_groups.${g}.${name}`] = settingOf(value);
    }
    first += length;
  });
  places.flat().forEach((place, i) => {
    const state = states[i];
    const steps = state.stepsOf(/** @type {any} */ (place));
    if (steps > 0) {
      dict[`state.${i}.step`] = tensorOf(Float32Array.of(steps), one);
    }
    moments.forEach((name, m) => {
      const moment = state.readMoment(/** @type {any} */ (place), m);
      if (moment !== undefined) {
        dict[`state.${i}.${name}`] = moment;
      }
    });
  });
  return dict;
}

/**
 * @param {Map<string, unknown>} given entries are taken out
 * @param {string} key
 * @param {readonly number[]} shape
 * @returns {FloatOperand | undefined}
 */
function take(given, key, shape) {
  if (!given.has(key)) {
    return undefined;
  }
  const operand = checkFloats(given.get(key), key);
  given.delete(key);
  if (!sameShape(operand.shape, shape)) {
    throw misshapen(operand.shape, key, describe(shape));
  }
  return copyOf(operand);
}

/**
 * @param {Map<string, unknown>} given
 * @param {string} key
 * @param {readonly number[]} shape
 */
function takeNeeded(given, key, shape) {
  const found = take(given, key, shape);
  if (found === undefined) {
    throw new HeadwiseError('ERR_VALUE', `dict has no ${key}; expected what stateDict() gave`);
  }
  return found;
}

/** @param {Map<string, unknown>} given @param {string} key */
function takeSteps(given, key) {
  const steps = take(given, key, one)?.data[0] ?? 0;
  if (!Number.isInteger(steps) || steps < 0 || steps > 2 ** 31) {
    throw misfit(steps, key, 'a number of steps');
  }
  return steps;
}

/**
 * @param {Map<string, unknown>} given
 * @param {Record<string, any>} defaults of the settings
 * @param {string} prefix
 * @param {number} count of its parameters
 * @param {number} first number of them
 */
function takeGroup(given, defaults, prefix, count, first) {
  const numbers = takeNeeded(given, `${prefix}.params`, [count]);
  if (!numbers.data.every((value, i) => value === first + i)) {
    throw misfit([...numbers.data], `${prefix}.params`, `${first} and the numbers that follow`);
  }
  return Object.fromEntries(
    Object.entries(defaults).map(([name, like]) => {
      const { shape } = settingOf(like);
      return [name, readSetting(takeNeeded(given, `${prefix}.${name}`, shape), like)];
    }),
  );
}

/**
 * Reads a state dict.
 * @param {unknown} dict
 * @param {import('./optimizer.js').Method} method
 * @param {readonly Place[][]} places of each group
 * @param {string} owner
 */
export function matchDict(dict, { defaults, moments }, places, owner) {
  if (!isObject(dict)) {
    throw misfit(dict, 'dict', 'an object of tensors');
  }
  const given = new Map(entriesOf(dict, 'dict'));
  let first = 0;
  const groups = places.map(({ length }, g) => {
    const found = takeGroup(given, defaults, `param_groups.${g}`, length, first);
    first += length;
    return found;
  });
  const entries = places.flat().map(({ shape }, i) => ({
    steps: takeSteps(given, `state.${i}.step`),
    moments: moments.map((name) => take(given, `state.${i}.${name}`, shape)),
  }));
  if (given.size > 0) {
    const keys = [...given.keys()].slice(0, 8).join(', ');
    throw new HeadwiseError('ERR_VALUE', `dict does not fit ${owner}: unexpected: ${keys}`);
  }
  return { groups, entries };
}
