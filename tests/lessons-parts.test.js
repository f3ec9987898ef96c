// Parts of the Lessons room that need no page: code in an address, values in the console, ticks of a chart.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { tensor } from 'headwise';
import { inspect } from '../web/page/lessons/inspect.js';
import { parseLesson } from '../web/page/lessons/parse.js';
import { ticksOf } from '../web/page/lessons/pictures/ticks.js';
import { packCode, unpackCode } from '../web/page/lessons/share.js';
import { watchTimers } from '../web/page/lessons/timers.js';
import { formatValue, sourcesOf, whose } from '../web/page/lessons/words.js';

test('changed code comes back from an address as it went in', async () => {
  const code = { 'Two heads': "show('ä € 😀', 1);\n", 'Heads times width': 'x'.repeat(5000) };
  const packed = await packCode(code);
  assert.match(packed, /^[\w-]+$/, 'it needs no escapes in an address');
  assert.ok(packed.length < 200, `${packed.length}`);
  assert.deepEqual(await unpackCode(packed), code);
});

test('what is no packed code is none, and a small text that unpacks to a huge one is none', async () => {
  const bomb = await packCode({ step: 'x'.repeat(2e6) });
  assert.ok(bomb.length < 10_000);
  const notTexts = await packCode(/** @type {any} */ ({ step: 1 }));
  for (const text of ['', 'no', '%%%', 'AAAA', notTexts, bomb, await packCode({})]) {
    assert.equal(await unpackCode(text), undefined, text.slice(0, 20));
  }
});

test('the console writes values, tensors and errors, and cuts what is long', () => {
  assert.equal(inspect(['a', 1, true, null, undefined]), 'a 1 true null undefined');
  assert.equal(inspect([{ a: [1, 'b'], c: {} }]), "{ a: [1, 'b'], c: {} }");
  assert.equal(inspect([tensor([[1, 2]])]), 'tensor [1, 2] [1, 2]');
  assert.equal(inspect([new RangeError('too far')]), 'RangeError: too far');
  assert.match(inspect([Array(30).fill(0)]), /… 30 in all\]$/);
  /** @type {any} */
  const ring = {};
  ring.ring = ring;
  assert.ok(inspect([ring]).length < 100);
  assert.ok(inspect(['x'.repeat(1e5)]).length < 5000);
});

test('the console cuts lists and objects of more than 20, nests of more than three, and long texts', () => {
  const listOf = (/** @type {number} */ count) => Array.from({ length: count }, (_, i) => i);
  assert.ok(inspect([listOf(20)]).endsWith(', 18, 19]'));
  assert.ok(inspect([listOf(21)]).endsWith(', 18, 19, … 21 in all]'));
  assert.ok(inspect([{ ...listOf(20) }]).endsWith(', 19: 19 }'));
  assert.ok(inspect([{ ...listOf(21) }]).endsWith(', 19: 19, … }'));
  assert.equal(inspect([[[['a']]]]), "[[['a']]]");
  assert.equal(inspect([[[[[1], { b: 2 }]]]]), '[[[[…], {…}]]]');
  assert.equal(inspect([Float32Array.of(1, 0.5)]), '[1, 0.5]');
  const text = 'x'.repeat(4000);
  assert.deepEqual([inspect([text]), inspect([`${text}y`])], [text, `${text}…`]);
});

test('the console fills in patterns, and writes maps, sets and functions', () => {
  assert.equal(inspect(['%s has %d of %i%%, %o', 'a', '2', 3.7, 'b', 4]), "a has 2 of 3%, 'b' 4");
  assert.equal(inspect(['%cred %s', 'color: red']), 'red %s');
  assert.equal(inspect(['100%', 1]), '100% 1');
  assert.equal(
    inspect(['%f %d %i', '2.50', Symbol('s'), Object.create(null)]),
    '2.5 Symbol(s) NaN',
  );
  assert.equal(inspect(['%d%%']), '%d%%', 'a text alone is no pattern');
  const map = new Map([['a', new Set([1, 'b'])]]);
  assert.equal(inspect([map, new Map(), new Set()]), "Map { 'a' → Set [1, 'b'] } Map {} Set []");
  assert.equal(inspect([() => 1, inspect, class Block {}]), '() => 1 function inspect class Block');
  assert.equal(inspect([/x/g, Promise.resolve(), Symbol('s')]), '/x/g Promise Symbol(s)');
});

