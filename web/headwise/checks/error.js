import { describe } from './describe.js';

/**
 * What went wrong: shapes that do not fit; a value outside its range or of another type; no memory; an engine that cannot be
 * started or has ended; a file of another format; use after `dispose`.
 * @typedef {'ERR_SHAPE' | 'ERR_VALUE' | 'ERR_MEMORY' | 'ERR_LOAD' | 'ERR_FORMAT' | 'ERR_DISPOSED'} HeadwiseErrorCode
 */

/** What every failure of the package throws. The message names the argument, what it was and what was expected. */
export class HeadwiseError extends Error {
  /** @param {HeadwiseErrorCode} code @param {string} message @param {ErrorOptions} [options] */
  constructor(code, message, options) {
    super(message, options);
    /** 'HeadwiseError' */
    this.name = 'HeadwiseError';
    /**
     * Stable, unlike the message's words.
     * @type {HeadwiseErrorCode}
     */
    this.code = code;
  }
}

/**
 * The error of an argument that is not what was expected.
 * @param {unknown} found
 * @param {string} name the argument's
 * @param {string} expected
 * @param {HeadwiseErrorCode} [code]
 */
export const misfit = (found, name, expected, code = 'ERR_VALUE') =>
  new HeadwiseError(code, `${name} is ${describe(found)}; expected ${expected}`);

/**
 * The error of a tensor of another shape than was expected.
 * @param {readonly number[]} shape
 * @param {string} name the argument's
 * @param {string} expected
 * @param {string} [more] that was found
 */
export const misshapen = (shape, name, expected, more = '') =>
  new HeadwiseError(
    'ERR_SHAPE',
    `${name} has shape ${describe(shape)}${more}; expected ${expected}`,
  );
