import { randomBelow } from '../../train/tasks/random.js';

/**
 * Random numbers of a run's step. Each step has numbers of its own, so that a resumed run draws what an unbroken one draws.
 */
export class Random {
  /** @param {number} seed @param {number} step of the run; other whole numbers for what is not a step */
  constructor(seed, step) {
    /** A whole number from 0 on, below n. */
    this.below = randomBelow(seed, step);
  }

  /** @returns {number} from 0 up to but not including 1 */
  unit() {
    return this.below(2 ** 32) / 2 ** 32;
  }

  /** A whole number from low up to high, high included. @param {number} low @param {number} high */
  whole(low, high) {
    return low + this.below(high - low + 1);
  }

  /** @template T @param {readonly T[]} list @returns {T} */
  pick(list) {
    return list[this.whole(0, list.length - 1)];
  }

  /** @param {number} count of numbers from 0 on @param {number} taken so many of them, none twice */
  choose(count, taken) {
    const left = Array.from({ length: count }, (_, i) => i);
    return Array.from({ length: taken }, (_, i) => {
      const at = this.whole(i, count - 1);
      [left[i], left[at]] = [left[at], left[i]];
      return left[i];
    });
  }
}
