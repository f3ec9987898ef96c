// What a step of a lesson shows, as elements: what stands together, what is missing, and how many results are known ones.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { resultsOf } from '../web/page/lessons/results.js';
import { installDocument } from './fakes.js';

/** @import { Item } from '../web/page/lessons/audience.js' */
/** @import { Printed } from '../web/page/lessons/parse.js' */

before(() => installDocument({ canvasSide: 100, ratio: 1 }));

/** @param {string} name @param {number} number @returns {Item} */
const value = (name, number) => ({ kind: 'value', name, value: number });
/** @param {string} text @param {'log' | 'warn'} [level] @returns {Item} */
const log = (text, level = 'log') => ({ kind: 'log', name: '', level, text });
/** @param {string} name @param {boolean} passed @returns {Item} */
const check = (name, passed) => ({ kind: 'check', name, passed, words: `${name} is wrong` });
/** @param {string} name @param {number} number @param {Printed['by']} [by] @returns {Printed} */
const known = (name, number, by = 'prints') => /** @type {any} */ ({ name, value: number, by });

/** @param {Printed[]} printed @param {Item[]} items @param {Partial<Parameters<typeof resultsOf>[2]>} [options] */
function shown(printed, items, options = {}) {
  const { elements, equal } = resultsOf({ printed }, items, {
    ...{ complete: true, changed: false, ...options },
  });
  const fakes = /** @type {any[]} */ (elements);
  const kinds = fakes.map(({ name, attributes }) => attributes.class ?? name);
  return { fakes, kinds, equal, words: fakes.map(({ textContent }) => textContent) };
}

test('results of one kind that follow each other stand together, and in their order', () => {
  const items = [value('a', 1), value('b', 2), log('one'), log('two', 'warn'), value('c', 3)];
  const { kinds, words } = shown([], items);
  assert.deepEqual(kinds, ['facts', 'console', 'facts']);
  assert.match(words[0], /a1b2$/);
  assert.equal(words[1], 'onetwo');
  assert.match(words[2], /c3$/);
  const checks = shown([], [check('first', true), check('second', false)]);
  assert.deepEqual(checks.kinds, ['checks']);
  const [{ children }] = checks.fakes;
  assert.deepEqual(
    children.map((/** @type {any} */ line) => line.attributes.class),
    ['passed', 'wrong'],
  );
  assert.equal(checks.words[0], '✓Done: first○Not yet: secondsecond is wrong');
});

test('what is printed and what is derived have tables of their own, and what is neither is in the last', () => {
  const printed = [known('a', 1), known('b', 2), known('c', 3, 'expected')];
  const items = [value('a', 1), value('other', 9), value('b', 2), value('c', 3), value('more', 9)];
  const { kinds, words, equal } = shown(printed, items);
  assert.deepEqual(kinds, ['facts compared', 'facts compared']);
  assert.match(words[0], /Document.*a.*other.*b/);
  assert.match(words[1], /Expected.*c.*more/);
  assert.equal(equal, 3);
});

test('as many results are equal as are known, shown and the same', () => {
  const printed = [known('a', 1), known('b', 2), known('c', 3)];
  assert.equal(shown(printed, [value('a', 1), value('b', 5), value('other', 3)]).equal, 1);
  assert.equal(shown(printed, []).equal, 0);
  assert.equal(shown([], [value('a', 1)]).equal, 0);
});

test('what a step that has ended did not show is missing, and before its end nothing is', () => {
  const printed = [known('a', 1), known('b', 2), known('c', 3)];
  const { kinds, words } = shown(printed, [value('a', 1)]);
  assert.deepEqual(kinds, ['facts compared', 'facts compared']);
  assert.match(words[1], /bnot shown2.*cnot shown3/);
  assert.doesNotMatch(words[1], /anot shown/);
  assert.deepEqual(shown(printed, [value('a', 1)], { complete: false }).kinds, ['facts compared']);
});

test('what cannot be drawn is said in place of all results', () => {
  const odd = /** @type {any} */ ({ kind: 'bars', name: 'odd' });
  const { kinds, words, equal } = shown([known('a', 1)], [value('a', 1), odd]);
  assert.deepEqual([kinds, equal], [['message error'], 0]);
  assert.match(words[0], /^What this step has shown cannot be drawn: TypeError/);
});
