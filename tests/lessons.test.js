// The lessons: plain modules that Node runs as they are; what they show is what the documents print.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { before, test } from 'node:test';
import { listen } from '../web/page/lessons/audience.js';
import { differenceOfShapes, judge } from '../web/page/lessons/check.js';
import { citations } from '../web/page/lessons/documents.js';
import { parseLesson } from '../web/page/lessons/parse.js';
import {
  add,
  meanDifference,
  permute,
  pick,
  reshape,
  show,
  showMaps,
} from '../web/page/lessons/tools.js';
import * as seeds from './seeds.js';
import { tensor } from 'headwise';

/** @import { Item } from '../web/page/lessons/audience.js' */
/** @import { Lesson, Printed } from '../web/page/lessons/parse.js' */

const FILES = new URL('../web/page/lessons/files/', import.meta.url);
const names = (await readdir(FILES)).sort();
/** @type {Map<string, Lesson>} */
const lessons = new Map();
for (const name of names) {
  lessons.set(name, parseLesson(await readFile(new URL(name, FILES), 'utf8')));
}

const PICTURES = ['chain', 'flow', 'strip', 'lines', 'bars'];

/** @type {Item[]} */
let shown = [];
before(() => listen((item) => shown.push(item)));

/** @param {Lesson} lesson */
const printedIn = (lesson) => lesson.steps.flatMap(({ printed }) => printed);

