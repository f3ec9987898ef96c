/**
 * A run of the benchmark in the visitor's browser: results as they come, paused while the room or the tab is left.
 *
 * @import { Connected } from '../shared/connect.js'
 * @import { Result } from './bench.js'
 * @import { BenchWorker } from './room-worker.js'
 * @import { Shape } from './work.js'
 */

import { connect, reasonOf } from '../shared/connect.js';
import { batch, computed, signal, when } from '../shared/signals.js';
import { againstOneCeiling } from './one-ceiling.js';
import { endOf, failureOf, leftOf, stopOf, waysOf } from './words.js';

/** What a first look needs. */
const SHORT = ['S0', 'S1', 'S2', 'C1', 'G1', 'D1', 'M1'];
/** For each result. */
const SECONDS = { short: 0.3, all: 1 };
/** The short choice ends here, whatever is left. */
const SHORT_MS = 29_000;
/** The longest that a timer waits. */
const MAX_DELAY = 2 ** 31 - 1;

/** Threads to try: one, and all that this page may use. */
function threadCounts() {
  const most = globalThis.crossOriginIsolated ? Math.min(navigator.hardwareConcurrency, 8) : 1;
  return most > 1 ? [1, most] : [1];
}

export class BenchSession {
  results = signal(/** @type {readonly Result[]} */ ([]));
  /** Its share that is done; undefined: nothing runs. @type {import('../shared/signals.js').Signal<number | undefined>} */
  progress = signal(undefined);
  isAll = signal(false);
  #shapes;
  #isHere = signal(true);
  /** What is known of the run. */ #said = signal('');
  /** Whether it is not paused: the visitor is in the room, or has ended it. */
  #goesOn = computed(() => this.#isHere.value || !this.isRunning);
  /** What is said of it. */
  words = computed(() =>
    this.#goesOn.value ? this.#said.value : 'Paused. It goes on when you come back.',
  );
  /** @type {Connected<BenchWorker>['end'] | undefined} */ #end;
  #spent = 0;
  /** Whether the run has no result yet. */ #isFirst = true;

  /** @param {Record<string, Shape>} shapes */
  constructor(shapes) {
    this.#shapes = shapes;
  }

  get isRunning() {
    return this.progress.value !== undefined;
  }

  /** Whether it runs, and not paused. */
  get isMeasuring() {
    return this.isRunning && this.#goesOn.value;
  }

  /** Whether the visitor sees the room. @param {boolean} isHere */
  set isHere(isHere) {
    this.#isHere.value = isHere;
  }

  async start() {
    const isAll = this.isAll.peek();
    const names = isAll ? Object.keys(this.#shapes) : SHORT;
    const shapes = Object.fromEntries(names.map((name) => [name, this.#shapes[name]]));
    const threads = threadCounts();
    this.#isFirst = true;
    batch(() => {
      this.progress.value = 0;
      this.#said.value = 'Measuring this machine’s ceiling …';
    });
    this.#spent = 0;
    /** @type {Connected<BenchWorker>} */
    const { remote, end } = connect(
      () => new Worker(new URL('./room-worker.js', import.meta.url), { type: 'module' }),
      { explain: (why, hasAnswered) => new Error(hasAnswered ? why : reasonOf(why)) },
    );
    this.#end = end;
    const seconds = isAll ? SECONDS.all : SECONDS.short;
    const ways = names.reduce((sum, name) => sum + waysOf(this.#shapes[name]), 0);
    const answers = remote.measure({ shapes, threads, seconds, isAll });
    const total = (/** @type {number} */ modules) => ways * threads.length * modules;
    await this.#follow(answers, total, () => this.#end === end);
  }

  /**
   * @param {ReturnType<Connected<BenchWorker>['remote']['measure']>} answers
   * @param {(modules: number) => number} totalOf results
   * @param {() => boolean} isWanted
   */
  async #follow(answers, totalOf, isWanted) {
    let total = totalOf(1);
    try {
      for (;;) {
        const start = performance.now();
        const late = this.isAll.peek() ? MAX_DELAY : SHORT_MS - this.#spent;
        const ending = setTimeout(() => this.stop('Ended after 30 seconds'), late);
        const { value, done } = await answers.next().finally(() => clearTimeout(ending));
        this.#spent += performance.now() - start;
        if (!isWanted()) return;
        if (done) {
          this.#close(endOf(this.#own, value));
          return;
        }
        if ('simd' in value) this.#add(value, total);
        else total = totalOf(value.modules);
        await when(this.#goesOn);
        if (!isWanted()) return;
      }
    } catch (error) {
      if (isWanted()) this.#close(failureOf(/** @type {Error} */ (error)));
    }
  }

  /** The run's own results: until its first, those of the run before are seen. */
  get #own() {
    return this.#isFirst ? [] : this.results.peek();
  }

  /** @param {Result} result @param {number} total */
  #add(result, total) {
    batch(() => {
      this.results.value = againstOneCeiling([...this.#own, result]);
      this.#isFirst = false;
      const done = this.#own.length;
      this.progress.value = done / total;
      this.#said.value = leftOf(done, total, this.#spent);
    });
  }

  /** @param {string} [why] */
  stop(why = 'Stopped') {
    this.#close(stopOf(why, this.#own.length, this.results.peek().length));
  }

  /** @param {string} words */
  #close(words) {
    this.#end?.(words);
    this.#end = undefined;
    batch(() => {
      this.progress.value = undefined;
      this.#said.value = words;
    });
  }
}
