// HeadTable, all heads of both modules as small maps, on elements that keep what is done to them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeadTable } from '../web/page/compare/head-table.js';

/** @import { Choice } from '../web/page/compare/head-table.js' */
import { FakeElement, installDocument } from './fakes.js';

const [SIDE, RATIO] = [60, 1.5];
installDocument({ canvasSide: SIDE, ratio: RATIO });

/** A table, of which the wrapper's row is looked at. @param {number} [heads] */
function gridOf(heads) {
  const room = new FakeElement('div');
  /** @type {Choice[]} */
  const chosen = [];
  const table = new HeadTable(/** @type {any} */ (room), (choice) => chosen.push(choice));
  const grid = {
    table,
    set heads(/** @type {number} */ count) {
      table.heads = count;
    },
    set chosen(/** @type {number} */ head) {
      table.chosen = { mode: 'wrapper', head };
    },
    get resolution() {
      return table.resolution;
    },
    show: (/** @type {number} */ head, /** @type {any} */ map, /** @type {any} */ max) =>
      table.show({ mode: 'wrapper', head }, map, max),
  };
  if (heads !== undefined) grid.heads = heads;
  /** @param {number} row */
  const buttonsOf = (row) =>
    /** @type {FakeElement[]} */ (
      /** @type {FakeElement} */ (room.children[row + 1]).children.slice(1)
    );
  const buttons = () => buttonsOf(0);
  const canvases = () => buttons().map(({ children }) => /** @type {FakeElement} */ (children[0]));
  return { grid, room, chosen, buttons, buttonsOf, canvases };
}

/**
 * @param {number[]} values of a square map
 * @param {{ n?: number, causal?: boolean }} [options]
 * @returns {any}
 */
function mapOf(values, { n, causal = false } = {}) {
  const size = Math.sqrt(values.length);
  return { n: n ?? size, size, values: Float32Array.from(values), causal };
}

/** Alpha of every cell that a canvas shows: 0 where nothing was drawn. @param {FakeElement} canvas */
const alphas = (canvas) => {
  const { data } = /** @type {any} */ (canvas.drawn.at(-1)).image;
  return Array.from(data.filter((/** @type {number} */ _, /** @type {number} */ i) => i % 4 === 3));
};

/** @param {FakeElement} canvas */
const pixels = (canvas) => [.../** @type {any} */ (canvas.drawn.at(-1)).image.data];

test('each head has a button of its own with a map and a name', () => {
  const { room, buttons, canvases } = gridOf(3);
  assert.equal(buttons().length, 3);
  assert.equal(room.dataset.heads, '3');
  assert.ok(buttons().every(({ name, attributes }) => name === 'button' && attributes.type));
  assert.ok(canvases().every(({ name }) => name === 'canvas'));
  const names = buttons().map(({ attributes }) => attributes['aria-label']);
  assert.equal(new Set(names).size, 3);
  assert.ok(names.every((name) => /\d/.test(name)));
});

test('a click chooses the head that was clicked, of the module in whose row it is', () => {
  const { chosen, buttonsOf } = gridOf(3);
  buttonsOf(0)[2].click();
  buttonsOf(1)[0].click();
  buttonsOf(2)[2].click();
  assert.deepEqual(chosen, [
    { mode: 'wrapper', head: 2 },
    { mode: 'fused', head: 0 },
    { mode: 'difference', head: 2 },
  ]);
});

test('a map of one module is not drawn in the row of another', () => {
  const { grid, buttonsOf } = gridOf(2);
  grid.table.show({ mode: 'fused', head: 1 }, mapOf([1]), 1);
  const drawn = [0, 1, 2].map((row) =>
    buttonsOf(row).map(({ children }) => /** @type {FakeElement} */ (children[0]).drawn.length),
  );
  assert.deepEqual(drawn, [
    [0, 0],
    [0, 1],
    [0, 0],
  ]);
});

test('the chosen head alone is pressed', () => {
  const { grid, buttons } = gridOf(3);
  const pressed = () => buttons().map(({ attributes }) => attributes['aria-pressed']);
  grid.chosen = 1;
  assert.deepEqual(pressed(), ['false', 'true', 'false']);
  grid.chosen = 2;
  assert.deepEqual(pressed(), ['false', 'false', 'true']);
  grid.chosen = 7; // of a model with more heads, before the grid has them
  assert.deepEqual(pressed(), ['false', 'false', 'false']);
});

