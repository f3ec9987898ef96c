/**
 * One run of a lesson, in a Worker of its own: nothing is left of an earlier one, and it can be stopped at any time.
 *
 * The code may be somebody else's. So the Worker calls nothing here: it posts plain words, and each is looked at.
 *
 * @import { Item } from './audience.js'
 *
 * @typedef {object} Outcome
 * @property {'done' | 'error' | 'stopped'} how
 * @property {number} step where it ended
 * @property {string} [message] of an error
 * @property {number} [line] of that step, from 1
 * @property {{ step: number, line: number }} [late] of a run that is done: where it set a timer that it did not wait for
 *
 * @typedef {object} Listener
 * @property {(step: number) => void} onStep a step begins
 * @property {(step: number, item: Item) => void} onItem it shows something
 * @property {(outcome: Outcome) => void} onEnd called once
 */

import { counted, notStarted, whyNone } from '../shared/connect.js';
import { cutWords } from '../shared/errors.js';
import { readStep } from './imports.js';

/** A run shows some hundred things at most: more messages than this come from code that posts its own. */
const MOST_MESSAGES = 2000;

const FLOOD = 'The code was stopped: it sent the page messages that are not lesson results.';

/** @param {any} item whether it may be shown; its parts are looked at when it is drawn */
const isItem = (item) => typeof item?.kind === 'string' && typeof item.name !== 'object';

/** @param {any} outcome @param {number} step that runs @param {(step: unknown) => boolean} isStep @returns {Outcome} */
function readOutcome({ how, step: at, line, message, late }, step, isStep) {
  const place = isStep(at) ? at : step;
  const isLine = (/** @type {unknown} */ one) => Number.isInteger(one) && Number(one) > 0;
  if (how === 'done') {
    const isLate = isStep(late?.step) && isLine(late.line);
    return { how, step: place, ...(isLate && { late: { step: late.step, line: late.line } }) };
  }
  const known = isLine(line) ? line : undefined;
  return { how: 'error', step: place, line: known, message: String(message) };
}

/**
 * @param {string[]} steps the code of each
 * @param {Listener} listener
 * @returns {() => void} stops it
 */
export function startRun(steps, { onStep, onItem, onEnd }) {
  let step = 0;
  let messages = 0;
  let hasEnded = false;
  /** @type {Worker | undefined} */
  let worker;
  /** @type {(value?: undefined) => void} */
  let release = () => {};
  counted(new Promise((resolve) => (release = resolve)));
  const isStep = (/** @type {unknown} */ at) =>
    Number.isInteger(at) && Number(at) >= 0 && Number(at) < steps.length;

  /** @param {Outcome} outcome */
  const finish = ({ message, ...outcome }) => {
    if (hasEnded) return;
    hasEnded = true;
    worker?.terminate();
    release();
    onEnd(message === undefined ? outcome : { ...outcome, message: cutWords(message) });
  };
  /** @param {string} message */
  const fail = (message) => finish({ how: 'error', step, message });
  /** @param {any} said */
  const hear = (said) => {
    if (hasEnded) return;
    if (++messages > MOST_MESSAGES) fail(FLOOD);
    else if (isStep(said?.step)) onStep((step = said.step));
    else if (isItem(said?.item)) onItem(step, said.item);
    else if (typeof said?.outcome === 'object' && said.outcome) {
      finish(readOutcome(said.outcome, step, isStep));
    } else fail(FLOOD);
  };
  try {
    worker = new Worker(new URL('./lesson-worker.js', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data }) => hear(data));
    worker.addEventListener('messageerror', () => fail(FLOOD));
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      const why = event.message ?? '';
      fail(messages > 0 && why ? why : notStarted(why));
    });
    // Where the engine and the lessons' model are.
    const base = new URL('.', document.baseURI).href;
    worker.postMessage({ steps: steps.map(readStep), base });
  } catch (error) {
    const why = whyNone(/** @type {Error} */ (error));
    // The caller has no way to stop it yet, and waits for nothing so far.
    queueMicrotask(() => fail(notStarted(why)));
  }
  return () => finish({ how: 'stopped', step });
}
