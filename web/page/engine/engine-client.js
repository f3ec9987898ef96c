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

export class EngineClient {
  #startWorker;
  #isReplaced;
  /** @type {Worker | undefined} */ #worker;
  /** @type {Map<number, Pending>} */ #pending = new Map();
  #lastId = 0;

  /**
   * @param {() => Worker} startWorker starts a script that serves calls: ./serve-calls.js
   * @param {{ isReplaced?: boolean }} [options] isReplaced, default true: a worker that does not hear a cancellation is
   *   replaced; false where it holds what would be lost
   */
  constructor(startWorker, { isReplaced = true } = {}) {
    this.#startWorker = startWorker;
    this.#isReplaced = isReplaced;
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
    const worker = (this.#worker ??= this.#start());
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, onProgress });
      worker.postMessage({ id, type, payload });
      signal?.addEventListener('abort', () => this.#cancel(id));
    });
  }

  #start() {
    const worker = this.#startWorker();
    worker.addEventListener('message', ({ data }) => this.#hear(data));
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      const why = event.message ? ` (${event.message})` : '';
      this.#restart(new PageError('ERR_LOAD', `The engine could not be started${why}.`));
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
