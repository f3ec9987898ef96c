// A text that was read in the Explore room: which of its runs a map comes from, and when runs end.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Reading } from '../web/page/explore/worker/reading.js';

/** @import { HeadName } from '../web/page/explore/address.js' */

/** A reading whose runs are written down. @param {readonly HeadName[]} muted */
function reading(muted) {
  /** @type {(readonly HeadName[])[]} */ const read = [];
  /** @type {(readonly HeadName[])[]} */ const ended = [];
  const runOf = (/** @type {readonly HeadName[]} */ heads) => {
    read.push(heads);
    return /** @type {any} */ ({ muted: heads, source: {}, dispose: () => ended.push(heads) });
  };
  const text = new Reading('text', runOf, muted, () => /** @type {any} */ ({}));
  return { text, read, ended };
}

const FIRST = [{ layer: 2, head: 1 }];
const SECOND = [...FIRST, { layer: 1, head: 0 }];

test('maps of a muted head’s layer and of those below are those of the run with all heads', () => {
  const { text, read } = reading([]);
  const heard = text.now;
  text.mute(FIRST);
  assert.deepEqual(read, [[], FIRST], 'one more run');
  for (const layer of [0, 1, 2]) assert.equal(text.runOf(layer), heard, `layer ${layer}`);
  assert.equal(text.runOf(3), text.now);
  text.mute(SECOND);
  assert.equal(text.runOf(1), heard);
  assert.equal(text.runOf(2), text.now, 'a head below it is muted now');
  text.mute([]);
  assert.equal(text.now, heard);
  assert.deepEqual(read, [[], FIRST, SECOND], 'the run with all heads is kept');
});

test('a text that begins with muted heads is read with all heads only where that is asked', () => {
  const { text, read } = reading(FIRST);
  assert.equal(text.runOf(0), text.now);
  assert.deepEqual(read, [FIRST]);
  assert.deepEqual(text.heard.muted, []);
  assert.equal(text.runOf(0), text.heard);
  assert.deepEqual(read, [FIRST, []]);
});

test('runs that are not wanted any more end once, and all end with the text', () => {
  const { text, ended } = reading([]);
  text.mute(FIRST);
  text.mute(SECOND);
  assert.deepEqual(ended, [FIRST]);
  text.dispose();
  assert.deepEqual(ended, [FIRST, [], SECOND]);
});
