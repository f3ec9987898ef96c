// What this browser keeps of choices and of lessons, and what holds where it keeps nothing.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { forgetAll, hasKept, isStored, keep, keptOf } from '../web/page/lessons/keep.js';
import { isRemembered, remember } from '../web/page/shared/remember.js';
import { FakeStorage } from './fakes.js';

/** What nothing is kept of. */
const NOTHING = {
  ...{ code: {}, unrun: [], replaced: {}, exercise: undefined, seen: [], solved: false },
};

/** @param {unknown} storage */
const useStorage = (storage) => Object.assign(globalThis, { localStorage: storage });

/** A full storage takes nothing more, and gives what it has. */
class FullStorage extends FakeStorage {
  /** @override */
  setItem() {
    throw new DOMException('full', 'QuotaExceededError');
  }
}

/** A browser that forbids its pages to keep anything throws at the mere name. */
const forbid = () =>
  Object.defineProperty(globalThis, 'localStorage', {
    get() {
      throw new DOMException('denied', 'SecurityError');
    },
    configurable: true,
  });

beforeEach(() => useStorage(new FakeStorage()));
afterEach(() => {
  Reflect.deleteProperty(globalThis, 'localStorage');
  forgetAll();
});

test('a choice is remembered under its name, until it is taken back', () => {
  assert.equal(isRemembered('one', true), false);
  remember('one', true);
  assert.equal(isRemembered('one', false), true);
  assert.equal(isRemembered('two', false), false);
  remember('two', true);
  remember('one', false);
  assert.deepEqual([isRemembered('one', true), isRemembered('two', false)], [false, true]);
});

test('where nothing may be remembered the caller says what holds', () => {
  forbid();
  remember('one', true);
  remember('one', false);
  assert.deepEqual([isRemembered('one', true), isRemembered('one', false)], [true, false]);
});

test('what is kept of a lesson is changed part by part, and other lessons keep theirs', () => {
  assert.deepEqual([keptOf('a'), hasKept()], [NOTHING, false]);
  keep('a', { seen: ['One'], solved: true });
  assert.ok(hasKept());
  keep('b', { exercise: 'code' });
  keep('a', { code: { One: 'x' }, unrun: ['One'], replaced: { Two: 'y' } });
  const ofA = { code: { One: 'x' }, unrun: ['One'], replaced: { Two: 'y' } };
  assert.deepEqual(keptOf('a'), { ...NOTHING, ...ofA, seen: ['One'], solved: true });
  assert.deepEqual(keptOf('b'), { ...NOTHING, exercise: 'code' });
  assert.deepEqual([hasKept(), isStored()], [true, true]);
});

test('what another tab keeps in the meantime stays', () => {
  keep('a', { seen: ['One'] });
  const before = JSON.parse(localStorage.getItem('headwise.lessons') ?? '');
  const there = { ...before.a, solved: true };
  localStorage.setItem('headwise.lessons', JSON.stringify({ a: there, b: { seen: ['Two'] } }));
  keep('a', { exercise: 'code' });
  assert.deepEqual(keptOf('a'), { ...NOTHING, seen: ['One'], solved: true, exercise: 'code' });
  assert.deepEqual(keptOf('b').seen, ['Two']);
});

test('of what is stored only texts, lists of texts and true count', () => {
  const odd = {
    ...{ code: { One: 1, Two: 'x' }, unrun: 'One', replaced: null, exercise: 5 },
    ...{ seen: ['One', 2, null], solved: 'yes' },
  };
  localStorage.setItem('headwise.lessons', JSON.stringify({ a: odd, b: null, c: 'text' }));
  assert.deepEqual(keptOf('a'), { ...NOTHING, code: { Two: 'x' }, seen: ['One'] });
  for (const id of ['b', 'c', 'd']) assert.deepEqual(keptOf(id), NOTHING);
  for (const text of ['{', 'null', '5']) {
    localStorage.setItem('headwise.lessons', text);
    assert.deepEqual([keptOf('a'), hasKept()], [NOTHING, false], text);
  }
  keep('a', { solved: true });
  assert.deepEqual(keptOf('a'), { ...NOTHING, solved: true });
});

test('what cannot be stored is kept until the page is closed, and stored with the next that can', () => {
  const full = new FullStorage();
  for (const use of [forbid, () => useStorage(full)]) {
    Reflect.deleteProperty(globalThis, 'localStorage');
    use();
    keep('a', { seen: ['One'] });
    keep('b', { solved: true });
    keep('a', { exercise: 'code' });
    assert.deepEqual(keptOf('a'), { ...NOTHING, seen: ['One'], exercise: 'code' });
    assert.deepEqual(keptOf('b'), { ...NOTHING, solved: true });
    assert.deepEqual([hasKept(), isStored()], [true, false]);
    Reflect.deleteProperty(globalThis, 'localStorage');
    useStorage(new FakeStorage());
    keep('c', { seen: ['Three'] });
    assert.equal(isStored(), true);
    const stored = JSON.parse(localStorage.getItem('headwise.lessons') ?? '');
    assert.deepEqual(Object.keys(stored).sort(), ['a', 'b', 'c']);
    forgetAll();
  }
});

test('after forgetting nothing is kept, stored or not', () => {
  keep('a', { solved: true });
  remember('other', true);
  forgetAll();
  assert.deepEqual([keptOf('a'), hasKept(), isStored()], [NOTHING, false, true]);
  assert.ok(isRemembered('other', false), 'what is no lesson’s stays');
  Reflect.deleteProperty(globalThis, 'localStorage');
  forbid();
  keep('a', { solved: true });
  forgetAll();
  assert.deepEqual([keptOf('a'), hasKept(), isStored()], [NOTHING, false, true]);
});
