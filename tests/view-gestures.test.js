// Pointers over a map, told to a stand-in for its field: a wide one, where a share of the height is fewer pixels than one
// of the width.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listenTo } from '../web/headwise/view/gestures.js';

const BOX = { left: 10, top: 20, width: 800, height: 100 };

/** A field of 8:1, what was heard over it, and what tells it of a pointer. */
function wideField() {
  const field = Object.assign(new EventTarget(), {
    clientWidth: BOX.width,
    getBoundingClientRect: () => BOX,
    setPointerCapture() {},
  });
  /** @type {[what: string, ...of: unknown[]][]} */
  const heard = [];
  const hear =
    (/** @type {string} */ what) =>
    (/** @type {unknown[]} */ ...of) =>
      heard.push([what, ...of]);
  listenTo(/** @type {any} */ (field), {
    canZoom: () => true,
    leave: () => {},
    hover: hear('hover'),
    click: hear('click'),
    drag: hear('drag'),
    zoom: hear('zoom'),
  });
  /** @param {string} type @param {number} x @param {number} y in the field, in pixels @param {object} [more] */
  const tell = (type, x, y, more) => {
    const [clientX, clientY] = [BOX.left + x, BOX.top + y];
    const of = { pointerId: 1, isPrimary: true, button: 0, buttons: 1, shiftKey: false, ...more };
    field.dispatchEvent(Object.assign(new Event(type), { clientX, clientY, ...of }));
  };
  return { heard, tell };
}

test('a pointer that trembles over a low map clicks, however often it is heard', () => {
  const { heard, tell } = wideField();
  tell('pointerdown', 400, 50);
  for (let i = 0; i < 10; i++) {
    tell('pointermove', 400, 53);
    tell('pointermove', 400, 50);
  }
  tell('pointerup', 400, 50);
  tell('click', 400, 50);
  assert.deepEqual(heard, [['click', { x: 0.5, y: 0.5 }, false]]);
});

test('of a double click the first is one, and the second zooms alone', () => {
  const { heard, tell } = wideField();
  for (const detail of [1, 2]) {
    tell('pointerdown', 400, 50);
    tell('pointerup', 400, 50);
    tell('click', 400, 50, { detail });
  }
  tell('dblclick', 400, 50);
  assert.deepEqual(
    heard.map(([what]) => what),
    ['click', 'zoom'],
  );
});

test('a finger that touches a map is told the cell, as a mouse that hovers', () => {
  const { heard, tell } = wideField();
  tell('pointerdown', 400, 50, { pointerType: 'mouse' });
  tell('pointerup', 400, 50, { pointerType: 'mouse' });
  assert.deepEqual(heard, []);
  tell('pointerdown', 200, 25, { pointerType: 'touch' });
  tell('pointerdown', 600, 25, { pointerType: 'touch', pointerId: 2, isPrimary: false });
  assert.deepEqual(heard, [['hover', { x: 0.25, y: 0.25 }]]);
});

test('a pointer that moves eight pixels drags, in shares of each side', () => {
  for (const [x, y] of [
    [8, 0],
    [0, 8],
  ]) {
    const { heard, tell } = wideField();
    tell('pointerdown', 400, 50);
    tell('pointermove', 400 + x, 50 + y);
    tell('pointerup', 400 + x, 50 + y);
    tell('click', 400 + x, 50 + y);
    assert.equal(heard.length, 1);
    const [[what, by]] = heard;
    assert.equal(what, 'drag');
    const { x: right, y: down } = /** @type {{ x: number, y: number }} */ (by);
    assert.ok(Math.abs(right - x / 800) < 1e-12 && Math.abs(down - y / 100) < 1e-12);
  }
});

test('two fingers zoom by how far apart they are on the screen', () => {
  const { heard, tell } = wideField();
  tell('pointerdown', 400, 20);
  tell('pointerdown', 420, 20, { pointerId: 2, isPrimary: false });
  // From 20 pixels beside one another to 40 below one another.
  tell('pointermove', 400, 60, { pointerId: 2, isPrimary: false });
  assert.deepEqual(heard, [['zoom', 0.5, { x: 0.5, y: 0.4 }]]);
});
