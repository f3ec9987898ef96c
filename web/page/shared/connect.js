/**
 * The page's side of a Worker: the methods of what it serves (../../headwise/worker/serve.js), awaited. The first call
 * starts the Worker; the first one after its end starts another.
 */

import { Connection } from '../../headwise/worker/connection.js';
import { iterable } from '../../headwise/worker/remote.js';
import { orOffline, PageError } from './errors.js';

/**
 * @template R
 * @typedef {R extends AsyncGenerator<infer Y, infer N> ? AsyncGenerator<Y, N, void> : Promise<Awaited<R>>} Answer
 */
/**
 * @template T what the Worker serves
 * @typedef {{ [K in keyof T]: T[K] extends (...args: infer A) => infer R ? (...args: A) => Answer<R> : never }} Remote
 */
/**
 * @template T what the Worker serves
 * @typedef {object} Connected
 * @property {Remote<T>} remote
 * @property {(reason: unknown) => void} end ends the Worker; all who wait are told the reason
 */

/** How long a Worker may take to hear that its work was cancelled, or that there is other work. */
export const PATIENCE_MS = 1500;

/** Calls of all Workers that have not been answered. */
let waiting = 0;
/** @type {Set<() => void>} */
const listeners = new Set();

/** Counts a call among those that `answered` waits for. @param {Promise<unknown>} call */
export function counted(call) {
  waiting++;
  const end = () => {
    if (--waiting > 0) return;
    for (const tell of listeners) tell();
    listeners.clear();
  };
  call.then(end, end);
}

/** @returns {Promise<void>} when no Worker owes an answer */
export async function answered() {
  while (waiting > 0) await new Promise((resolve) => listeners.add(() => resolve(undefined)));
}

/** @param {string} why what the browser says of a Worker that could not be started: nothing of a script that did not come */
export const reasonOf = (why) => (why === '' ? orOffline('') : why);

/** @param {string} why */
export function notStarted(why) {
  const reason = reasonOf(why);
  return `The engine could not be started${reason ? ` (${reason})` : ''}.`;
}

/** Why a Worker could not be made: in a frame, or by a setting, a browser may have none. @param {Error} error */
export const whyNone = (error) =>
  typeof Worker === 'undefined' && (error instanceof TypeError || error instanceof ReferenceError)
    ? 'this browser has no Web Workers, or blocks them'
    : error.message;

/** @param {string} why @param {boolean} hasAnswered */
function wordsOf(why, hasAnswered) {
  const because = why ? ` (${why})` : '';
  return new PageError(
    'ERR_LOAD',
    hasAnswered
      ? `The engine stopped${because}; your next choice starts it again.`
      : notStarted(why),
  );
}

/**
 * @template T
 * @param {() => Worker} startWorker
 * @param {object} [options]
 * @param {(why: string, hasAnswered: boolean) => Error} [options.explain] a failure of the Worker
 * @param {(error: Error) => void} [options.lost] called when the Worker failed, and all that it held is lost
 * @returns {Connected<T>}
 */
export function connect(startWorker, { explain = wordsOf, lost = () => {} } = {}) {
  /** @type {Connection | undefined} */
  let connection;

  const start = () => {
    let hasAnswered = false;
    const worker = startWorker();
    worker.addEventListener('message', () => (hasAnswered = true), { once: true });
    return new Connection(worker, ({ message = '' }) => {
      const error = explain(message, hasAnswered);
      connection = undefined;
      lost(error);
      return error;
    });
  };

  /** @param {string} name @param {unknown[]} args */
  const call = (name, args) => {
    try {
      connection ??= start();
    } catch (error) {
      return iterable(Promise.reject(explain(whyNone(/** @type {Error} */ (error)), false)));
    }
    const answer = connection.send(0, [name], 'call', args);
    counted(answer);
    return answer;
  };

  const remote = new Proxy(/** @type {any} */ ({}), {
    get:
      (_, name) =>
      (/** @type {unknown[]} */ ...args) =>
        call(String(name), args),
  });
  return {
    remote,
    end(reason) {
      const ended = connection;
      connection = undefined;
      ended?.end(reason);
    },
  };
}

/**
 * Ends a Worker that does not hear soon that its work was cancelled.
 *
 * @template T
 * @param {{ end: (reason: unknown) => void }} connected
 * @param {Promise<T>} work that was given the signal
 * @param {AbortSignal} signal
 * @returns {Promise<T>}
 */
export async function orEnd({ end }, work, signal) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let ending;
  const abort = () => (ending = setTimeout(() => end(signal.reason), PATIENCE_MS));
  signal.addEventListener('abort', abort);
  try {
    return await work;
  } finally {
    clearTimeout(ending);
    signal.removeEventListener('abort', abort);
  }
}
