// Keys over a map, told to a stand-in for its field, and where they lead.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listenToKeys } from '../web/headwise/view/keys.js';
import { stepOf } from '../web/headwise/view/steps.js';

/** What was heard of keys, and what presses one and says whether the page is kept from it. @param {object} [more] actions */
function keyField(more) {
  const field = new EventTarget();
  /** @type {unknown[][]} */
  const heard = [];
  const hear =
    (/** @type {string} */ what) =>
    (/** @type {unknown[]} */ ...of) =>
      void heard.push([what, ...of]);
  const actions = {
    pin: hear('pin'),
    turn: hear('turn'),
    zoom: hear('zoom'),
    showAll: hear('all'),
  };
  const can = { canAct: () => true, canZoom: () => true, move: () => false };
  listenToKeys(/** @type {any} */ (field), { ...actions, ...can, ...more });
  /** @param {string} key @param {object} [held] */
  const press = (key, held) => {
    const none = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
    const event = new Event('keydown', { cancelable: true });
    return !field.dispatchEvent(Object.assign(event, { key, ...none, ...held }));
  };
  return { heard, press };
}

test('every key of a map does what it is for, and the page does nothing with it', () => {
  const { heard, press } = keyField();
  for (const key of ['Enter', ' ', '[', ']', '+', '=', '-', '0']) assert.equal(press(key), true);
  press(' ', { shiftKey: true });
  assert.deepEqual(heard, [
    ['pin', false],
    ['pin', false],
    ['turn', -1],
    ['turn', 1],
    ['zoom', 0.5],
    ['zoom', 0.5],
    ['zoom', 2],
    ['all'],
    ['pin', true],
  ]);
});

test('other keys, and those of the browser and of an empty map, are left to the page', () => {
  const { heard, press } = keyField();
  assert.equal(press('Tab'), false);
  for (const key of ['ctrlKey', 'metaKey', 'altKey'])
    assert.equal(press('0', { [key]: true }), false);
  const empty = keyField({ canAct: () => false });
  assert.equal(empty.press('Enter'), false);
  const still = keyField({ canZoom: () => false });
  assert.equal(still.press('+'), false);
  assert.deepEqual([heard, empty.heard, still.heard], [[], [], []]);
});

test('pages are ten drawn cells, and the end of a row is its last visible key', () => {
  const from = { query: 31, key: 40 };
  const map = { size: { queries: 100, keys: 120 }, causal: true };
  const to = (/** @type {string} */ key, /** @type {any} */ cell) => stepOf(key, from, cell, map);
  assert.deepEqual(to('PageDown', undefined), { query: 41, key: 40 });
  assert.deepEqual(to('PageUp', undefined), { query: 21, key: 40 });
  const cell = { queries: [30, 33], keys: [40, 42] };
  assert.deepEqual(to('PageDown', cell), { query: 61, key: 40 });
  assert.deepEqual(to('PageUp', cell), { query: 1, key: 40 });
  assert.deepEqual(to('ArrowUp', cell), { query: 29, key: 40 });
  assert.deepEqual(to('ArrowLeft', cell), { query: 31, key: 39 });
  assert.deepEqual(to('End', cell), { query: 31, key: 51 });
  const all = { ...map, causal: false };
  assert.deepEqual(stepOf('End', from, undefined, all), { query: 31, key: 119 });
});
