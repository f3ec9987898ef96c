// What the Compare room says about times and agreement: from given times, never from measured ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agreementOf, isTooClose, speedOf } from '../web/page/compare/verdict.js';
import {
  crossover,
  headline,
  mapBytes,
  pointsOf,
  shortly,
  workOf,
} from '../web/page/compare/why/curves.js';

/** @param {[number, number]} wrapper fastest run and median @param {[number, number]} fused */
const timing = (wrapper, fused) => ({
  wrapper: { minimum: wrapper[0], median: wrapper[1] },
  fused: { minimum: fused[0], median: fused[1] },
});

test('what is faster is said by the fastest runs, where the ranges lie apart', () => {
  assert.equal(speedOf(timing([2.3, 2.5], [1, 1.1])), 'Fused is 2.30 times as fast');
  assert.equal(speedOf(timing([1, 1.1], [1.5, 1.7])), 'The wrapper is 1.50 times as fast');
});

test('ranges that overlap, or touch, are too close to call', () => {
  for (const close of [
    timing([1, 1.2], [1.1, 1.3]),
    timing([1, 3], [2, 2.1]),
    timing([1, 1], [1, 1]),
    timing([1.1, 1.3], [1, 1.1]),
  ]) {
    assert.ok(isTooClose(close));
    assert.equal(speedOf(close), 'Too close to call');
    assert.equal(shortly(close), '≈');
  }
});

test('a plot’s headline names the largest difference, and what is left of it at the end', () => {
  const timed = [
    { at: 8, timing: timing([2, 2.1], [1, 1.1]) },
    { at: 32, timing: timing([2.3, 2.4], [1, 1.1]) },
    { at: 1024, timing: timing([1.03, 1.04], [1, 1.01]) },
  ];
  const words = 'Fused is 2.3 times as fast at 32 tokens; at 1,024';
  assert.equal(headline(timed, 'tokens'), `${words} fused is 1.03 times as fast.`);
  timed[2].timing = timing([1.03, 1.2], [1, 1.1]);
  assert.equal(headline(timed, 'tokens'), `${words} it is too close to call.`);
  assert.equal(headline(timed.slice(2), 'tokens'), 'Too close to call everywhere.');
  assert.equal(headline(timed.slice(0, 2), 'heads'), 'Fused is 2.3 times as fast at 32 heads.');
  const slower = [{ at: 1, timing: timing([1, 1.1], [2, 2.1]) }];
  assert.equal(headline(slower, 'heads'), 'The wrapper is 2.0 times as fast at 1 head.');
  slower.unshift({ at: 0, timing: timing([1, 1.1], [1.25, 1.3]) });
  assert.equal(headline(slower, 'tokens'), 'The wrapper is 2.0 times as fast at 1 token.');
  slower[1].timing = timing([1, 1.1], [1, 1.1]);
  assert.equal(
    headline(slower, 'heads'),
    'The wrapper is 1.3 times as fast at 0 heads; elsewhere it is too close to call.',
  );
  timed[2].timing = timing([1, 1.01], [1.04, 1.05]);
  assert.equal(headline(timed, 'tokens'), `${words} the wrapper is 1.04 times as fast.`);
});

test('ratios near 1 have two decimals in a sentence, and one below the axis, where labels would touch', () => {
  const near = timing([1.04, 1.05], [1, 1.01]);
  assert.equal(
    headline([{ at: 2, timing: near }], 'heads'),
    'Fused is 1.04 times as fast at 2 heads.',
  );
  assert.equal(
    headline([{ at: 2, timing: timing([1.09, 1.1], [1, 1.01]) }], 'heads'),
    'Fused is 1.09 times as fast at 2 heads.',
  );
  assert.equal(shortly(near), '1.0×');
  assert.equal(shortly(timing([2.31, 2.4], [1, 1.1])), '2.3×');
});

test('the crossover of memory lies where the maps, growing as n², pass what grows as n', () => {
  const tokens = [8, 16, 32, 64];
  const maps = tokens.map((n) => 4 * n * n);
  assert.equal(
    crossover(
      tokens,
      maps,
      tokens.map((n) => 80 * n),
    ),
    21,
  );
  assert.equal(
    crossover(
      [16, 32],
      [16, 32].map((n) => 64 * n * n),
      [16, 32].map((n) => 19_736 + 384 * n),
    ),
    21,
    'a line that does not begin at 0',
  );
  assert.equal(
    crossover(
      tokens,
      maps,
      tokens.map((n) => 4000 * n),
    ),
    undefined,
  );
  assert.equal(
    crossover(
      tokens,
      maps,
      tokens.map(() => 1),
    ),
    undefined,
  );
  assert.equal(crossover([], [], []), undefined);
  assert.equal(
    crossover(
      [16, 32, 64],
      [16, 32, 64].map((n) => 4 * n * n),
      [16, 32, 64].map((n) => 128 * n),
    ),
    33,
    'as much is not more',
  );
});

test('agreement is bit for bit, up to rounding, or none', () => {
  const compared = { outputs: 24, weights: 42 };
  /** @param {number} output @param {number} weights */
  const words = (output, weights) => agreementOf({ difference: { output, weights }, compared });
  assert.deepEqual(words(0, 0), {
    words: 'Wrapper = fused, bit for bit',
    note: 'All 42 weights and 24 outputs are equal.',
  });
  assert.equal(words(3e-8, 0).words, 'Wrapper = fused, up to the last bits');
  assert.equal(
    words(3e-8, 0).note,
    '42 weights and 24 outputs: they differ by at most 0 and 3.0e−8.',
  );
  assert.equal(words(0, 0.1).words, 'Wrapper and fused differ');
});

test('a plot’s works share a width among their heads, and their maps have 4 bytes a weight', () => {
  const work = workOf(256, 8, 100);
  assert.deepEqual(work, { tokens: 100, heads: 8, causal: true, dIn: 256, dOut: 32 });
  assert.equal(mapBytes(work), 4 * 8 * 100 * 100);
});

test('a plot’s band reaches from the fastest run to the median', () => {
  const timed = [{ at: 8, timing: timing([2, 2.5], [1, 1.25]) }];
  assert.deepEqual(pointsOf(timed, 'wrapper'), [{ x: 8, y: 2, high: 2.5 }]);
  assert.deepEqual(pointsOf(timed, 'fused'), [{ x: 8, y: 1, high: 1.25 }]);
});
