/**
 * Times that are measured while they are looked at: one forward after another in a Worker, which ends when nobody looks.
 * What was measured stays.
 *
 * @import { Connected } from '../../shared/connect.js'
 * @import { TimingWorker } from '../worker/timing-worker.js'
 * @import { Timing, Work } from '../../types.js'
 */

import { connect } from '../../shared/connect.js';
import { signal } from '../../shared/signals.js';

/** @param {Work} work */
export const keyOf = ({ tokens, dIn, dOut, heads, causal }) =>
  [tokens, dIn, dOut, heads, causal].join(' ');

/** Between two, so that the page stays quick. */
const PAUSE_MS = 40;

export class Measured {
  /** @type {import('../../shared/signals.js').Signal<ReadonlyMap<string, Timing>>} */
  times = signal(new Map());
  /** @type {import('../../shared/signals.js').Signal<ReadonlyMap<string, { wrapper: number, fused: number }>>} */
  held = signal(new Map());
  /** What went wrong, in words. */
  problem = signal('');
  #end;
  #remote;
  #isWanted = false;
  #isBusy = false;
  /** @type {() => readonly Work[]} */ #wanted = () => [];

  constructor() {
    /** @type {Connected<TimingWorker>} */
    const { remote, end } = connect(
      () => new Worker(new URL('../worker/timing-worker.js', import.meta.url), { type: 'module' }),
    );
    this.#remote = remote;
    this.#end = end;
  }

  /** @param {() => readonly Work[]} wanted works, the most urgent first: asked again after each */
  wants(wanted) {
    this.#wanted = wanted;
  }

  /** Measures what is wanted and not there yet. */
  async go() {
    this.#isWanted = true;
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.problem.value = '';
    try {
      for (let work = this.#next(); work && this.#isWanted; work = this.#next()) {
        await this.#measure(work);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    } catch (error) {
      if (this.#isWanted) this.problem.value = /** @type {Error} */ (error).message;
    } finally {
      this.#isBusy = false;
    }
  }

  #next() {
    const [times, held] = [this.times.peek(), this.held.peek()];
    const works = this.#wanted();
    return (
      works.find((work) => !held.has(keyOf(work))) ?? works.find((work) => !times.has(keyOf(work)))
    );
  }

  /** @param {Work} work */
  async #measure(work) {
    const key = keyOf(work);
    if (this.held.peek().has(key)) {
      const timing = await this.#remote.time(work);
      this.times.value = new Map([...this.times.peek(), [key, timing]]);
    } else {
      const bytes = await this.#remote.held(work);
      this.held.value = new Map([...this.held.peek(), [key, bytes]]);
    }
  }

  /** Forgets the times, to measure them again. */
  again() {
    this.times.value = new Map();
    this.go();
  }

  stop() {
    if (!this.#isWanted) return;
    this.#isWanted = false;
    this.#end(new Error('Nobody looks.'));
  }
}
