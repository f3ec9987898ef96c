import { describe } from './describe.js';
import { HeadwiseError, misfit, misshapen } from './error.js';
import { isObject, isOf, tagOf, unreadable } from './foreign.js';

/** @param {readonly string[]} known */
const namesOf = (known) => known.join(', ') || 'none';

/** @param {readonly string[]} known */
const objectOf = (known) => (known.length > 0 ? 'an object of ' : '') + namesOf(known);

/** @type {Record<string, any>} */
const noOptions = Object.freeze({});

/**
 * @param {unknown} options
 * @param {readonly string[]} known
 * @param {string} owner whose options they are, for the message
 * @param {string} name the argument's
 * @param {Record<string, any>} given to be filled
 */
function readOptions(options, known, owner, name, given) {
  // What says what it is, such as a Map or an AbortSignal, is no object of options, though it may have none of its own.
  if (!isObject(options) || Array.isArray(options) || tagOf(options) !== undefined) {
    throw misfit(options, name, objectOf(known));
  }
  const names = Object.keys(options);
  if (!names.every((key) => known.includes(key))) {
    const unknown = names.filter((key) => !known.includes(key));
    throw new HeadwiseError(
      'ERR_VALUE',
      `${owner}: unknown option ${unknown.slice(0, 8).join(', ')}; expected ${namesOf(known)}`,
    );
  }
  for (const key of known) {
    // As None is in PyTorch, null is the default.
    given[key] = /** @type {Record<string, any>} */ (options)[key] ?? undefined;
  }
  return given;
}

/**
 * Reads options, each once.
 * @param {unknown} options
 * @param {readonly string[]} known
 * @param {string} owner whose options they are, for the message
 * @param {string} [name] the argument's
 * @param {Record<string, any>} [given] to be filled
 * @returns {Record<string, any>} a copy with all that are known
 */
export function checkOptions(options, known, owner, name = `${owner}: options`, given = {}) {
  if (options === undefined) {
    return noOptions;
  }
  try {
    return readOptions(options, known, owner, name, given);
  } catch (cause) {
    throw unreadable(cause, name, objectOf(known));
  }
}

/** @typedef {(value: any, name: string) => any} Check gives the value back, or what stands for it */
/**
 * What a table's checks give.
 * @template {Readonly<Record<string, Check>>} Table
 * @typedef {{ [Name in keyof Table]: ReturnType<Table[Name]> }} Checked
 */

/**
 * What a table says, in the form that each call reads.
 * @typedef {object} Plan
 * @property {readonly string[]} names
 * @property {readonly Check[]} checks
 * @property {Readonly<Record<string, any>>} empty all names: to copy them is faster than to add them one by one
 */
/** @type {WeakMap<Readonly<Record<string, Check>>, Plan>} */
const plans = new WeakMap();

/** @param {Readonly<Record<string, Check>>} table */
function planOf(table) {
  const names = Object.keys(table);
  const empty = Object.fromEntries(names.map((name) => [name, undefined]));
  const plan = { names, checks: Object.values(table), empty };
  plans.set(table, plan);
  return plan;
}

/**
 * Reads options, each once, and checks them.
 * @template {Readonly<Record<string, Check>>} Table
 * @param {unknown} options
 * @param {Table} table what checks each of them
 * @param {string} owner whose options they are, for the message
 * @returns {Checked<Table>}
 */
export function checkTable(options, table, owner) {
  const { names, checks, empty } = plans.get(table) ?? planOf(table);
  const checked = { ...empty };
  checkOptions(options, names, owner, undefined, checked);
  for (let i = 0; i < names.length; i++) {
    checked[names[i]] = checks[i](checked[names[i]], names[i]);
  }
  return /** @type {any} */ (checked);
}

/** Of what is checked later, when more is known. @param {any} value */
export const asGiven = (value) => value;

/**
 * A check of what may be left out.
 * @template T
 * @param {(value: any, name: string) => T} check
 * @returns {(value: any, name: string) => T | undefined}
 */
export const maybe = (check) => (value, name) =>
  value === undefined ? undefined : check(value, name);

/**
 * A check of what may be left out, that keeps what was given too: gradients may lead there.
 * @template T
 * @param {(value: any, name: string) => T} check
 */
export const traced = (check) =>
  maybe((value, name) => ({ ...check(value, name), from: /** @type {unknown} */ (value) }));

/**
 * A check of what has a default.
 * @template T
 * @param {(value: any, name: string) => T} check
 * @param {T} otherwise
 * @returns {(value: any, name: string) => T}
 */
export const or = (check, otherwise) => (value, name) => check(value ?? otherwise, name);

