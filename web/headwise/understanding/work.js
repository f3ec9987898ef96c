// Long computations in steps: they say how far they are, and end when they are not wanted any more.
import { checkSignal } from '../checks/check.js';
import { checkProgress, pauses } from './model.js';

/**
 * What long computations take.
 * @typedef {object} WorkOptions
 * @property {(progress: { done: number, total: number }) => void} [onProgress] called after each step
 * @property {AbortSignal} [signal] aborts the computation, which then throws the signal's reason
 */

export const workTable = { onProgress: checkProgress, signal: checkSignal };

/** A computation of so many steps. */
export class Work {
  #onProgress;
  #pause;
  #total;
  #done = 0;

  /** @param {{ onProgress?: Function, signal?: AbortSignal }} options checked @param {number} total */
  constructor({ onProgress, signal }, total) {
    this.#onProgress = onProgress;
    this.#pause = pauses(signal);
    this.#total = total;
  }

  /** After a step. @throws the signal's reason, and what onProgress throws */
  async step() {
    await this.#onProgress?.({ done: ++this.#done, total: this.#total });
    await this.#pause();
  }

  /** Within a long step. @throws the signal's reason */
  pause() {
    return this.#pause();
  }
}
