// Long texts that the browser keeps for their addresses, and what an address does not carry to others.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { parseHash } from '../web/page/address.js';
import { EXPLORE_DEFAULTS, leftOut } from '../web/page/explore/address.js';
import { keepText, keptText, linkWords, tooLong } from '../web/page/shared/kept-texts.js';
import { keyOf } from '../web/page/shared/linkable.js';
import { FakeStorage } from './fakes.js';

const SECOND = 1000;
const keptOf = (/** @type {string} */ text) => keptText(keyOf(text));

beforeEach(() => {
  mock.timers.enable({ apis: ['Date'], now: Date.now() });
  Object.assign(globalThis, { localStorage: new FakeStorage() });
});
afterEach(() => {
  mock.timers.reset();
  Reflect.deleteProperty(globalThis, 'localStorage');
});

test('a text that is typed on is kept once, and pushes no other out', () => {
  keepText('of a bookmark');
  mock.timers.tick(60 * SECOND);
  const typed = Array.from({ length: 200 }, (_, i) => `typed ${'on '.repeat(i)}`);
  for (const text of typed) {
    keepText(text);
    mock.timers.tick(SECOND);
  }
  assert.equal(keptOf('of a bookmark'), 'of a bookmark');
  assert.equal(keptOf(typed[199]), typed[199]);
  assert.equal(keptOf(typed[198]), undefined);
});

test('what is written into the midst of a text, or taken out of it, is typing on', () => {
  for (const text of ['one three', 'one two three', 'one two', 'two']) {
    keepText(text);
    mock.timers.tick(SECOND);
  }
  const kept = Object.values(localStorage).map((one) => one.slice(one.indexOf(' ') + 1));
  assert.deepEqual(kept, ['two']);
});

test('a text that is kept once more, unchanged, is still the one that is typed on', () => {
  for (const text of ['one', 'one', 'one two', 'one two', 'one two three']) {
    keepText(text);
    mock.timers.tick(SECOND);
  }
  assert.deepEqual(['one', 'one two', 'one two three'].map(keptOf), [
    undefined,
    undefined,
    'one two three',
  ]);
});

test('another text that is pasted at once, in the same room or in another, pushes none out', () => {
  const pasted = ['of Explore', 'of Compare', 'of Explore, again'];
  keepText(pasted[0]);
  mock.timers.tick(SECOND);
  keepText(pasted[1]);
  mock.timers.tick(SECOND);
  keepText(pasted[2]);
  assert.deepEqual(pasted.map(keptOf), pasted);
});

test('a text that is set against another is kept beside it, however much of it it has', () => {
  const [clean, other] = ['she was ' + 'not '.repeat(500), 'he was ' + 'not '.repeat(500)];
  keepText(clean);
  keepText(`${clean}so`, false);
  keepText(other, false);
  for (const text of [clean, `${clean}so`, other]) assert.equal(keptOf(text), text);
  keepText(`${clean}once more`);
  assert.deepEqual([keptOf(clean), keptOf(other)], [undefined, other], 'typing goes on');
});

test('a text that was kept before stays, though one types on from it at once', () => {
  keepText('of a bookmark');
  mock.timers.tick(60 * SECOND);
  keepText('of a bookmark');
  mock.timers.tick(SECOND);
  keepText('of a bookmark!');
  assert.equal(keptOf('of a bookmark'), 'of a bookmark');
  assert.equal(keptOf('of a bookmark!'), 'of a bookmark!');
});

test('of many texts the newest are kept', () => {
  for (let i = 0; i < 150; i++) {
    mock.timers.tick(60 * SECOND);
    keepText(`text ${i}`);
  }
  const kept = Array.from({ length: 150 }, (_, i) => keptOf(`text ${i}`) !== undefined);
  assert.equal(kept.indexOf(true), 50);
  assert.ok(kept.slice(50).every(Boolean));
});

test('of long texts the newest are kept, so that there is room for what else is', () => {
  const novels = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(400_000));
  for (const novel of novels) {
    keepText(novel);
    mock.timers.tick(60 * SECOND);
  }
  assert.deepEqual(novels.map(keptOf), [undefined, undefined, ...novels.slice(2)]);
  const longest = 'e'.repeat(3_000_000);
  keepText(longest);
  assert.deepEqual([...novels, longest].map(keptOf), [...novels.map(() => undefined), longest]);
});

