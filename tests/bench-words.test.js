// What the Bench room says of a run: from given results, never from measured ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ceilingOf, leftOf, verdictOf } from '../web/page/bench/words.js';

/** @param {string} shape @param {number} percent @param {any} [rest] @returns {any} */
const result = (shape, percent, { threads = 1, problem, ...timing } = /** @type {any} */ ({})) => ({
  ...{ shape, name: 'fused', simd: 'relaxed', threads },
  ...(problem
    ? { problem }
    : { timing: { minimum: 100, unit: 'GFLOP/s', ceiling: 60 * threads, percent, ...timing } }),
});

test('a verdict names the range of shares on one thread, what threads bring, and a time', () => {
  const results = [
    result('S0', 3),
    result('S1', 91.4),
    result('S2', 70.2),
    result('S2', 68, { threads: 2, speedup: 1.94 }),
    result('D1', 99, { unit: 'GB/s' }),
  ];
  assert.equal(
    verdictOf(results),
    'On one thread Headwise reaches 70 to 91 % of what this machine can do in WebAssembly. On 2 threads it is up to 1.9 times as fast. Attention over 1,024 tokens takes 100 ms.',
  );
  assert.equal(ceilingOf(results), 60);
});

test('a run without figures has no verdict, and failures are counted', () => {
  assert.equal(verdictOf([]), 'Too little was measured for a verdict.');
  assert.equal(verdictOf([result('S0', 3)]), 'Too little was measured for a verdict.');
  const failed = [result('S1', 80), result('C1', 0, { problem: 'wrong' })];
  assert.match(verdictOf(failed), /reaches 80 % of .* 1 result failed\.$/);
  assert.equal(ceilingOf([]), undefined);
});

test('the time left follows from what the results took', () => {
  assert.equal(leftOf(0, 20, 0), '0 of 20');
  assert.equal(leftOf(5, 20, 4000), '5 of 20, about 12 seconds left');
  assert.equal(leftOf(19, 20, 19_000), '19 of 20, about 1 second left');
});
