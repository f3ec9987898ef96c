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

/** Work that was stopped because the visitor asked for it, or for another. */
export class Cancelled extends PageError {
  constructor() {
    super('ERR_CANCELLED', 'Cancelled.');
  }
}
