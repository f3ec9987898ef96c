// Pointers over a map, told to a stand-in for its field: a wide one, where a share of the height is fewer pixels than one
// of the width.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listenTo } from '../web/headwise/view/gestures.js';

const BOX = { left: 10, top: 20, width: 800, height: 100 };

/** A field of 8:1, what was heard over it, and what tells it of a pointer. @param {boolean} [canZoom] */
function wideField(canZoom = true) {
  /** @type {number[]} */
  const captured = [];
  const field = Object.assign(new EventTarget(), {
    clientWidth: BOX.width,
    getBoundingClientRect: () => BOX,
    setPointerCapture: (/** @type {number} */ id) => captured.push(id),
  });
  /** @type {[what: string, ...of: unknown[]][]} */
  const heard = [];
  const hear =
    (/** @type {string} */ what) =>
    (/** @type {unknown[]} */ ...of) =>
      heard.push([what, ...of]);
  listenTo(/** @type {any} */ (field), {
    canZoom: () => canZoom,
    leave: hear('leave'),
    hover: hear('hover'),
    click: hear('click'),
    drag: hear('drag'),
    zoom: hear('zoom'),
  });
  /** @param {string} type @param {number} x @param {number} y in the field, in pixels @param {object} [more] */
  const tell = (type, x, y, more) => {
    const [clientX, clientY] = [BOX.left + x, BOX.top + y];
    const of = { pointerId: 1, isPrimary: true, button: 0, buttons: 1, shiftKey: false, ...more };
    const event = Object.assign(new Event(type, { cancelable: true }), { clientX, clientY, ...of });
    field.dispatchEvent(event);
    return event;
  };
  return { heard, tell, captured };
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

test('a click with Shift right after a click pins the key, as one that comes later', () => {
  const { heard, tell } = wideField();
  tell('click', 400, 50, { detail: 1 });
  tell('click', 400, 50, { detail: 2, shiftKey: true });
  tell('dblclick', 400, 50, { shiftKey: true });
  assert.deepEqual(
    heard.map(([what, , withShift]) => [what, withShift]),
    [
      ['click', false],
      ['click', true],
    ],
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

test('where nothing zooms a double click is two clicks, and the wheel scrolls the page', () => {
  const { heard, tell } = wideField(false);
  for (const detail of [1, 2]) tell('click', 400, 50, { detail });
  tell('dblclick', 400, 50);
  const { defaultPrevented } = tell('wheel', 400, 50, { deltaY: -100, ctrlKey: true });
  assert.deepEqual([heard.map(([what]) => what), defaultPrevented], [['click', 'click'], false]);
});

test('the wheel zooms with Ctrl or the Command key, in place of the page', () => {
  for (const key of ['ctrlKey', 'metaKey']) {
    const { heard, tell } = wideField();
    assert.equal(tell('wheel', 400, 50, { deltaY: -100 }).defaultPrevented, false);
    assert.equal(tell('wheel', 400, 50, { deltaY: -100, [key]: true }).defaultPrevented, true);
    assert.deepEqual(heard, [['zoom', Math.exp(-0.4), { x: 0.5, y: 0.5 }]]);
  }
});

test('only the first button drags, and holds the pointer', () => {
  const { heard, tell, captured } = wideField();
  tell('pointerdown', 400, 50, { button: 2, buttons: 2 });
  tell('pointermove', 480, 50, { buttons: 2 });
  assert.deepEqual([heard, captured], [[['hover', { x: 0.6, y: 0.5 }]], []]);
  tell('pointerdown', 400, 50);
  assert.deepEqual(captured, [1]);
});

test('a pointer that the browser took over, or whose end was not heard, is down no more', () => {
  const { heard, tell } = wideField();
  tell('pointerdown', 400, 50);
  tell('pointercancel', 400, 50);
  tell('pointermove', 480, 50);
  tell('pointerdown', 400, 50);
  tell('pointerdown', 400, 50, { pointerId: 2 });
  tell('pointermove', 480, 50, { pointerId: 2 });
  assert.deepEqual(
    heard.map(([what]) => what),
    ['hover', 'drag'],
  );
});

test('fingers that zoomed, or one that dragged before another came, do not click', () => {
  for (const zooms of [true, false]) {
    const { heard, tell } = wideField();
    tell('pointerdown', 400, 50);
    if (!zooms) tell('pointermove', 408, 50);
    tell('pointerdown', 500, 50, { pointerId: 2, isPrimary: false });
    if (zooms) tell('pointermove', 520, 50, { pointerId: 2, isPrimary: false });
    tell('pointerup', 500, 50, { pointerId: 2, isPrimary: false });
    tell('pointerup', 400, 50);
    tell('click', 400, 50);
    assert.deepEqual(
      heard.map(([what]) => what),
      [zooms ? 'zoom' : 'drag'],
    );
  }
});

test('fingers that touch each other zoom no more than fingers four pixels apart', () => {
  const { heard, tell } = wideField();
  tell('pointerdown', 400, 50);
  tell('pointerdown', 401, 50, { pointerId: 2, isPrimary: false });
  tell('pointermove', 408, 50, { pointerId: 2, isPrimary: false });
  assert.equal(heard[0][1], 0.5);
});
