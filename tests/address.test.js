// The page's address: what it says of the state, and back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULTS, formatHash, parseHash, ROOMS } from '../web/page/state.js';

test('every room has an address that leads to it', () => {
  for (const room of ROOMS) {
    assert.equal(formatHash({ ...DEFAULTS, room }), `#${room}`);
    assert.equal(parseHash(`#${room}`).room, room);
  }
});

test('no room or an unknown one is Compare', () => {
  assert.deepEqual(parseHash(''), DEFAULTS);
  assert.deepEqual(parseHash('#attic?head=2'), { ...DEFAULTS, head: 1 });
});

test('a lesson is in the address', () => {
  const state = parseHash('#lessons?lesson=fused');
  assert.deepEqual(state, { ...DEFAULTS, room: 'lessons', lesson: 'fused' });
  assert.equal(formatHash(state), '#lessons?lesson=fused');
});

test('a change of rooms leaves the other room as it was', () => {
  const compare = parseHash('#compare?source=own&text=one+two&heads=2&width=8');
  const lessons = parseHash('#lessons?lesson=causal', compare);
  assert.deepEqual(lessons, { ...compare, room: 'lessons', lesson: 'causal' });
  const back = parseHash(formatHash({ ...lessons, room: 'compare' }), lessons);
  assert.deepEqual(back, { ...compare, lesson: 'causal' });
});
