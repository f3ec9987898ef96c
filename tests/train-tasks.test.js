// The rows of the Train room's tasks: what they ask for, that all that may be drawn is drawn, and the same everywhere.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import fc from 'fast-check';
import { DEFAULTS } from '../web/page/train/settings.js';
import { randomBelow } from '../web/page/train/tasks/random.js';
import { IGNORED } from '../web/page/train/tasks/task.js';
import { AUSTEN, drawnTasks, PROMPT, textTask } from '../web/page/train/tasks/tasks.js';
import { RARE } from '../web/page/train/tasks/text.js';
import { lacksText, leftOut, tooShort } from '../web/page/train/words.js';

/** @import { Learnt, Row, Task } from '../web/page/train/tasks/task.js' */

/** Many rows of a task. @param {Task} task @param {boolean} [heldOut] @returns {Row[]} */
const rowsOf = (task, heldOut) =>
  Array.from({ length: 500 }, (_, seed) => task.row(randomBelow(seed), heldOut));

const austen = textTask(await readFile(AUSTEN, 'utf8'), PROMPT);

/** @param {Task} task @param {number[]} ids */
const write = (task, ids) => ids.map((id) => [...task.characters][id]).join('');

/** @param {Row} row what it asks for */
const asked = ({ targets }) => targets.filter((target) => target !== IGNORED);

/** @param {Task} task @param {(row: Row, words: string) => void} check */
function eachRow(task, check) {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const row = task.row(randomBelow(seed));
      assert.equal(row.ids.length, row.targets.length);
      assert.equal(row.ids.length, row.answers.length);
      assert.ok(row.ids.length <= task.tokens);
      check(row, write(task, row.ids));
    }),
    { numRuns: 50 },
  );
}

test('in induction each answer stands after an earlier time of the same letter', () => {
  eachRow(drawnTasks.induction, ({ ids, targets, answers }) => {
    let count = 0;
    answers.forEach((places, i) => {
      for (const place of places) {
        count++;
        assert.ok(place <= i);
        assert.equal(ids[place], targets[i]);
        assert.equal(ids[place - 1] ?? ids[i], ids[i]);
      }
      assert.equal(places.length > 0, targets[i] !== IGNORED);
      // Period after period, from the first on: where the row begins is one of them.
      const period = targets.findIndex((target) => target !== IGNORED);
      if (i >= period && (i + 1) % period === 0) assert.ok(places.includes(0));
    });
    assert.ok(count > 0);
  });
});

test('reversal asks for the letters backwards, sorting for their order', () => {
  const { reversal, sorting } = drawnTasks;
  eachRow(reversal, (row, words) => {
    const letters = words.slice(0, words.indexOf('>'));
    assert.equal(write(reversal, asked(row)), [...letters].reverse().join(''));
  });
  eachRow(sorting, (row, words) => {
    const letters = words.slice(0, words.indexOf('>'));
    assert.equal(new Set(letters).size, letters.length);
    assert.equal(write(sorting, asked(row)), [...letters].sort().join(''));
  });
});

test('addition asks for the sum, units first', () => {
  const { addition } = drawnTasks;
  eachRow(addition, (row, words) => {
    const [, a, b] = /^(\d{4})\+(\d{4})=/.exec(words) ?? [];
    const sum = String(Number(a) + Number(b)).padStart(5, '0');
    assert.equal(write(addition, asked(row)), [...sum].reverse().join(''));
  });
});

test('a text asks for each next character, and keeps its end for the held-out rows', () => {
  eachRow(austen, (row, words) => {
    assert.equal(write(austen, row.targets).slice(0, -1), words.slice(1));
  });
  const text = 'ab'.repeat(900) + 'cd'.repeat(100);
  const task = textTask(text, 'ab');
  eachRow(task, (_, words) => assert.match(words, /^[ab]+$/));
  assert.match(write(task, task.row(randomBelow(1), true).ids), /^[cd]+$/);
  assert.equal(task.prompt, 'ab');
  // The shortest text has one held-out row, each of whose characters is followed by one.
  const shortest = textTask('abcd'.repeat(100), 'ab');
  const { ids, targets } = shortest.row(randomBelow(1), true);
  assert.deepEqual([ids.length, targets.length], [39, 39]);
});

/** Different characters. @param {number} count @param {number} [first] */
const different = (count, first = 0x4e00) =>
  Array.from({ length: count }, (_, i) => String.fromCodePoint(first + i)).join('');