for (const [name, lesson] of lessons) {
  test(`the lesson ${name} runs in Node and shows what its documents print`, async () => {
    shown = [];
    await import(new URL(name, FILES).href);
    const items = shown;
    const titles = items.map((item) => item.name);
    assert.equal(new Set(titles).size, titles.length, 'every name is shown once');
    const pictures = items.filter(({ kind }) => PICTURES.includes(kind));
    assert.ok(pictures.length > 0, 'it draws a picture');
    const printed = printedIn(lesson);
    assert.ok(printed.length > 0);
    for (const one of printed) {
      const item = items.find((candidate) => candidate.name === one.name);
      assert.ok(item, `"${one.name}" is shown`);
      const verdict = judge(item, one);
      assert.ok(verdict.equal, `${one.name}: ${JSON.stringify({ item, expected: one.value })}`);
    }
  });

  test(`the lesson ${name} says of every step what it is and where it comes from`, () => {
    assert.notEqual(lesson.title, lesson.name, 'it has a title besides its name');
    assert.doesNotMatch(lesson.text.join(' ').replaceAll(/`[^`]*`/g, ''), /'/);
    for (const { title, text, from, code } of lesson.steps) {
      assert.ok(text.length > 0, title);
      const words = [title, ...text].join(' ').replaceAll(/`[^`]*`/g, '');
      assert.doesNotMatch(words, /'|\^/, `${title}: an apostrophe is ’, a power is in words`);
      assert.match(code, /\bshow\w*\(/, title);
      assert.ok(citations(from).length > 0, `${title}: ${from}`);
    }
  });
}

test('every step and exercise of the five documents has a step in a lesson', () => {
  const cited = [...lessons.values()].flatMap(({ steps }) =>
    steps.flatMap(({ from }) => from.split('; ')),
  );
  const places = [
    '000, divide and conquer',
    ...[1, 2, 3, 4].map((step) => `000, step ${step}`),
    ...['steps 1 and 2', 'step 3', 'steps 4 and 5'].map((steps) => `000, exercise 3.3, ${steps}`),
    ...[1, 2, 3].map((exercise) => `001, exercise 3.${exercise}`),
    ...['listing 3.4', 'listing 3.5', 'figure 3.24', 'figure 3.26'].map((what) => `002, ${what}`),
    ...['section 3.6.2', 'exercise 3.2', 'exercise 3.3'].map((what) => `002, ${what}`),
    ...[1, 2, 3, 4, 5, 6, 7].map((section) => `003, section ${section}`),
    ...[1, 2, 3, 4, 5].map((step) => `003, section 2, step ${step}`),
    '003, section 2, the complete function',
    ...[1, 2, 3, 4, 5, 6, 7, 8].map((exercise) => `003, exercise ${exercise}`),
    '004, naïve wrapper',
    '004, class-based implementation',
    '004, why the class is more efficient',
    '004, takeaways',
  ];
  const missing = places.filter((place) => !cited.some((one) => one.startsWith(place)));
  assert.deepEqual(missing, []);
});

test('the lessons carry everything that the documents print', () => {
  const all = [...lessons.values()].flatMap(printedIn).filter(({ by }) => by === 'prints');
  const values = all.map(({ value }) => JSON.stringify(value));
  const printed = {
    '000, step 1': [seeds.inputs[1], 3],
    '000, step 3': [
      [2, 6, 3],
      [seeds.wrapperTable, seeds.wrapperTable],
      [2, 6, 4],
    ],
    '000, step 4': [
      [seeds.fusedTable, seeds.fusedTable],
      [2, 6, 2],
    ],
    '000, exercise 3.3': [768, 12, 64, 1024, 590592, 589824, 2362368, 2.36, [2, 128, 768]],
    '001, exercise 3.1': [seeds.selfAttentionV1Table, seeds.selfAttentionV2Table, true],
    '001, exercise 3.2': [[1, 5, 2], [seeds.exerciseTable]],
    '001, exercise 3.3': [[1, 1024, 768]],
    '002, section 3.6.2': [seeds.matmulTable, ...seeds.matmulTable[0]],
  };
  for (const [place, results] of Object.entries(printed)) {
    for (const result of results) {
      const text = JSON.stringify(result);
      assert.ok(values.includes(text), `${place}: ${text}`);
    }
  }
});

test('a value that differs in the last printed decimal is told apart', () => {
  shown = [];
  show('table', tensor([[0.12345, -0.00001]]));
  show('shape', [2, 3]);
  const [table, shape] = shown;
  /** @param {unknown} value @returns {Printed} */
  const printed = (value) => ({ by: 'prints', name: 'any', value });
  assert.deepEqual(judge(table, printed([[0.1234, 0]])), { equal: false, total: 2, differing: 1 });
  assert.deepEqual(judge(table, printed([[0.1235, 0]])), { equal: true, total: 2, differing: 0 });
  assert.equal(judge(table, printed([0.1235, 0])).equal, false, 'another shape');
  assert.equal(judge(shape, printed([2, 3])).equal, true);
  assert.equal(judge(shape, printed([2, 4])).equal, false);
});

test('of a large tensor a corner is shown, with its whole shape', () => {
  shown = [];
  const x = tensor(
    Float32Array.from({ length: 10 * 40 * 30 }, (_, i) => i),
    [10, 40, 30],
  );
  show('large', x);
  const [item] = shown;
  assert.ok(item.kind === 'tensor');
  assert.deepEqual(item.shape, [10, 40, 30]);
  const second = item.parts[1];
  assert.deepEqual(second.index, [1]);
  assert.equal(second.values[second.cols], 40 * 30 + 30);
});

test('nested arrays are shown as tensors, typed arrays as numbers', () => {
  shown = [];
  const rows = [
    [1, 2],
    [3, 4],
  ];
  show('rows', rows);
  show('tensor', tensor(rows));
  show('list', Float32Array.of(0.5, 2));
  const [nested, whole, list] = shown;
  assert.deepEqual({ ...nested, name: '' }, { ...whole, name: '' });
  assert.deepEqual(list, { kind: 'value', name: 'list', value: [0.5, 2] });
});

test('what cannot be shown is said in words', () => {
  assert.throws(() => show('result', /** @type {any} */ (undefined)), /"result" is undefined/);
  const refused = (/** @type {any} */ value, /** @type {RegExp} */ words) =>
    assert.throws(() => show('it', value), words);
  const swapped =
    /^TypeError: show takes a name first: show\('a name', value\); it is tensor \[1, 2\] \[1, 2\]$/;
  const matrix = /** @type {any} */ (tensor([[1, 2]]));
  assert.throws(() => show(matrix, 'it'), swapped);
  assert.throws(() => show(matrix, /** @type {any} */ (undefined)), swapped);
  refused(Promise.resolve(1), /^TypeError: "it" is a Promise: write await before it$/);
  refused(['a', 'b'], /"it" is \['a', 'b'\]$/);
  refused([1, [2]], /"it" is \[1, \[2\]\]$/);
  refused([[1, 2], [3]], /rows of equal length.* "it" is \[\[1, 2\], \[3\]\]$/);
  refused({ text: 'x'.repeat(1000) }, /"it" is \{ text: 'x{20,60}…$/);
  const weights = tensor([[[1]]]);
  assert.throws(() => showMaps('maps', weights, { heads: [1], tokens: ['a'] }), /no head 1/);
  assert.throws(
    () => showMaps('maps', weights, { heads: [0], tokens: ['a', 'b'] }),
    /\[…, heads, 2, 2\]|…, heads, 2, 2/,
  );
});

test('tensors of different shapes are told apart by what they have in common', () => {
  shown = [];
  show(
    'three heads',
    tensor([
      [1, 2, 3, 4, 5, 6],
      [7, 8, 9, 10, 11, 12],
    ]),
  );
  const item = shown[0];
  assert.ok(item.kind === 'tensor');
  /** @param {unknown} value @returns {Printed} */
  const printed = (value) => ({ by: 'prints', name: 'any', value });
  const words = (/** @type {unknown} */ value) => differenceOfShapes(item, printed(value));
  const same = 'shape differs: [2, 6] here, [2, 4] there';
  assert.equal(
    words([
      [1, 2, 3, 4],
      [7, 8, 9, 10],
    ]),
    `${same}; first 4 columns equal`,
  );
  assert.equal(
    words([
      [1, 2, 0, 4],
      [7, 8, 9, 10],
    ]),
    `${same}; first 2 columns equal`,
  );
  assert.equal(
    words([
      [0, 2, 3, 4],
      [7, 8, 9, 10],
    ]),
    same,
  );
  assert.equal(
    words([
      [1, 2, 3, 4],
      [7, 0, 9, 10],
    ]),
    `${same}; first column equal`,
  );
  assert.match(words([[1, 2, 3, 4, 5, 6]]), /, \[1, 6\] there; first 6 columns equal$/);
  assert.equal(words([Array(6).fill(0), Array(6).fill(0)]), '');
});

test('matrices of different shapes are each set against their own', () => {
  shown = [];
  show('two of a batch', tensor([1, 2, 3, 4, 5, 6, 7, 8], [2, 2, 2]));
  const item = shown[0];
  assert.ok(item.kind === 'tensor');
  const first = [
    [1, 2, 0],
    [3, 4, 0],
  ];
  /** @param {number} last @returns {Printed} */
  const printed = (last) => ({
    ...{ by: 'prints', name: 'any' },
    value: [
      first,
      [
        [5, 6, 0],
        [7, last, 0],
      ],
    ],
  });
  assert.match(differenceOfShapes(item, printed(8)), /; first 2 columns equal$/);
  assert.match(differenceOfShapes(item, printed(9)), /; first column equal$/);
});

test('a file that is no lesson is refused', () => {
  assert.throws(() => parseLesson("console.log('hello');\n"), /begins with a comment/);
  const half = '/**\n * Title\n */\n\n// %% Step\n\nshow(1);\n\n// prints a table\n';
  assert.throws(() => parseLesson(half), /prints name = value/);
});

test('the tools say what is no tensor, and which entry there is not', () => {
  const x = tensor([[1, 2]]);
  const none = /** @type {any} */ (undefined);
  const result = /** @type {any} */ ({ output: x });
  const isNone = /^TypeError: x is undefined; expected a Tensor$/;
  assert.throws(() => pick(none, 0), isNone);
  assert.throws(() => reshape(none, [2]), isNone);
  assert.throws(() => permute(none, [0]), isNone);
  for (const order of [[0], [0, 0], [1, 2], [0, 1, 2]])
    assert.throws(() => permute(x, order), /^RangeError: order is .*; expected each of 2 dim/);
  const isResult = /^TypeError: b is what a forward gives; expected a Tensor, its output$/;
  assert.throws(() => add(x, result), isResult);
  assert.throws(() => meanDifference(x, result), isResult);
  const other = tensor([1, 2]);
  assert.throws(() => add(x, other), /^RangeError: shapes differ: \[1,2\] and \[2\]$/);
  assert.throws(() => pick(x, 1), /^RangeError: there is no entry 1: x has 1, from 0$/);
  assert.deepEqual([...pick(x, 0).data], [1, 2]);
  assert.throws(
    () =>
      pick(
        tensor([
          [1, 2],
          [3, 4],
        ]),
        0.5,
      ),
    /^RangeError: there is no entry 0\.5: /,
  );
});
