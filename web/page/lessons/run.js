/**
 * One run of a lesson, in a Worker of its own: nothing is left of an earlier one, and it can be stopped at any time.
 *
 * @import { Item } from './audience.js'
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

import { readStep } from './imports.js';

/**
 * @param {string[]} steps the code of each
 * @param {Listener} listener
 * @returns {() => void} stops it
 */
export function startRun(steps, { onStep, onItem, onEnd }) {
  const worker = new Worker(new URL('./lesson-worker.js', import.meta.url), { type: 'module' });
  let step = 0;
  let ended = false;
  /** @param {Outcome} outcome */
  const end = (outcome) => {
    if (ended) return;
    ended = true;
    worker.terminate();
    onEnd(outcome);
  };
  worker.addEventListener('message', ({ data }) => {
    if (ended) return;
    if (data.step !== undefined) {
      step = data.step;
      onStep(step);
    } else if (data.item) {
      onItem(step, data.item);
    } else if (data.error) {
      end({ how: 'error', ...data.error });
    } else {
      end({ how: 'done', step });
    }
  });
  worker.addEventListener('error', (event) => {
    event.preventDefault();
    const message = event.message || 'The engine could not be started.';
    end({ how: 'error', step, message });
  });
  worker.postMessage({ steps: steps.map(readStep) });
  return () => end({ how: 'stopped', step });
}
