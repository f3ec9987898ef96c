/**
 * A run's states at some of its steps, from which every step between is computed again, to the bit.
 *
 * @import { HeadName } from '../shared/head-names.js'
 * @import { Saved, Trainer } from './trainer.js'
 *
 * @typedef {{ step: number, head: HeadName, isMuted: boolean }} Muting
 */

/** The most states that are kept. */
const MOST = 8;
const FIRST_STRIDE = 25;

export class Checkpoints {
  /** By their steps; the first one stays. @type {Saved[]} */ #kept = [];
  /** What was muted, and when. @type {Muting[]} */ #mutings = [];
  #stride = FIRST_STRIDE;

  /** Keeps the state if its step is due. @param {Trainer} trainer at a later step than before */
  add(trainer) {
    const last = this.#kept.at(-1);
    if (last && trainer.step < last.step + this.#stride) return;
    this.#kept.push(trainer.save());
    if (this.#kept.length <= MOST) return;
    this.#kept = this.#kept.filter((_, i) => i % 2 === 0);
    this.#stride *= 2;
  }

  /** Notes that a head is muted, or heard again, from the present step on. @param {Muting} muting */
  note(muting) {
    this.#mutings.push(muting);
  }

  /**
   * Brings another trainer of the same run to a step.
   *
   * @param {Trainer} trainer
   * @param {number} step no earlier than the first state's
   */
  replay(trainer, step) {
    const from = /** @type {Saved} */ (this.#kept.findLast((saved) => saved.step <= step));
    trainer.restore(from);
    // A state was kept before heads were muted at its step.
    const left = this.#mutings.filter((muting) => muting.step >= from.step && muting.step <= step);
    for (;;) {
      while (left.length && left[0].step === trainer.step) {
        const { head, isMuted } = /** @type {Muting} */ (left.shift());
        trainer.mute(head, isMuted);
      }
      if (trainer.step >= step) return;
      trainer.train();
    }
  }
}
