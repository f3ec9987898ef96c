/**
 * @typedef {'ERR_SHAPE' | 'ERR_VALUE' | 'ERR_MEMORY' | 'ERR_LOAD' | 'ERR_FORMAT' | 'ERR_DISPOSED'} HeadwiseErrorCode
 */

/** What every failure of the package throws. The message names the argument, what it was and what was expected. */
export class HeadwiseError extends Error {
  /**
   * @param {HeadwiseErrorCode} code
   * @param {string} message
   * @param {ErrorOptions} [options]
   */
  constructor(code, message, options) {
    super(message, options);
    this.name = 'HeadwiseError';
    /** @type {HeadwiseErrorCode} */
    this.code = code;
  }
}
