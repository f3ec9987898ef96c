// The sum of a logit as the Explore room draws it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { largestFirst, partsOf, rangeOf, stacked, sumOf } from '../web/page/explore/why/sum.js';
import { normRows } from '../web/page/explore/worker/heads.js';
import { digitsFor, exact, placeIn, signed } from '../web/page/explore/why/bars.js';
import { windowOf } from '../web/page/explore/why/lens-view.js';
import {
  largestPairs,
  partInWords,
  sideParts,
  strongestKey,
} from '../web/page/explore/why/score/parts.js';
import { nameOf, wordsOf } from '../web/page/explore/why/part-names.js';
import { rangeFrom0 } from '../web/page/explore/why/part-table.js';
import { shuffles } from '../web/page/explore/worker/shuffles.js';
import { formatExplore, parseExplore } from '../web/page/explore/address.js';

const ATTRIBUTION = {
  heads: [1, -2, 0.5, 0.25],
  mlps: [3, -1],
  embedding: 0.75,
  biases: -0.5,
};
const TOTAL = 2;

test('the parts stand in the order in which the model adds them, and add up to the logit', () => {
  const parts = partsOf(ATTRIBUTION);
  assert.deepEqual(
    parts.map(({ kind, layer, value }) => [kind, layer, value]),
    [
      ['embedding', undefined, 0.75],
      ['layer', 0, -1],
      ['mlp', 0, 3],
      ['layer', 1, 0.75],
      ['mlp', 1, -1],
      ['biases', undefined, -0.5],
    ],
  );
  assert.deepEqual(
    parts[3].parts?.map(({ layer, head, value }) => [layer, head, value]),
    [
      [1, 0, 0.5],
      [1, 1, 0.25],
    ],
  );
  assert.equal(sumOf(parts.map(({ value }) => value)), TOTAL);
});

test('a model without feed-forward has no rows of them', () => {
  const parts = partsOf({ ...ATTRIBUTION, mlps: [0, 0] });
  assert.deepEqual(
    parts.map(({ kind }) => kind),
    ['embedding', 'layer', 'layer', 'biases'],
  );
});

test('each part begins where the one before ends', () => {
  const rows = stacked(partsOf(ATTRIBUTION));
  assert.equal(rows[0].start, 0);
  for (const [i, { start, end, value }] of rows.entries()) {
    assert.equal(end, start + value);
    if (i > 0) assert.equal(start, rows[i - 1].end);
  }
  assert.equal(rows.at(-1)?.end, TOTAL);
  const [heads] = rows.filter(({ kind }) => kind === 'layer');
  const within = stacked(heads.parts ?? [], heads.start);
  assert.deepEqual([within[0].start, within.at(-1)?.end], [heads.start, heads.end]);
  assert.deepEqual(rangeOf([...rows, ...within]), [-0.25, 3.5]);
});

test('the largest come first, heads by themselves, and the others are one part', () => {
  const all = largestFirst(partsOf(ATTRIBUTION), 20);
  assert.deepEqual(
    all.map(({ value }) => value),
    [3, -2, 1, -1, 0.75, 0.5, -0.5, 0.25],
  );
  const few = largestFirst(partsOf(ATTRIBUTION), 4);
  assert.deepEqual(few.at(-1), { kind: 'rest', count: 4, value: 1 });
  assert.equal(sumOf(few.map(({ value }) => value)), TOTAL);
  // One alone is no rest.
  assert.deepEqual(largestFirst(partsOf(ATTRIBUTION), 7), all);
});

test('a map by value norms has shares: each row sums to 1, and a head that writes nothing has zeros', () => {
  const norms = [
    [2, 0],
    [1, 3],
    [0, 0],
  ];
  const source = {
    ...{ n: 2, layers: 1, heads: 1, causal: false },
    rows: () => new Float32Array(2).fill(0.5),
    norms: (
      /** @type {number} */ _layer,
      /** @type {number} */ _head,
      /** @type {number} */ start,
      /** @type {number} */ end,
    ) => Float32Array.from(norms.slice(start, end).flat()),
  };
  assert.deepEqual([...normRows(source, 0, 0)(0, 3)], [1, 0, 0.25, 0.75, 0, 0]);
  // Opened weights have no values.
  assert.deepEqual([...normRows({ ...source, norms: undefined }, 0, 0)(0, 1)], [0.5, 0.5]);
});

test('the parts of a score stand with the largest first, and those that give nothing are left out', () => {
  const side = { heads: [1, -2, 0, 0.25], mlps: [3, 0], embedding: 0.75, biases: -0.5 };
  const [all, few] = [20, 3].map((most) =>
    sideParts(/** @type {any} */ (side), most).map(({ kind, value }) => [kind, value]),
  );
  assert.deepEqual(all, [
    ['mlp', 3],
    ['head', -2],
    ['head', 1],
    ['embedding', 0.75],
    ['biases', -0.5],
    ['head', 0.25],
  ]);
  assert.deepEqual(few, [...all.slice(0, 3), ['rest', 0.5]]);
  // Below the first layer there is no head.
  const first = { heads: [], mlps: [], embedding: 2, biases: 0 };
  assert.deepEqual(sideParts(/** @type {any} */ (first), 6), [{ kind: 'embedding', value: 2 }]);
});

