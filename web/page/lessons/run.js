/**
 * One run of a lesson, in a Worker of its own: nothing is left of an earlier one, and it can be stopped at any time.
 *
 * @import { Connected } from '../shared/connect.js'
 * @import { Item } from './audience.js'
 * @import { LessonWorker } from './lesson-worker.js'
 *
 * @typedef {object} Outcome
 * @property {'done' | 'error' | 'stopped'} how
 * @property {number} step where it ended
 * @property {string} [message] of an error
 * @property {number} [line] of that step, from 1
 *
 * @typedef {object} Listener
 * @property {(step: number) => void} onStep a step begins
 * @property {(step: number, item: Item) => void} onItem it shows something
 * @property {(outcome: Outcome) => void} onEnd called once
 */

import { connect, notStarted } from '../shared/connect.js';
import { readStep } from './imports.js';

/**
 * @param {string[]} steps the code of each
 * @param {Listener} listener
 * @returns {() => void} stops it
 */
export function startRun(steps, { onStep, onItem, onEnd }) {
  /** @type {Connected<LessonWorker>} */
  const { remote, end } = connect(
    () => new Worker(new URL('./lesson-worker.js', import.meta.url), { type: 'module' }),
    { explain: (why, hasAnswered) => new Error(hasAnswered && why ? why : notStarted(why)) },
  );
  let step = 0;
  let hasEnded = false;
  /** @param {Outcome} outcome */
  const finish = (outcome) => {
    if (hasEnded) return;
    hasEnded = true;
    end(outcome);
    onEnd(outcome);
  };
  /** @param {number} next */
  const enter = (next) => {
    step = next;
    if (!hasEnded) onStep(step);
  };
  /** @param {Item} item */
  const show = (item) => {
    if (!hasEnded) onItem(step, item);
  };
  remote
    .run(steps.map(readStep), enter, show)
    .then(finish, ({ message }) => finish({ how: 'error', step, message }));
  return () => finish({ how: 'stopped', step });
}
