import { describe } from './describe.js';

/**
 * The kind of an error, in this order: shapes that do not fit; a value outside its range or of another type; no memory; an
 * engine or file that cannot be loaded, or an engine that has ended; a file of another format; use after `dispose`.
 * @typedef {'ERR_SHAPE' | 'ERR_VALUE' | 'ERR_MEMORY' | 'ERR_LOAD' | 'ERR_FORMAT' | 'ERR_DISPOSED'} HeadwiseErrorCode
 */

/** The error that the package throws. The message names the argument, the value that came and the value expected. */
export class HeadwiseError extends Error {
  /** @param {HeadwiseErrorCode} code @param {string} message @param {ErrorOptions} [options] */
  constructor(code, message, options) {
    super(message, options);
    /** 'HeadwiseError' */
    this.name = 'HeadwiseError';
    /**
     * The kind of the error. Codes are stable; the words of messages are not.
     * @type {HeadwiseErrorCode}
     * @readonly
     */
    this.code = code;
  }
}

/**
 * The error for an argument other than expected.
 * @param {unknown} found
 * @param {string} name the argument's
 * @param {string} expected
 * @param {HeadwiseErrorCode} [code]
 */
export const misfit = (found, name, expected, code = 'ERR_VALUE') =>
  new HeadwiseError(code, `${name} is ${describe(found)}; expected ${expected}`);

/**
 * The error for a tensor of another shape than expected.
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
