/** An error of the page itself, in words a visitor can act on. */
export class PageError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.name = 'PageError';
    this.code = code;
  }
}