test('where there is no room, the oldest texts make some, and a text that has none pushes no other out', () => {
  const set = localStorage.setItem.bind(localStorage);
  const lengthOf = (/** @type {string[]} */ texts) => texts.join('').length;
  mock.method(localStorage, 'setItem', (/** @type {string} */ name, /** @type {string} */ text) => {
    const others = Object.entries(localStorage).filter(([other]) => other !== name);
    if (lengthOf([text, ...others.map(([, one]) => one)]) > 1000)
      throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
    set(name, text);
  });
  const novels = ['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(300));
  for (const novel of novels) {
    keepText(novel);
    mock.timers.tick(60 * SECOND);
  }
  const last = [undefined, undefined, ...novels.slice(2)];
  assert.deepEqual(novels.map(keptOf), last);
  assert.match(tooLong(), /this browser keeps it/);
  keepText('f'.repeat(1000));
  assert.match(tooLong(), /this browser does not keep it/);
  assert.deepEqual(novels.map(keptOf), last);
  // Typed on beyond the room, and taken back: what was there is still there.
  keepText('typed');
  mock.timers.tick(SECOND);
  keepText(`typed${'g'.repeat(1000)}`);
  assert.equal(keptOf('typed'), 'typed');
  keepText('typed');
  assert.equal(keptOf('typed'), 'typed');
  assert.equal(keptOf(novels[4]), novels[4]);
});

/** A text that an address brings, as long as none can be that the page puts into one. @param {string} letter @param {number} [length] */
const bring = (letter, length = 5000) => {
  const text = letter.repeat(length);
  parseHash(`#compare?source=own&text=${text}`);
  keepText(text);
  return text;
};

test('texts that addresses bring push out none that was typed, and the newest are kept', () => {
  const typed = Array.from({ length: 100 }, (_, i) => `typed ${i}`);
  for (const text of typed) {
    mock.timers.tick(60 * SECOND);
    keepText(text);
  }
  const texts = [...'abcdefghijklmno'].map((letter) => {
    mock.timers.tick(60 * SECOND);
    return bring(letter);
  });
  assert.deepEqual(typed.map(keptOf), typed);
  assert.deepEqual(texts.map(keptOf), [...Array(5).fill(undefined), ...texts.slice(5)]);
  // By the names that its addresses have from then on, it is still one that was brought.
  for (const text of texts.slice(5)) keepText(text);
  assert.deepEqual(typed.map(keptOf), typed);
  // Typed on at once, it stays.
  const last = bring('z');
  keepText(`${last}!`);
  assert.deepEqual([keptOf(last), keptOf(`${last}!`)], [last, `${last}!`]);
  assert.deepEqual(typed.map(keptOf), [undefined, ...typed.slice(1)]);
});

test('a text that was typed stays so though an address brings it', () => {
  const text = 'q'.repeat(5001);
  keepText(text);
  mock.timers.tick(60 * SECOND);
  bring('q', 5001);
  for (const letter of 'abcdefghijklmno') bring(letter, 5002);
  assert.equal(keptOf(text), text);
});

test('a text that an address brings takes the place of none that was just typed, however alike they are', () => {
  const text = 'y'.repeat(5000);
  keepText(text);
  mock.timers.tick(SECOND);
  const longer = bring('y', 5004);
  assert.deepEqual([text, longer].map(keptOf), [text, longer]);
});

test('a text that an address brought is still one after a reload', async () => {
  const text = bring('p', 5006);
  const typed = Array.from({ length: 100 }, (_, i) => `typed before the reload ${i}`);
  for (const one of typed) {
    mock.timers.tick(60 * SECOND);
    keepText(one);
  }
  mock.timers.tick(60 * SECOND);
  const reloaded = '../web/page/shared/kept-texts.js?reloaded';
  /** @type {typeof import('../web/page/shared/kept-texts.js')} */
  const page = await import(reloaded);
  page.keepText(text);
  assert.deepEqual(typed.map(keptOf), typed);
});

test('the other text of an address is one that was brought, too', () => {
  const typed = Array.from({ length: 100 }, (_, i) => `typed and not brought ${i}`);
  for (const text of typed) {
    mock.timers.tick(60 * SECOND);
    keepText(text);
  }
  mock.timers.tick(60 * SECOND);
  const text = 'r'.repeat(5003);
  parseHash(`#explore?corrupted=${text}`);
  keepText(text, false);
  assert.equal(keptOf(text), text);
  assert.deepEqual(typed.map(keptOf), typed);
});

test('where there is no room, texts that were brought make some, and take none', () => {
  const set = localStorage.setItem.bind(localStorage);
  mock.method(localStorage, 'setItem', (/** @type {string} */ name, /** @type {string} */ text) => {
    const others = Object.entries(localStorage).filter(([other]) => other !== name);
    if ([text, ...others.map(([, one]) => one)].join('').length > 20_000)
      throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
    set(name, text);
  });
  const typed = ['s', 't'].map((letter) => letter.repeat(6000));
  keepText(typed[0]);
  const first = bring('u', 6003);
  mock.timers.tick(60 * SECOND);
  keepText(typed[1]);
  assert.deepEqual([...typed, first].map(keptOf), [...typed, first]);
  const second = bring('v', 6004);
  assert.deepEqual([...typed, first, second].map(keptOf), [...typed, undefined, second]);
  const large = bring('w', 12_000);
  assert.match(tooLong(), /this browser does not keep it/);
  assert.deepEqual([...typed, second, large].map(keptOf), [...typed, second, undefined]);
  mock.timers.tick(60 * SECOND);
  const other = 'x'.repeat(6005);
  keepText(other);
  assert.deepEqual([...typed, second, other].map(keptOf), [...typed, undefined, other]);
});

test('a browser that keeps nothing is not said to keep a text', () => {
  const refuse = mock.method(localStorage, 'setItem', () => {
    throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
  });
  keepText('of a full browser');
  assert.match(tooLong(), /this browser does not keep it/);
  refuse.mock.restore();
  keepText('of a full browser');
  assert.match(tooLong(), /this browser keeps it/);
  assert.equal(keptOf('of a full browser'), 'of a full browser');
});

test('what an address does not carry to others is said', () => {
  const long = 'word '.repeat(1000);
  assert.deepEqual([linkWords(null), linkWords('x'.repeat(4000))], ['', '']);
  assert.match(linkWords('x'.repeat(4001)), /^; too long .*, others will see the sample text$/);
  assert.deepEqual(leftOut({ ...EXPLORE_DEFAULTS, text: 'short', added: [1] }), []);
  assert.deepEqual(leftOut({ ...EXPLORE_DEFAULTS, keptOther: '1-a' }), [
    'the other text, which is too long',
  ]);
  assert.deepEqual(
    leftOut({
      ...EXPLORE_DEFAULTS,
      ...{ model: 'opened', text: long, corrupted: long, added: Array(501).fill(1) },
    }),
    [
      'what was opened',
      'the text, which is too long',
      'what the model wrote',
      'the other text, which is too long',
    ],
  );
});
