/**
 * What is asked of a run beside training: one thing after another, and what is said of it. The run goes on if it fails.
 *
 * @import { Training } from './training.js'
 * @import { Told } from './worker/train-worker.js'
 */

import { formatCount } from '../shared/format.js';
import { effect, signal } from '../shared/signals.js';

export class Requests {
  #room;
  #failed;
  /** By its button, until it is done. @type {Map<string, Promise<void>>} */ #asked = new Map();
  said = signal({ words: '', isError: false });

  /** @param {Training} room @param {() => void} failed called once it is said that something failed */
  constructor(room, failed) {
    this.#room = room;
    this.#failed = failed;
    // What was said is of the runs that were there.
    effect(() => {
      void room.runs.value;
      this.say('');
    });
  }

  /** @param {string} words */
  say(words, isError = false) {
    this.said.value = { words, isError };
  }

  /** Does it now. @param {() => Promise<unknown>} act */
  async attempt(act) {
    this.#room.say('');
    this.say('');
    try {
      await act();
    } catch (error) {
      const { message, code } = /** @type {{ message: string, code?: string }} */ (error);
      if (code === 'ERR_STALE') return; // of a run that was ended
      this.say(message, true);
      this.#failed();
    }
  }

  /** Takes something of the run when all that was asked for before is done. @param {string} id of the button @param {(told: Told) => Promise<unknown>} act */
  async takeInTurn(id, act) {
    if (this.#asked.has(id)) return;
    const done = Promise.allSettled(this.#asked.values()).then(() => this.#take(act));
    this.#asked.set(id, done);
    await done;
    this.#asked.delete(id);
  }

  /** At a step that is looked back at, steps since a checkpoint are trained once more. @param {(told: Told) => Promise<unknown>} act */
  async #take(act) {
    const { back, shown } = this.#room;
    const step = formatCount(shown.peek());
    let waiting = back.peek() === null ? '' : `Going back to step ${step} …`;
    await this.attempt(() => {
      this.say(waiting);
      return act((left) => {
        waiting = `Going back to step ${step}: ${formatCount(left)} to go.`;
        this.say(waiting);
      });
    });
    if (this.said.peek().words === waiting) this.say('');
  }
}