test('the pairs that give most are told by what asks and what answers, the others together', () => {
  const parts = /** @type {const} */ ([
    ...[
      { kind: 'head', layer: 0, head: 0 },
      { kind: 'mlp', layer: 0 },
    ],
    ...[{ kind: 'embedding' }, { kind: 'biases' }],
  ]);
  const scores = new Float32Array(16);
  [scores[2], scores[4], scores[15], scores[7]] = [-3, 2, 1, 0.5];
  const found = largestPairs({ parts: [...parts], scores }, 2);
  assert.deepEqual(found, {
    pairs: [
      { query: parts[0], key: parts[2], value: -3 },
      { query: parts[1], key: parts[0], value: 2 },
    ],
    ...{ rest: 2, restValue: 1.5 },
  });
  assert.deepEqual(parts.map(partInWords), [
    'what L0H0 wrote',
    'what the feed-forward of layer 0 wrote',
    'the embedding',
    'the biases',
  ]);
});

test('the key that gets most is looked at, the first of equal ones', () => {
  assert.deepEqual([[0.2, 0.5, 0.3], [0.5, 0.5], [1]].map(strongestKey), [1, 0, 0]);
});

test('nothing but zeros has a range too', () => {
  assert.deepEqual(rangeOf([]), [0, 1]);
});

test('the address of the view', () => {
  const address = 'by=attribution&key=3&mode=why&parts=size';
  const state = parseExplore(new URLSearchParams(address));
  const { mode, by, parts, key } = state;
  assert.deepEqual(
    { mode, by, parts, key },
    { mode: 'why', by: 'attribution', parts: 'size', key: 2 },
  );
  assert.equal(parseExplore(new URLSearchParams('key=0')).key, null);
  const params = formatExplore(state);
  params.sort();
  assert.equal(params.toString(), address);
});

test('the lens shows as many tokens as fit, with the one that is asked about', () => {
  assert.deepEqual(windowOf(10, 4), { from: 0, to: 10 });
  assert.deepEqual(windowOf(100, 0), { from: 0, to: 24 });
  assert.deepEqual(windowOf(100, 50), { from: 34, to: 58 });
  assert.deepEqual(windowOf(100, 99), { from: 76, to: 100 });
});

test('shuffled texts have the same tokens in other orders, the first in its place', () => {
  const ids = Array.from({ length: 20 }, (_, i) => 100 + i);
  const texts = shuffles(ids);
  assert.equal(new Set(texts.map(String)).size, texts.length);
  for (const text of texts) {
    assert.equal(text[0], 100);
    assert.notDeepEqual(text, ids);
    assert.deepEqual(
      text.toSorted((a, b) => a - b),
      ids,
    );
  }
  assert.deepEqual(shuffles(ids), texts);
  assert.deepEqual(shuffles([7])[0], [7]);
  // Of two tokens too, each order may come.
  assert.ok(shuffles([1, 2, 3]).some(([, second]) => second === 3));
});

test('parts are written with their sign, and nothing has none', () => {
  assert.deepEqual(
    [1.234, -1.234, 0.004, -0.004, 0].map((value) => signed(value)),
    [...['+1.23', '−1.23', '0.00', '0.00', '0.00']],
  );
  assert.equal(signed(-0.004, 3), '−0.004');
  assert.deepEqual([1, 0, -1].map(exact), ['+1.0000', '0.0000', '−1.0000']);
});

test('small parts have as many digits as tell them apart, within bounds', () => {
  assert.deepEqual([0, 25, 0.5, 0.05, 0.0004, 1e-12].map(digitsFor), [2, 2, 2, 3, 5, 6]);
});

test('bars that begin at 0 have a place, also where all are 0', () => {
  assert.deepEqual(rangeFrom0([-1, 3]), [-1, 3]);
  assert.deepEqual(rangeFrom0([2, 3]), [0, 3]);
  assert.deepEqual([0, 2, 4].map(placeIn([0, 4])), [0, 50, 100]);
  assert.equal(placeIn(rangeFrom0([0, 0]))(0), 0);
});

test('each part of a logit has a name and words', () => {
  const heads = [0, 1].map((head) => ({ kind: 'head', layer: 2, head, value: 1 }));
  const layer = /** @type {const} */ ({ kind: 'layer', layer: 2, value: 2 });
  const told = (/** @type {any} */ part) => [nameOf(part), wordsOf(part)];
  assert.deepEqual(told({ ...layer, parts: heads }), [
    'L2 heads',
    'The 2 heads of layer 2 together',
  ]);
  assert.deepEqual(told({ ...layer, parts: [heads[0]] }), ['L2 heads', 'The head of layer 2']);
  assert.deepEqual(told(heads[1]), ['L2H1', 'Layer 2, head 1']);
  assert.deepEqual(told({ kind: 'mlp', layer: 2 }), [
    ...['L2 feed-forward', 'The feed-forward of layer 2'],
  ]);
  assert.deepEqual(told({ kind: 'rest', count: 7 }), ['7 smaller', '7 smaller parts together']);
});
