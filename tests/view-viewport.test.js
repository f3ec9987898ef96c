// Which part of a map is seen, which cells are computed for it, and how its tokens and cells are named. None of it needs a page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelledTokens } from '../web/headwise/view/labels.js';
import { cellAt, wordsOf } from '../web/headwise/view/readout.js';
import { fit, regionOf, reveal, suffices, zoom } from '../web/headwise/view/viewport.js';

/** @param {number} n */
const square = (n) => ({ queries: n, keys: n });

test('a view stays in its map, zooms about a place, and moves as little as it must', () => {
  assert.deepEqual(fit(null, square(50)), { query: 0, key: 0, span: 50 });
  assert.deepEqual(fit({ query: 48, key: -3, span: 1 }, square(50)), {
    query: 44,
    key: 0,
    span: 6,
  });
  assert.deepEqual(fit({ query: 1, key: 1, span: 9 }, square(4)), { query: 0, key: 0, span: 4 });
  const view = { query: 10, key: 20, span: 20 };
  assert.deepEqual(zoom(view, square(100), 0.5, { x: 0.5, y: 1 }), {
    query: 20,
    key: 25,
    span: 10,
  });
  assert.deepEqual(zoom(view, square(100), 99, { x: 0.5, y: 1 }), { query: 0, key: 0, span: 100 });
  assert.deepEqual(reveal(view, square(100), { query: 31, key: 25 }), {
    query: 12,
    key: 20,
    span: 20,
  });
  assert.deepEqual(reveal(view, square(100), { query: 3, key: 19 }), {
    query: 3,
    key: 19,
    span: 20,
  });
});

test('what is computed for a view is it and a margin, in as many cells as pixels', () => {
  const view = { query: 400, key: 100, span: 200 };
  const region = regionOf(view, square(1000), square(100));
  assert.deepEqual(region, { queries: [350, 650], keys: [50, 350], height: 150, width: 150 });
  assert.ok(suffices(region, view, square(1000), square(100)));
  assert.ok(suffices(region, { ...view, query: 450 }, square(1000), square(100)));
  assert.ok(
    !suffices(region, { ...view, query: 460 }, square(1000), square(100)),
    'beyond the margin',
  );
  assert.ok(
    !suffices(region, { query: 400, key: 100, span: 100 }, square(1000), square(100)),
    'too coarse',
  );
  const exact = regionOf({ query: 0, key: 0, span: 50 }, square(1000), square(100));
  assert.deepEqual([exact.height, exact.width], [63, 63]);
});

test('labels are tokens where there is room, else round numbers', () => {
  assert.deepEqual(labelledTokens(2, 5, 100, 300), { tokens: [2, 3, 4, 5, 6], isNumbered: false });
  const { tokens, isNumbered } = labelledTokens(0, 100, 100, 300);
  assert.ok(isNumbered);
  assert.deepEqual(tokens.slice(0, 3), [19, 39, 59]);
});

test('a map’s tip names the finest cell that is known', () => {
  const names = Array.from({ length: 8 }, (_, i) => `t${i}`);
  const how = { causal: true, signed: false };
  const map = { queryNames: names, keyNames: names, noun: 'weight', how };
  const whole = {
    queries: /** @type {[number, number]} */ ([0, 8]),
    keys: /** @type {[number, number]} */ ([0, 8]),
    height: 2,
    width: 2,
    values: Float32Array.of(0.5, 0, 0.25, 0.75),
    largest: Float32Array.of(0.5, 0.75),
  };
  const part = {
    ...whole,
    queries: /** @type {[number, number]} */ ([4, 6]),
    keys: /** @type {[number, number]} */ ([2, 4]),
    values: Float32Array.of(0.1, 0.2, 0.3, 0.4),
  };
  const say = (/** @type {number} */ query, /** @type {number} */ key, words = map) => {
    const cell = cellAt([whole, part], query, key);
    return cell && wordsOf(cell, words);
  };
  assert.equal(say(5, 2), '“t5” (6) → “t2” (3): 0.3000');
  assert.equal(say(7, 2), 'tokens 5 to 8 → tokens 1 to 4: largest weight 0.2500');
  assert.equal(say(0, 7), 'tokens 1 to 4 → tokens 5 to 8: masked, a later token');
  assert.equal(
    say(5, 2, { ...map, how: { ...how, signed: true } }),
    '“t5” (6) → “t2” (3): +0.3000',
  );
});
