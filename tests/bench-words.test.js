// What the Bench room says of a run: from given results, never from measured ones.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { doubtOf } from '../web/page/bench/ceiling.js';
import { againstOneCeiling } from '../web/page/bench/one-ceiling.js';
import {
  ceilingOf,
  describe,
  endOf,
  failureOf,
  leftOf,
  stopOf,
  verdictOf,
} from '../web/page/bench/words.js';

const shapes = JSON.parse(
  readFileSync(new URL('../web/page/bench/shapes.json', import.meta.url), 'utf8'),
);

/** @param {string} shape @param {number} percent @param {any} [rest] @returns {any} */
const result = (shape, percent, { threads = 1, problem, ...timing } = /** @type {any} */ ({})) => ({
  ...{ shape, name: 'fused', simd: 'relaxed', threads },
  ...(problem
    ? { problem }
    : { timing: { minimum: 100, unit: 'GFLOP/s', ceiling: 60 * threads, percent, ...timing } }),
});

test('a verdict names the ranges of shares and of what threads bring, what it leaves out, and a time', () => {
  const results = [
    result('S0', 3),
    result('S0', 1, { threads: 2, speedup: 0.76 }),
    result('S1', 91.4),
    result('S2', 70.2),
    result('S2', 68, { threads: 2, speedup: 1.94 }),
    result('M1', 75, { threads: 2, speedup: 0.84 }),
    result('D1', 99, { unit: 'GB/s' }),
  ];
  assert.equal(
    verdictOf(results),
    'On one thread Headwise reaches 70 to 91 % of what this machine can do in WebAssembly. On 2 threads it is 0.8 to 1.9 times as fast. Multi-head attention over 1,024 tokens (S2) takes 100 ms. S0 is left out: it is too small to count. D1 is left out: reading memory is its limit.',
  );
  assert.equal(ceilingOf(results), 60);
});

test('a verdict’s ranges are of numbers, and its time is the fused module’s', () => {
  const wrapper = { ...result('S2', 9.1, { minimum: 170 }), name: 'wrapper' };
  const words = verdictOf([wrapper, result('S2', 100, { minimum: 80 })]);
  assert.match(words, /reaches 9 to 100 % of .* \(S2\) takes 80\.0 ms\.$/);
  assert.doesNotMatch(verdictOf([wrapper]), /takes/);
});

test('a share of more than the ceiling is doubted', () => {
  assert.equal(doubtOf(100), undefined);
  assert.match(doubtOf(100.1) ?? '', /which was measured too low/);
});

test('a run without figures has no verdict, and failures are counted', () => {
  assert.equal(verdictOf([]), 'Too little was measured for a verdict.');
  assert.equal(verdictOf([result('S0', 3)]), 'Too little was measured for a verdict.');
  const failed = [result('S1', 80), result('C1', 0, { problem: 'wrong' })];
  assert.match(verdictOf(failed), /reaches 80 % of .* 1 result failed\.$/);
  assert.doesNotMatch(verdictOf(failed), /left out/);
  assert.equal(ceilingOf([]), undefined);
});

test('shares are of the highest ceiling that the run has measured, of one module and of one thing', () => {
  const at = (/** @type {string} */ shape, /** @type {any} */ rest) =>
    result(shape, 50, { rate: 30, ...rest });
  const slower = { ...at('S2', { ceiling: 20 }), simd: 'simd128' };
  const results = [
    at('S1', { ceiling: 40 }),
    at('S2', { ceiling: 60 }),
    at('S2', { ceiling: 100, threads: 2 }),
    at('D1', { ceiling: 200, unit: 'GB/s' }),
    at('D2', { ceiling: 100, unit: 'GB/s' }),
    result('C1', 0, { problem: 'wrong' }),
    slower,
  ];
  const found = againstOneCeiling(results);
  assert.deepEqual(
    found.map(({ timing }) => timing && [timing.ceiling, timing.percent]),
    [[60, 50], [60, 50], [120, 25], [200, 15], [100, 30], undefined, [20, 150]],
  );
  assert.equal(ceilingOf(found), 60);
  assert.equal(results[0].timing.ceiling, 40, 'what was given stays');
});

test('each shape has a description of its own', () => {
  const described = Object.values(shapes).map((shape) => describe(/** @type {any} */ (shape)));
  assert.equal(new Set(described).size, described.length, described.join('\n'));
  const one = { kind: 'multiHeadAttention', batch: 1, tokens: 1024, dIn: 768, heads: 12 };
  const words = ['multi-head attention', '1,024 tokens', '768 wide', '12 heads'];
  assert.equal(describe(/** @type {any} */ (one)), words.join(', '));
  assert.match(
    describe(/** @type {any} */ (shapes['C2-window'])),
    /a causal window of 256, 4,096 tokens/,
  );
});

test('a run that was stopped says how many results it has, and whose are shown', () => {
  assert.equal(stopOf('Stopped', 1, 1), 'Stopped: 1 result.');
  assert.equal(stopOf('Stopped', 3, 3), 'Stopped: 3 results.');
  assert.equal(stopOf('Stopped', 0, 0), 'Stopped before the first result.');
  const before = 'Stopped before the first result. These are the results of the run before.';
  assert.equal(stopOf('Stopped', 0, 5), before);
});

test('the end of a run calls compared what was compared', () => {
  const failed = result('C1', 0, { problem: 'wrong' });
  const right = result('S1', 80);
  assert.equal(endOf([right], []), 'Done. Each result was compared with float64 first.');
  const some = 'Done. Each result that has a time was compared with float64 first.';
  assert.equal(endOf([right, failed], []), some);
  assert.equal(endOf([failed], []), 'Done. Nothing was measured.');
  const lacks = 'Done. Nothing was measured. This browser cannot run the relaxed module.';
  assert.equal(endOf([], ['relaxed']), lacks);
});

test('an error that ended a run is said in a sentence, an engine that is missing by its name', () => {
  const missing = Object.assign(new Error('a.wasm: 404'), { code: 'ERR_LOAD' });
  assert.equal(failureOf(missing), 'The engine could not be loaded: a.wasm: 404.');
  assert.equal(failureOf(new Error('no Worker')), 'The benchmark could not run: no Worker.');
  assert.equal(failureOf(new Error('')), 'The benchmark could not run.');
  assert.equal(failureOf(new Error('It stopped.')), 'The benchmark could not run: It stopped.');
});

test('the time left follows from what the results took', () => {
  assert.equal(leftOf(0, 20, 0), '0 of 20');
  assert.equal(leftOf(5, 20, 4000), '5 of 20, about 12 seconds left');
  assert.equal(leftOf(19, 20, 19_000), '19 of 20, about 1 second left');
  assert.equal(leftOf(4, 52, 10_000), '4 of 52, about 2 minutes left');
  assert.equal(leftOf(1, 2, 90_000), '1 of 2, about 90 seconds left');
  assert.equal(leftOf(1, 2, 90_001), '1 of 2, about 2 minutes left');
  assert.equal(leftOf(10, 10, 10_000), '10 of 10');
});
