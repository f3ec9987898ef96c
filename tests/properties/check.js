// How the property tests run: a short while in npm test, again and again by npm run fuzz; a failure prints its seed.
import { test } from 'node:test';
import fc from 'fast-check';

/** Cases of each property. */
const numRuns = Number(process.env.HEADWISE_FUZZ_RUNS ?? 300);
/** What a failure printed, to run it again. */
const seed = process.env.HEADWISE_FUZZ_SEED;

/** @type {fc.Parameters<any>} */
const parameters = { numRuns, ...(seed === undefined ? {} : { seed: Number(seed) }) };

/**
 * A test that a property holds.
 *
 * @template {[unknown, ...unknown[]]} Values
 * @param {string} title
 * @param {fc.IProperty<Values> | fc.IAsyncProperty<Values>} property
 */
export function checkProperty(title, property) {
  test(title, async (t) => {
    const details = await fc.check(/** @type {any} */ (property), parameters);
    t.diagnostic(`${details.numRuns} runs from seed ${details.seed}`);
    if (details.failed || details.numRuns === 0) {
      const again = `HEADWISE_FUZZ_SEED=${details.seed} npm test -- properties`;
      throw new Error(`${fc.defaultReportMessage(details)}\nAgain: ${again}`, {
        cause: details.errorInstance,
      });
    }
  });
}
