// The rows of the Train room's tasks: all that may be drawn is drawn, and the same everywhere.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomBelow } from '../web/page/train/tasks/random.js';
import { IGNORED } from '../web/page/train/tasks/task.js';
import { drawnTasks, textTask } from '../web/page/train/tasks/tasks.js';

/** @import { Row, Task } from '../web/page/train/tasks/task.js' */

/** Many rows of a task. @param {Task} task @param {boolean} [heldOut] @returns {Row[]} */
const rowsOf = (task, heldOut) =>
  Array.from({ length: 500 }, (_, seed) => task.row(randomBelow(seed), heldOut));

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
