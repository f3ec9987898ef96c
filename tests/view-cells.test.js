// What a map shows of its cells: which it asks for, looks at, names and reads out. None of it needs a page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareOf } from '../web/headwise/view/colour.js';
import { labelledTokens, roomFor } from '../web/headwise/view/labels.js';
import { poolWeights } from '../web/headwise/view/pool.js';
import { readView } from '../web/headwise/view/read-view.js';
import { placeTip, wordsOf } from '../web/headwise/view/readout.js';
import { traceSource } from '../web/headwise/view/source.js';
import { tellingCell } from '../web/headwise/view/telling-cell.js';
import { fit, isSeen, reveal, suffices, wholeOf } from '../web/headwise/view/viewport.js';

const square = { queries: 20, keys: 20 };

test('a view stays inside its map, with at least six keys, and goes as far as a cell', () => {
  assert.deepEqual(fit({ query: -5, key: -5, span: 1 }, square), { query: 0, key: 0, span: 6 });
  assert.deepEqual(fit({ query: 30, key: 30, span: 8 }, square), { query: 12, key: 12, span: 8 });
  const view = { query: 5, key: 5, span: 6 };
  assert.deepEqual(reveal(view, square, { query: 2, key: 3 }), { query: 2, key: 3, span: 6 });
  assert.deepEqual(reveal(view, square, { query: 11, key: 12 }), { query: 6, key: 7, span: 6 });
});

test('a token of which a part is in view is seen', () => {
  const view = { query: 2.5, key: 0, span: 6 };
  const seen = [1, 2, 8, 9].filter((token) => isSeen(view, square, { side: 'query', token }));
  assert.deepEqual(seen, [2, 8]);
});

test('cells suffice that are as fine as pixels along both sides, or two thirds as fine', () => {
  const size = { queries: 1000, keys: 1000 };
  const all = /** @type {[number, number]} */ ([0, 1000]);
  /** @param {number} height @param {number} width */
  const isEnough = (height, width) =>
    suffices({ queries: all, keys: all, height, width }, wholeOf(size), size, {
      queries: 100,
      keys: 100,
    });
  assert.deepEqual([isEnough(70, 70), isEnough(60, 70), isEnough(70, 60)], [true, false, false]);
});

test('the most telling cell is drawn whole in view, else the last one there that its query sees', () => {
  const none = { query: -1, key: -1 };
  const view = { query: 3, key: 3, span: 10 };
  const map = { size: square, causal: false };
  assert.deepEqual(tellingCell(undefined, view, map, none), { query: 12, key: 12 });
  const values = [9, 9, 9, 9, 9, 1, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9];
  const all = /** @type {[number, number]} */ ([0, 20]);
  const layer = { queries: all, keys: all, height: 4, width: 4, values };
  assert.deepEqual(tellingCell(layer, view, map, none), { query: 7, key: 7 });
  const cached = { size: { queries: 2, keys: 5 }, causal: true };
  const last = { query: 1, key: 4 };
  assert.deepEqual(tellingCell(undefined, wholeOf(cached.size), cached, none), last);
});

test('labels that have no room are round numbers, of tokens whose middle is in view', () => {
  const numbered = labelledTokens(0, 100, 100, 400);
  assert.deepEqual(numbered, { tokens: [9, 19, 29, 39, 49, 59, 69, 79, 89, 99], isNumbered: true });
  assert.deepEqual(labelledTokens(0, 100, 100, 200).tokens, [19, 39, 59, 79, 99]);
  const named = labelledTokens(0.7, 3, 9, 300);
  assert.deepEqual(named, { tokens: [1, 2, 3], isNumbered: false });
});

test('a map that zooms has room for the names of its axes beside short tokens', () => {
  const names = [
    ['a', 'b'],
    ['a', 'b'],
  ];
  const map = { width: 300, em: 12.8, names, aspect: 1 };
  assert.equal(roomFor({ ...map, canZoom: false }).letters, 2);
  assert.equal(roomFor({ ...map, canZoom: true }).letters, 7);
});

test('a value is read out with its noun, and a sign where it is a difference', () => {
  const cell = { queries: [0, 1], keys: [1, 2] };
  const names = { queryNames: ['a', 'b'], keyNames: ['a', 'b'] };
  /** @param {number} value @param {string} noun @param {boolean} signed */
  const words = (value, noun, signed) =>
    wordsOf(/** @type {any} */ ({ ...cell, value }), {
      ...names,
      noun,
      how: { causal: false, signed },
    });
  assert.equal(words(0.5, 'score', false), '“a” (1) → “b” (2): score 0.5000');
  assert.equal(words(0.5, 'change', true), '“a” (1) → “b” (2): +0.5000');
  assert.equal(words(0, 'change', true), '“a” (1) → “b” (2): 0');
});

test('a trace that gives all its rows, whichever are asked for, is read at those', async () => {
  const data = Float32Array.from({ length: 600 }, (_, i) => Math.floor(i / 2) + (i % 2) / 2);
  let reads = 0;
  const weights = () => (reads++, { shape: [300, 2], data });
  const trace = { shape: [1, 1, 300, 2], weights, map: () => ({ shape: [1, 1], data: [0] }) };
  const source = await traceSource(trace, {});
  const region = { queries: [100, 300], keys: [1, 2], height: 200, width: 1 };
  const { values } = await source.ask(/** @type {any} */ (region));
  assert.deepEqual(
    Array.from(values),
    Array.from({ length: 200 }, (_, i) => 100.5 + i),
  );
  assert.equal(reads, 1);
});

test('labels of the queries alone say how many there are, of cells that are computed', async () => {
  const cells = () => ({ values: [] });
  const view = { cells, tokens: ['a', 'b', 'c', 'd'], queryTokens: ['x', 'y'] };
  const { source, queryNames } = await readView(view);
  assert.deepEqual([source.size, queryNames], [{ queries: 2, keys: 4 }, ['x', 'y']]);
});

test('labels beyond the last token are left out, and those of queries are of the last keys', async () => {
  const tokens = ['a', 'b', 'c', 'd'];
  const { queryNames, keyNames } = await readView({ weights: [[0.5, 0.5, 0]], tokens });
  assert.deepEqual([queryNames, keyNames], [['c'], ['a', 'b', 'c']]);
});

test('a readout stands below cells of the upper half, and above those of the lower', () => {
  const places = [0.4, 0.6, 2].map((y) => {
    /** @type {unknown[]} */
    const seen = [];
    const put = (/** @type {unknown[]} */ ...of) => void seen.push(...of);
    const tip = { style: { setProperty: put }, classList: { toggle: put } };
    placeTip(/** @type {any} */ (tip), { x: 0.5, y });
    return seen.slice(2);
  });
  assert.deepEqual(places, [
    ['--y', '40%', 'above', false],
    ['--y', '60%', 'above', true],
    ['--y', '100%', 'above', true],
  ]);
});

test('a row’s scale ends at the largest of all its keys, looked at or not', () => {
  const region = { queries: [0, 2], keys: [0, 2], height: 2, width: 2 };
  const pooled = poolWeights([1, 2, 9, 3, 4, 0], 3, /** @type {any} */ (region));
  assert.deepEqual([...pooled.values], [1, 2, 3, 4]);
  assert.deepEqual([...pooled.largest], [9, 4]);
});

test('four decades below its end a logarithmic scale is at its start', () => {
  const shares = [1, 0.01, 1e-4, 1e-9, 0].map((value) => shareOf(value, 1, 'log'));
  assert.deepEqual(shares, [1, 0.5, 0, 0, 0]);
});
