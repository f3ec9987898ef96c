/**
 * A run's states at some of its steps, from which every step between is computed again, to the bit.
 *
 * @import { HeadName } from '../shared/head-names.js'
 * @import { Saved, Trainer } from './trainer.js'
 *
 * @typedef {{ step: number, head: HeadName, isMuted: boolean }} Muting
 */

/** The most bytes of states that are kept, but for large models: so few states would be far from each other. */
const MOST_BYTES = 32 * 2 ** 20;
const FEWEST = 8;
const FIRST_STRIDE = 25;
/** Steps of a replay between two words of it. */
const TOLD_EVERY = 100;

/** @param {Saved} saved */
const bytesOf = ({ weights, optimizer }) =>
  [weights, optimizer]
    .flatMap((dict) => Object.values(dict))
    .reduce((sum, { data }) => sum + data.byteLength, 0);

export class Checkpoints {
  /** By their steps; the first one stays. @type {Saved[]} */ #kept = [];
  /** What was muted, and when. @type {Muting[]} */ #mutings = [];
  #stride = FIRST_STRIDE;

  /** Keeps the state if its step is due. @param {Trainer} trainer at a later step than before */
  add(trainer) {
    const last = this.#kept.at(-1);
    if (last && trainer.step < last.step + this.#stride) return;
    const saved = trainer.save();
    this.#kept.push(saved);
    if (this.#kept.length <= Math.max(FEWEST, Math.floor(MOST_BYTES / bytesOf(saved)))) return;
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
   * @param {(left: number) => void} [told] how many steps are still to do, now and then
   */
  replay(trainer, step, told) {
    const from = /** @type {Saved} */ (this.#kept.findLast((saved) => saved.step <= step));
    trainer.restore(from);
    // A state was kept before heads were muted at its step.
    const mutings = this.#mutings.filter((muting) => muting.step >= from.step);
    for (;;) {
      while (mutings.length && mutings[0].step === trainer.step) {
        const { head, isMuted } = /** @type {Muting} */ (mutings.shift());
        trainer.mute(head, isMuted);
      }
      if (trainer.step >= step) return;
      trainer.train();
      const left = step - trainer.step;
      if (left > 0 && left % TOLD_EVERY === 0) told?.(left);
    }
  }
}