test('ticks are round numbers that cover the range', () => {
  assert.deepEqual(ticksOf(0.43, 4.07), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(ticksOf(-0.2, 3), [-1, 0, 1, 2, 3]);
  assert.deepEqual(ticksOf(0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.ok(ticksOf(2, 2).length > 1);
});

test('two numbers side by side have the decimals that either of them has, four at most', () => {
  const pair = (/** @type {number} */ a, /** @type {number} */ b) => [
    formatValue(a, b),
    formatValue(b, a),
  ];
  assert.deepEqual(pair(2.36, 2.36), ['2.36', '2.36']);
  assert.deepEqual(pair(2.36, 2.9), ['2.36', '2.90']);
  assert.deepEqual(pair(9.80162, 9.8016), ['9.8016', '9.8016']);
  assert.deepEqual(pair(-0.12651, -0.5), ['−0.1265', '−0.5000']);
  assert.deepEqual(pair(5e-7, 0), ['0.0000', '0.0000']);
  assert.deepEqual(pair(1500, 1500), ['1,500', '1,500']);
  assert.deepEqual(pair(NaN, 0.5), ['NaN', '0.5000']);
  assert.deepEqual(pair(1e21, 0.5), ['1e+21', '0.5']);
});

test('what is nested is written nested, its numbers alike', () => {
  const rows = [
    [2, -1],
    [0.35949, 1],
  ];
  assert.equal(formatValue(rows), '[[2.0000, −1.0000], [0.3595, 1.0000]]');
  assert.equal(formatValue([[2, 3]]), '[[2, 3]]');
});

test('numbers of either sign are written alike: whole ones have the same minus, small ones their size', () => {
  const written = [-3, -1500, -0, -0.00003, 0.00003, -0.25].map((value) => formatValue(value));
  assert.deepEqual(written, ['−3', '−1,500', '0', '−3.0e−5', '3.0e−5', '−0.2500']);
  assert.deepEqual([formatValue(-3, 2), formatValue(-0, 0)], ['−3', '0']);
  assert.equal(formatValue([[-2, 3]]), '[[−2, 3]]');
});

test('a lesson’s file is cut into steps, with words, code and what is printed', () => {
  const top = '/**\n * Short\n *\n * What it is\n * about.\n */\n\n';
  const lines = [
    ...['// %% First', '// Words that', '// go on.', '// @from 001, exercise 1', '//', '// More.'],
    ...['', 'const a = 1;', '', 'show(a);', '', '// prints a = 1', '// expected c =', '// [2,'],
    ...['//  3]', '', '// %% Second', '// Words.', '', 'show(a + 1);', ''],
  ];
  const { name, title, text, steps } = parseLesson(top + lines.join('\n'));
  assert.deepEqual([name, title, text], ['Short', 'Short', ['What it is about.']]);
  assert.deepEqual(steps[0], {
    ...{ title: 'First', from: '001, exercise 1', text: ['Words that go on.', 'More.'] },
    code: 'const a = 1;\n\nshow(a);',
    printed: [
      { by: 'prints', name: 'a', value: 1 },
      { by: 'expected', name: 'c', value: [2, 3] },
    ],
  });
  assert.deepEqual(
    [steps[1].title, steps[1].code, steps[1].printed],
    ['Second', 'show(a + 1);', []],
  );
  assert.throws(() => parseLesson(top), /has a line "\/\/ %% Title" for every step/);
});

test('known results are told apart by where they come from', async () => {
  /** @param {...('prints' | 'expected' | 'recorded')} by */
  const known = (...by) => by.map((one) => ({ by: one, name: one, value: 1 }));
  assert.equal(sourcesOf(known('prints')), 'the documents print them');
  assert.equal(sourcesOf(known('expected')), 'they follow from the documents');
  assert.equal(sourcesOf(known('recorded')), 'they were recorded when the lesson was written');
  assert.equal(
    sourcesOf(known('prints', 'prints', 'expected')),
    'the documents print 2, 1 follows from them',
  );
  assert.equal(
    sourcesOf(known('expected', 'expected', 'recorded')),
    '2 follow from the documents, 1 was recorded when the lesson was written',
  );
  assert.equal(whose(known('recorded')), 'Recorded');
  assert.equal(whose(known('expected', 'recorded')), 'Expected');
});

test('what is computed of the project’s own models follows from no document', async () => {
  const folder = new URL('../web/page/lessons/files/', import.meta.url);
  for (const name of ['15-induction-heads', '17-which-head']) {
    const { steps } = parseLesson(await readFile(new URL(`${name}.js`, folder), 'utf8'));
    const by = steps.flatMap(({ printed }) => printed.map((one) => one.by));
    assert.deepEqual([...new Set(by)], ['recorded'], name);
  }
});

/** Follows a body's timers, and no others. @param {(left: () => Error[]) => Promise<void>} body */
async function withTimers(body) {
  const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
  try {
    await body(watchTimers());
  } finally {
    Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
  }
}

test('timers that are left are told with the place where they were set', () =>
  withTimers(async (left) => {
    assert.deepEqual(left(), []);
    const setHere = () => [setTimeout(() => {}, 60_000), setInterval(() => {}, 60_000)];
    const ids = setHere();
    for (const id of ids) id.unref(); // or a test that fails waits for them
    assert.equal(left().length, 2);
    for (const { stack } of left()) assert.match(String(stack), /setHere/);
    clearTimeout(ids[0]);
    assert.equal(left().length, 1);
    clearInterval(ids[1]);
    assert.deepEqual(left(), []);
  }));

test('a timer that has run is left no more, and an interval is until it is cleared', () =>
  withTimers(async (left) => {
    /** @type {unknown[]} */
    const heard = [];
    /** @type {NodeJS.Timeout | undefined} */
    let again;
    await new Promise((resolve) => {
      again = setInterval(() => heard.push('again'), 2).unref();
      const say = (/** @type {unknown[]} */ ...values) => {
        heard.push(values);
        setTimeout(resolve, 20);
      };
      setTimeout(say, 1, 'a', 2);
    });
    assert.deepEqual(heard.filter(Array.isArray), [['a', 2]]);
    assert.ok(heard.includes('again'));
    assert.equal(left().length, 1, 'the interval');
    clearInterval(again);
    const count = heard.length;
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(heard.length, count, 'it has ended');
    assert.deepEqual(left(), []);
  }));

test('a timer that is cleared does not run', () =>
  withTimers(async () => {
    let hasRun = false;
    clearTimeout(setTimeout(() => (hasRun = true), 1));
    await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(hasRun, false);
  }));

test('a timer of what is no function is left to the browser', () =>
  withTimers(async (left) => {
    // Node refuses it, and browsers run it as code.
    assert.throws(() => setTimeout(/** @type {any} */ ('text'), 1), TypeError);
    assert.deepEqual(left(), []);
  }));