test('as many heads as before keep their maps, another number gets new ones', () => {
  const { grid, room, buttons, canvases } = gridOf(2);
  const before = buttons();
  grid.show(0, mapOf([1, 0, 0, 1]), 1);
  grid.heads = 2;
  assert.ok(buttons().every((button, i) => button === before[i]));
  assert.equal(canvases()[0].drawn.length, 1);
  grid.heads = 4;
  assert.equal(buttons().length, 4);
  assert.equal(room.dataset.heads, '4');
  assert.ok(buttons().every((button) => !before.includes(button)));
  assert.ok(canvases().every(({ drawn }) => drawn.length === 0));
});

test('a grid whose heads are taken away is empty', () => {
  const { grid, room, buttons } = gridOf(2);
  grid.heads = 0;
  assert.equal(buttons().length, 0);
  assert.equal(room.dataset.heads, '0');
  grid.chosen = 0;
  grid.show(0, mapOf([1]), 1);
});

test('a map is drawn on its own head’s canvas, which says how large it is', () => {
  const { grid, canvases } = gridOf(3);
  grid.show(1, mapOf([1, 0, 0.5, 0.5]), 1);
  assert.deepEqual(
    canvases().map(({ drawn }) => drawn.length),
    [0, 1, 0],
  );
  const [, canvas] = canvases();
  assert.deepEqual([canvas.width, canvas.height], [SIDE * RATIO, SIDE * RATIO]);
  assert.equal(canvas.dataset.size, '2');
  assert.equal(canvas.dataset.pooled, 'false');
  assert.deepEqual(alphas(canvas), [255, 255, 255, 255]);
});

test('a map of fewer cells than tokens says that its cells cover several', () => {
  const { grid, canvases } = gridOf(1);
  grid.show(0, mapOf([1, 0, 0.5, 0.5], { n: 8 }), 1);
  assert.deepEqual([canvases()[0].dataset.size, canvases()[0].dataset.pooled], ['2', 'true']);
});

test('what causality hides is not drawn', () => {
  const { grid, canvases } = gridOf(1);
  grid.show(0, mapOf([1, 0, 0, 0.5, 0.5, 0, 0.2, 0.3, 0.5], { causal: true }), 1);
  assert.deepEqual(alphas(canvases()[0]), [255, 0, 0, 255, 255, 0, 255, 255, 255]);
});

test('maps that arrive in any order stay on their heads, the latest of each in sight', () => {
  const { grid, canvases } = gridOf(2);
  const [dark, bright] = [mapOf([0]), mapOf([1])];
  grid.show(1, bright, 1);
  grid.show(0, dark, 1);
  grid.show(1, dark, 1);
  const [first, second] = canvases();
  assert.deepEqual([first.drawn.length, second.drawn.length], [1, 2]);
  assert.deepEqual(pixels(second), pixels(first));
  grid.show(1, bright, 1);
  assert.notDeepEqual(pixels(second), pixels(first));
});

test('a map that arrives when there are fewer heads is not drawn', () => {
  const { grid, canvases } = gridOf(4);
  grid.heads = 2;
  grid.show(3, mapOf([1]), 1);
  assert.ok(canvases().every(({ drawn }) => drawn.length === 0));
});

test('colours go by the scale that is given', () => {
  const { grid, canvases } = gridOf(1);
  const [canvas] = canvases();
  const shown = [1, 0.5, 'map'].map((max) => {
    grid.show(0, mapOf([0.5]), /** @type {any} */ (max));
    return pixels(canvas);
  });
  assert.notDeepEqual(shown[0], shown[1]);
  assert.deepEqual(shown[1], shown[2]);
});

test('a scale that is none is refused, and the map before it stays described', () => {
  const { grid, canvases } = gridOf(1);
  grid.show(0, mapOf([1, 0, 0, 1]), 1);
  assert.throws(() => grid.show(0, mapOf([1]), NaN), { code: 'ERR_VALUE' });
  assert.equal(canvases()[0].dataset.size, '2');
  grid.show(0, mapOf([1]), 1);
  assert.equal(canvases()[0].dataset.size, '1');
});

test('maps are asked for with a cell for each pixel of the screen', () => {
  assert.equal(gridOf(2).grid.resolution, SIDE * RATIO);
  assert.equal(gridOf().grid.resolution, 96 * RATIO);
});