/**
 * A check of what is one of several words.
 * @template {string} T
 * @param {readonly T[]} choices
 * @returns {(value: any, name: string) => T}
 */
export const oneOf = (choices) => (value, name) => checkChoice(value, name, choices);

/** Number.isInteger, as a test of type. */
export const isInteger = /** @type {(value: unknown) => value is number} */ (Number.isInteger);

/**
 * @param {any} value
 * @param {string} name
 * @param {number} [least]
 * @param {number} [below] Infinity: what takes no memory, however large
 * @returns {number} an integer from `least` on
 */
export function checkSize(value, name, least = 1, below = 2 ** 32) {
  if (!Number.isSafeInteger(value) || value < least) {
    throw misfit(value, name, `an integer of at least ${least}`);
  }
  if (value >= below) {
    throw new HeadwiseError('ERR_MEMORY', `${name} is ${value}, more than memory can hold`);
  }
  return value;
}

/**
 * @param {unknown} value
 * @param {string} name
 * @param {number} count one more than the largest
 * @returns {number} an integer from 0 to count - 1
 */
export function checkIndex(value, name, count) {
  if (!isInteger(value) || value < 0 || value >= count) {
    throw misfit(value, name, `an integer from 0 to ${count - 1}`);
  }
  return value;
}

/** @param {unknown} value @param {string} name @returns {number} an integer that 32 bits hold, with its sign */
export function checkSigned(value, name) {
  if (!isInteger(value) || Math.abs(value) >= 2 ** 31) {
    throw misfit(value, name, 'an integer between -2^31 and 2^31');
  }
  return value;
}

/** @param {unknown} value @param {string} name @returns {boolean} */
export function checkBoolean(value, name) {
  if (typeof value !== 'boolean') {
    throw misfit(value, name, 'true or false');
  }
  return value;
}

/** A check of what is true or false, by default false. */
export const off = or(checkBoolean, false);

/** A check of what is true or false, by default true. */
export const on = or(checkBoolean, true);

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {number} a probability
 */
export function checkProbability(value, name) {
  if (typeof value !== 'number' || !(value >= 0 && value <= 1)) {
    throw misfit(value, name, 'a number from 0 to 1');
  }
  return value;
}

/** @param {unknown} value @param {string} name @returns {Function | undefined} */
export function checkFunction(value, name) {
  if (value !== undefined && typeof value !== 'function') {
    throw misfit(value, name, 'a function');
  }
  return value;
}

/** @param {unknown} value @returns {AbortSignal | undefined} */
export function checkSignal(value) {
  if (value !== undefined && !isOf(value, 'AbortSignal')) {
    throw misfit(value, 'signal', 'an AbortSignal');
  }
  return value;
}

/**
 * @param {unknown} value
 * @param {string} name
 * @param {number} [below] more than the largest; by default float32, of the engine and of state dicts, holds it
 * @param {import('./error.js').HeadwiseErrorCode} [code]
 * @returns {number} from 0 on
 */
export function checkBelow(value, name, below = 3.4e38, code) {
  if (typeof value !== 'number' || !(value >= 0 && value < below)) {
    throw misfit(value, name, `a number of at least 0, below ${below}`, code);
  }
  return value;
}

/**
 * What is added to a variance; 1e-5 if undefined.
 * @param {unknown} [value]
 * @param {string} [name]
 */
export const checkEps = (value = 1e-5, name = 'eps') => checkBelow(value, name);

/** What a value may be, in words. @param {readonly unknown[]} choices */
export const choicesOf = (choices) =>
  choices
    .map((choice) => describe(choice))
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' or ');

/**
 * @template {string} T
 * @param {unknown} value
 * @param {string} name
 * @param {readonly T[]} choices
 * @returns {T}
 */
export function checkChoice(value, name, choices) {
  if (!choices.includes(/** @type {T} */ (value))) {
    throw misfit(value, name, choicesOf(choices));
  }
  return /** @type {T} */ (value);
}

/**
 * @param {number} tokens
 * @param {string} name what has them
 * @param {number} most a model's contextLength
 * @param {import('./error.js').HeadwiseErrorCode} [code]
 */
export function checkContext(tokens, name, most, code = 'ERR_SHAPE') {
  if (tokens > most) {
    const message = `${name} has ${tokens} tokens; expected at most contextLength, ${most}`;
    throw new HeadwiseError(code, message);
  }
}

/**
 * @param {{ shape: readonly number[] }} x
 * @param {string} name
 * @param {boolean} fits
 * @param {() => string} expected in words, which are made only for the message
 */
export function checkShape(x, name, fits, expected) {
  if (!fits) {
    throw misshapen(x.shape, name, expected());
  }
}