test('a text’s rare characters keep their places as one sign, and it is said how much is learnt', () => {
  const common = different(96);
  const rare = different(4, 0x3041);
  const task = textTask(`${common.slice(0, 5)}${rare}${common.repeat(20)}`, `${common[0]}${rare}`);
  assert.equal(task.prompt, common[0] + RARE.repeat(4));
  assert.equal(task.characters, common + RARE);
  const begin = `${common.slice(0, 5)}${RARE.repeat(4)}${common.slice(0, 55)}`;
  assert.equal(write(task, task.row(() => 0).ids), begin, 'what is rare keeps its place');
  const learnt = /** @type {Learnt} */ (task.learnt);
  assert.deepEqual(learnt, { kinds: 96, ofKinds: 100, count: 1925, of: 1929 });
  assert.match(leftOut(learnt), /1,925 of its 1,929 characters remain\. \ufffd stands for/);

  assert.equal(leftOut(/** @type {Learnt} */ (austen.learnt)), '');
  assert.ok(!austen.characters.includes(RARE));
  const own = textTask(`${RARE.repeat(9)}${common.repeat(2)}`, RARE);
  assert.equal(own.characters.length, 96, 'a sign of the text’s own is not there twice');
});

test('a text of which too little is learnt is refused with what remains of it', () => {
  const words = (/** @type {string} */ text) =>
    tooShort(/** @type {Learnt} */ (textTask(text, '').learnt));
  assert.match(words(''), /^Paste a text of at least 400 characters/);
  assert.equal(words('a'), 'This text has 1 character; at least 400 are needed.');
  assert.equal(words('👍'.repeat(390)), 'This text has 390 characters; at least 400 are needed.');
  assert.equal(
    words(different(2000)),
    'Only the 96 commonest of your text’s 2,000 different characters are learnt: 96 of its 2,000 characters remain, and training takes 400. Paste a longer text.',
  );
});

test('a text is long enough by its characters, those outside the basic plane too', () => {
  const lacks = (/** @type {string} */ text) => lacksText({ ...DEFAULTS.own, text });
  for (const character of ['a', '😀']) {
    assert.equal(lacks(character.repeat(399)), true);
    assert.equal(lacks(character.repeat(400)), false);
  }
});

test('random numbers are the same as ever, so that a link shows the run that it showed', () => {
  const [random, other] = [randomBelow(1, 2), randomBelow(7)];
  assert.deepEqual(
    Array.from({ length: 8 }, () => random(1000)),
    [344, 98, 104, 73, 459, 467, 877, 945],
  );
  assert.deepEqual(
    Array.from({ length: 4 }, () => other(2 ** 32)),
    [2943445329, 3160230043, 4004347603, 394733936],
  );
});

test('letters of induction repeat after 4 to 16 of them, and are all drawn', () => {
  const rows = rowsOf(drawnTasks.induction);
  const periods = rows.map(({ targets }) => targets.findIndex((target) => target !== IGNORED));
  const sorted = (/** @type {Iterable<number>} */ all) => [...new Set(all)].sort((a, b) => a - b);
  assert.deepEqual(
    sorted(periods),
    Array.from({ length: 13 }, (_, i) => 4 + i),
  );
  assert.deepEqual(sorted(rows.flatMap(({ ids }) => ids)), [...Array(32).keys()]);
});

test('each digit of a sum stands for two digits of the row, and what is carried', () => {
  for (const { ids, targets, answers } of rowsOf(drawnTasks.addition)) {
    const first = targets.findIndex((target) => target !== IGNORED);
    let carry = 0;
    for (let i = 0; i < 4; i++) {
      const places = answers[first + i];
      assert.deepEqual(places, [3 - i, 8 - i]);
      const sum = ids[places[0]] + ids[places[1]] + carry;
      assert.equal(targets[first + i], sum % 10);
      carry = Math.floor(sum / 10);
    }
    assert.deepEqual([answers[first + 4], targets[first + 4]], [[], carry]);
  }
});

test('letters to be reversed or sorted stand at one place each', () => {
  for (const task of [drawnTasks.reversal, drawnTasks.sorting])
    for (const { ids, targets, answers } of rowsOf(task))
      targets.forEach((target, i) => {
        assert.equal(answers[i].length, Number(target !== IGNORED));
        if (target !== IGNORED) assert.equal(ids[answers[i][0]], target);
      });
});

test('a text’s rows are drawn up to its end', () => {
  const text = Array.from({ length: 2000 }, (_, i) => String.fromCharCode(97 + (i % 20))).join('');
  const task = textTask(`${text.slice(0, -1)}!`, 'ab');
  const end = task.characters.indexOf('!');
  assert.ok(rowsOf(task, true).some(({ targets }) => targets.at(-1) === end));
});

test('in a text what follows stands after an earlier time of the same character', () => {
  const task = textTask('abcabdabeabc'.repeat(100), 'ab');
  let count = 0;
  for (const { ids, answers } of rowsOf(task).slice(0, 20))
    answers.forEach((places, i) => {
      count += places.length;
      for (const place of places)
        assert.ok(place < i && ids[place - 1] === ids[i], `${i}: ${place}`);
    });
  assert.ok(count > 0);
});
