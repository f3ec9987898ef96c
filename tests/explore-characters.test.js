// Characters that are split over tokens.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeCharacters } from '../web/page/explore/characters.js';
import { labelOf } from '../web/page/shared/tokenize.js';

/** @param {number[][]} pieces bytes of each token */
const wholes = (...pieces) =>
  wholeCharacters(pieces.map((bytes, id) => ({ id, text: labelOf(bytes) })));

test('a token that is part of a character knows the whole', () => {
  assert.deepEqual(wholes([0xd7], [0xa9], [0x61]), ['ש', 'ש', '']);
  assert.deepEqual(wholes([0xe0, 0xa4], [0xa8]), ['न', 'न']);
  assert.deepEqual(wholes([0xf0, 0x9f], [0x91], [0x8d]), ['👍', '👍', '👍']);
  assert.deepEqual(wholes([0x20, 0xd7], [0xa9, 0xd7], [0x9c]), [' ש', 'של', 'ל']);
});

test('bytes that make up no character are part of none', () => {
  assert.deepEqual(wholes([0xd7]), ['']);
  assert.deepEqual(wholes([0xa9], [0xd7], [0xa9]), ['', 'ש', 'ש']);
  assert.deepEqual(wholes([0xf0, 0x9f], [0x61], [0x91, 0x8d]), ['', '', '']);
  assert.deepEqual(wholes([0xff], [0xd7], [0xd7], [0xa9]), ['', '', 'ש', 'ש']);
});

test('a token that nobody sees is called by its number; within a character it stays', () => {
  assert.equal(labelOf('\uFE0F'), '‹U+FE0F›');
  assert.equal(labelOf('\u034F\uFE0F'), '‹U+034F›‹U+FE0F›');
  assert.equal(labelOf('❤\uFE0F'), '❤\uFE0F');
  assert.equal(labelOf('\u200B'), '‹U+200B›');
  // Spaces of other widths.
  assert.equal(labelOf('\u3000a\u00A0'), '‹U+3000›a‹U+00A0›');
  assert.equal(labelOf(''), '‹nothing›');
  assert.equal(labelOf(undefined), '…');
});
