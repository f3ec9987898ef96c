/**
 * The page's side of the Worker: a call is a promise, with progress and
 * cancellation.
 *
 * @typedef {import('./serve-calls.js').Progress} Progress
 * @typedef {object} Pending
 * @property {(value: any) => void} resolve
 * @property {(error: Error) => void} reject
 * @property {((progress: Progress) => void) | undefined} onProgress
 */

import { Cancelled, PageError } from './errors.js';

/** How long a worker may take to hear a cancellation. */
const PATIENCE_MS = 1500;

/** @param {string} why */
const inBrackets = (why) => (why ? ` (${why})` : '');

/** @param {string} why */
const notStarted = (why) =>
  new PageError('ERR_LOAD', `The engine could not be started${inBrackets(why)}.`);

export class EngineClient {
  #startWorker;
  #isReplaced;
  #lost;
  /** @type {Worker | undefined} */ #worker;
  /** @type {Map<number, Pending>} */ #pending = new Map();
  #lastId = 0;

  /**
   * @param {() => Worker} startWorker starts a script that serves calls: ./serve-calls.js
   * @param {object} [options]
   * @param {boolean} [options.isReplaced] default true: a worker that does not hear a cancellation is replaced; false
   *   where it holds what would be lost
   * @param {(error: Error) => void} [options.lost] called when a worker failed, and all that it held is lost; the next
   *   call starts another one
   */
  constructor(startWorker, { isReplaced = true, lost = () => {} } = {}) {
    this.#startWorker = startWorker;
    this.#isReplaced = isReplaced;
    this.#lost = lost;
  }

  /**
   * @param {string} type
   * @param {unknown} payload
   * @param {object} [options]
   * @param {(progress: Progress) => void} [options.onProgress]
   * @param {AbortSignal} [options.signal]
   * @returns {Promise<any>}
   */
  call(type, payload, { onProgress, signal } = {}) {
    if (signal?.aborted) return Promise.reject(new Cancelled());
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const worker = (this.#worker ??= this.#start());
      worker.postMessage({ id, type, payload });
      this.#pending.set(id, { resolve, reject, onProgress });
      signal?.addEventListener('abort', () => this.#cancel(id));
    });
  }

  /** @returns {Worker} */
  #makeWorker() {
    try {
      return this.#startWorker();
    } catch (error) {
      throw notStarted(/** @type {Error} */ (error).message);
    }
  }

  #start() {
    const worker = this.#makeWorker();
    let hasAnswered = false;
    worker.addEventListener('message', ({ data }) => {
      hasAnswered = true;
      this.#hear(data);
    });
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      if (worker !== this.#worker) return;
      const stopped = `The engine stopped${inBrackets(event.message)}; your next choice starts it again.`;
      const error = hasAnswered ? new PageError('ERR_LOAD', stopped) : notStarted(event.message);
      this.#restart(error);
      this.#lost(error);
    });
    return worker;
  }

  /** @param {{ id: number, progress?: Progress, result?: unknown, error?: { code: string, message: string } }} message */
  #hear({ id, progress, result, error }) {
    const pending = this.#pending.get(id);
    if (!pending) return;
    if (progress) {
      pending.onProgress?.(progress);
      return;
    }
    this.#pending.delete(id);
    if (error) pending.reject(new PageError(error.code, error.message));
    else pending.resolve(result);
  }

  /** @param {number} id */
  #cancel(id) {
    if (!this.#pending.has(id)) return;
    this.#worker?.postMessage({ cancel: id });
    if (!this.#isReplaced) return;
    setTimeout(() => {
      if (this.#pending.has(id)) this.#restart(new Cancelled());
    }, PATIENCE_MS);
  }

  /** @param {Error} error what everyone who waits is told */
  #restart(error) {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}
