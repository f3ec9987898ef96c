// As much of node:assert/strict as the tests of the package use, for browsers: chai compares.
import { assert as chai } from 'chai';

/** @typedef {((error: any) => boolean) | RegExp | Error | (new (...args: any[]) => Error)} Validator */

/** @param {unknown} value @param {string} [message] */
const assert = (value, message) => chai.isOk(value, message);

/**
 * @param {unknown} error
 * @param {Validator | string} [expected]
 */
function checkError(error, expected) {
  if (expected instanceof RegExp) chai.match(String(error), expected);
  else if (expected instanceof Error) chai.strictEqual(error, expected);
  else if (typeof expected === 'function') {
    const isClass = expected === Error || expected.prototype instanceof Error;
    chai.isOk(isClass ? error instanceof expected : /** @type {any} */ (expected)(error));
  }
}

export default Object.assign(assert, {
  ok: assert,
  equal: chai.strictEqual,
  notEqual: chai.notStrictEqual,
  deepEqual: chai.deepEqual,
  notDeepEqual: chai.notDeepEqual,
  match: chai.match,
  /** @param {string} message */
  fail: (message) => chai.fail(message),
  /** @param {() => unknown} body @param {Validator | string} [expected] */
  throws(body, expected) {
    try {
      body();
    } catch (error) {
      checkError(error, expected);
      return;
    }
    chai.fail(`nothing was thrown by ${body}`);
  },
  /** @param {Promise<unknown> | (() => Promise<unknown>)} promise @param {Validator} [expected] */
  async rejects(promise, expected) {
    try {
      await (typeof promise === 'function' ? promise() : promise);
    } catch (error) {
      checkError(error, expected);
      return;
    }
    chai.fail('the promise was not rejected');
  },
});
