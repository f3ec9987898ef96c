// As much of node:test as the tests of the package use, for browsers: they run one after another when `run` is called.

/** @typedef {() => unknown} Body */

/** @type {[title: string, body: Body][]} */
const tests = [];
/** @type {Body[]} */
const afterEachTest = [];

/** @param {string} title @param {Body} body */
export function test(title, body) {
  tests.push([title, body]);
}

/** @param {Body} body */
export function afterEach(body) {
  afterEachTest.push(body);
}

/** @returns {Promise<{ title: string, error?: string }[]>} what became of each test that was not run before */
export async function run() {
  const results = [];
  const atEnds = afterEachTest.splice(0);
  for (const [title, body] of tests.splice(0)) {
    try {
      await body();
      for (const atEnd of atEnds) await atEnd();
      results.push({ title });
    } catch (error) {
      const { name, message, stack } = /** @type {Error} */ (error);
      results.push({ title, error: `${name}: ${message}\n${stack}` });
    }
  }
  return results;
}
