import { describe } from './describe.js';
import { HeadwiseError } from './error.js';
import { Tensor } from './tensor.js';

/** @type {Record<string, any>} */
const noOptions = Object.freeze({});

/**
 * @param {unknown} options
 * @param {readonly string[]} known
 * @param {string} owner whose options they are, for the message
 * @param {string} [name] the argument's
 * @returns {Record<string, any>}
 */
export function checkOptions(options, known, owner, name = `${owner}: options`) {
  if (options === undefined) {
    return noOptions;
  }
  const isObject = typeof options === 'object' && options !== null;
  if (!isObject || Array.isArray(options) || options instanceof Tensor) {
    throw new HeadwiseError(
      'ERR_VALUE',
      `${name} is ${describe(options)}; expected an object of ${known.join(', ')}`,
    );
  }
  const unknown = Object.keys(options).filter((key) => !known.includes(key));
  if (unknown.length > 0) {
    throw new HeadwiseError(
      'ERR_VALUE',
      `${owner}: unknown option ${unknown.join(', ')}; expected ${known.join(', ')}`,
    );
  }
  return options;
}

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {number} an integer from 1 to 2^32 - 1
 */
export function checkSize(value, name) {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
    throw new HeadwiseError(
      'ERR_VALUE',
      `${name} is ${describe(value)}; expected an integer of at least 1`,
    );
  }
  if (value >= 2 ** 32) {
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
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value >= count) {
    throw new HeadwiseError(
      'ERR_VALUE',
      `${name} is ${describe(value)}; expected an integer from 0 to ${count - 1}`,
    );
  }
  return value;
}

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {boolean}
 */
export function checkBoolean(value, name) {
  if (typeof value !== 'boolean') {
    throw new HeadwiseError('ERR_VALUE', `${name} is ${describe(value)}; expected true or false`);
  }
  return value;
}

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {number} a probability
 */
export function checkProbability(value, name) {
  if (typeof value !== 'number' || !(value >= 0 && value <= 1)) {
    throw new HeadwiseError(
      'ERR_VALUE',
      `${name} is ${describe(value)}; expected a number from 0 to 1`,
    );
  }
  return value;
}

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {Function | undefined}
 */
export function checkFunction(value, name) {
  if (value !== undefined && typeof value !== 'function') {
    throw new HeadwiseError('ERR_VALUE', `${name} is ${describe(value)}; expected a function`);
  }
  return value;
}

/**
 * @param {unknown} value
 * @returns {AbortSignal | undefined}
 */
export function checkSignal(value) {
  if (value !== undefined && !(value instanceof AbortSignal)) {
    throw new HeadwiseError('ERR_VALUE', `signal is ${describe(value)}; expected an AbortSignal`);
  }
  return value;
}

/**
 * What is added to a variance; 1e-5 if undefined.
 * @param {unknown} value
 * @returns {number}
 */
export function checkEps(value = 1e-5) {
  if (typeof value !== 'number' || !(value >= 0 && value < Infinity)) {
    throw new HeadwiseError(
      'ERR_VALUE',
      `eps is ${describe(value)}; expected a finite number of at least 0`,
    );
  }
  return value;
}

/**
 * @template {string} T
 * @param {unknown} value
 * @param {string} name
 * @param {readonly T[]} choices
 * @returns {T}
 */
export function checkChoice(value, name, choices) {
  if (!choices.includes(/** @type {T} */ (value))) {
    const quoted = choices.map((choice) => describe(choice));
    throw new HeadwiseError(
      'ERR_VALUE',
      `${name} is ${describe(value)}; expected ${quoted.join(' or ')}`,
    );
  }
  return /** @type {T} */ (value);
}

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {Tensor}
 */
export function checkTensor(value, name) {
  if (!(value instanceof Tensor)) {
    const hint = Array.isArray(value) ? ' (tensor(…) makes one of nested arrays)' : '';
    throw new HeadwiseError('ERR_VALUE', `${name} is ${describe(value)}; expected a Tensor${hint}`);
  }
  let size = 1;
  for (const n of value.shape) {
    size *= n;
  }
  // Data that was transferred to a Worker is empty; what is longer than its shape would be written over other things.
  if (value.data.length !== size) {
    throw new HeadwiseError(
      'ERR_SHAPE',
      `${name} has shape ${describe(value.shape)} and ${value.data.length} values; expected ${size} (was its data transferred or replaced?)`,
    );
  }
  return value;
}

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {Tensor & { data: Float32Array }}
 */
export function checkFloats(value, name) {
  const checked = checkTensor(value, name);
  if (checked.dtype !== 'float32') {
    throw new HeadwiseError('ERR_VALUE', `${name} has dtype ${checked.dtype}; expected float32`);
  }
  return /** @type {Tensor & { data: Float32Array }} */ (checked);
}

/**
 * @param {Tensor} x
 * @param {string} name
 * @param {boolean} fits
 * @param {() => string} expected in words, which are made only for the message
 */
export function checkShape(x, name, fits, expected) {
  if (!fits || x.shape.includes(0)) {
    const because = fits ? ', none of them zero' : '';
    throw new HeadwiseError(
      'ERR_SHAPE',
      `${name} has shape ${describe(x.shape)}; expected ${expected()}${because}`,
    );
  }
}
