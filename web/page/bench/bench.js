/**
 * The benchmark: every case is first compared with float64, then timed in turns with the ceiling of this machine. Runs in
 * Node and in browsers; whoever calls it fetches the ceiling's modules and shows the results.
 *
 * @import { Case, Engine } from './cases.js'
 * @import { Shape } from './work.js'
 */

import * as headwise from '../../headwise/index.js';
import { takeTurns } from '../shared/measure.js';
import { casesOf } from './cases.js';
import { Ceiling } from './ceiling.js';
import { check } from './check.js';

/** @typedef {'simd128' | 'relaxed'} Simd */

/** For each loop: enough to be compiled well before it is compared with anything. */
const CEILING_SECONDS = 0.1;

/** What is used of the package. @typedef {Pick<typeof headwise, 'load' | 'tensor'>} Package */

/**
 * @typedef {object} Options
 * @property {Record<string, Shape>} shapes
 * @property {Partial<Record<Simd, WebAssembly.Module>>} ceilings ceiling.c for each module that is to be measured
 * @property {readonly number[]} threads
 * @property {number} seconds for each case on each number of threads
 * @property {Package} [before] an earlier version of the package, timed by turns with this one
 */

/**
 * Timing of one case. Where reading limits (the shape has bytes), rate and ceiling are GB/s, else GFLOP/s; both of the
 * fastest run. The ceiling is one thread's, times the threads.
 * @typedef {object} Timing
 * @property {number} minimum ms
 * @property {number} median ms
 * @property {number} runs
 * @property {'GFLOP/s' | 'GB/s'} unit
 * @property {number} rate
 * @property {number} ceiling
 * @property {number} percent of the ceiling
 * @property {number} [speedup] how many times faster than one thread, timed by turns with it
 * @property {number} [against] how many times faster than `before`
 * @property {number} memoryBytes the engine's memory, all it ever needed at once
 * @property {number} maxError against float64, relative to 1 + |right|
 */

/**
 * What became of one case: a timing; or skipped, why it was not run; or problem, why it counts as failed.
 * @typedef {object} Result
 * @property {string} shape
 * @property {string} name how the work was done: wrapper, fused, linear, attention, decode
 * @property {Simd} simd
 * @property {number} threads
 * @property {Timing} [timing]
 * @property {string} [skipped]
 * @property {string} [problem]
 */

/**
 * One case on so many threads of a package.
 * @typedef {object} Entry
 * @property {number} threads
 * @property {boolean} isBefore
 * @property {Engine} [hw]
 * @property {() => unknown} [run] there if the result was right
 * @property {number} [maxError]
 * @property {string} [skipped]
 * @property {string} [problem]
 */

/** Why a case failed. The package's messages say what is wrong by themselves. @param {unknown} error */
const reasonOf = (error) =>
  error instanceof Error && error.name === 'HeadwiseError' ? error.message : String(error);

/**
 * In an engine of its own, so that its memory is what this case needs.
 * @param {Case} subject
 * @param {Simd} simd
 * @param {number} threads
 * @param {Package} [before] whose subject it is
 * @returns {Promise<Entry>}
 */
async function enter(subject, simd, threads, before) {
  /** @type {Entry} */
  const entry = { threads, isBefore: before !== undefined };
  try {
    const hw = await (before ?? headwise).load({ simd, threads });
    entry.hw = hw;
    if (hw.info.threads !== threads) return { ...entry, skipped: hw.info.threadsReason };
    const { run, first = run, expected } = subject.prepare(hw);
    const { maxError, problem } = check(first().data, expected());
    if (problem !== undefined) return { ...entry, problem: `wrong: ${problem}` };
    return { ...entry, run, maxError };
  } catch (error) {
    return { ...entry, problem: reasonOf(error) };
  }
}

/**
 * @param {Case} subject
 * @param {Entry[]} entries that are right
 * @param {Ceiling} ceiling
 * @param {number} seconds
 * @returns {Promise<Timing[]>}
 */
async function time({ work: { flops, bytes } }, entries, ceiling, seconds) {
  const yardstick = bytes === undefined ? ceiling.arithmetic : ceiling.reading(bytes);
  const runs = entries.map(({ run }) => /** @type {() => unknown} */ (run));
  const times = await takeTurns(yardstick.run, runs, seconds);
  yardstick.fastest = Math.min(yardstick.fastest, times.yardstick);
  const minimumOf = (/** @type {number} */ threads, /** @type {boolean} */ isBefore) =>
    times.runs[entries.findIndex((e) => e.threads === threads && e.isBefore === isBefore)]?.minimum;
  return entries.map(({ threads, hw, isBefore, maxError = NaN }, i) => {
    const { minimum, median, turns } = times.runs[i];
    const rate = (bytes ?? flops) / minimum / 1e6;
    const limit = (yardstick.amount / yardstick.fastest / 1e6) * threads;
    const single = minimumOf(1, isBefore);
    const earlier = minimumOf(threads, true);
    return {
      minimum,
      median,
      runs: turns,
      unit: bytes === undefined ? 'GFLOP/s' : 'GB/s',
      rate,
      ceiling: limit,
      percent: (100 * rate) / limit,
      ...(single !== undefined && threads !== 1 && { speedup: single / minimum }),
      ...(earlier !== undefined && { against: earlier / minimum }),
      memoryBytes: hw?.memoryBytes ?? NaN,
      maxError,
    };
  });
}

/** @typedef {{ simd: Simd, threads: readonly number[], ceiling: Ceiling, seconds: number, before?: Package }} How */

/**
 * A case on each number of threads, all by turns.
 * @param {Case} subject
 * @param {Case | undefined} earlier the same in `before`
 * @param {How} how
 * @returns {Promise<{ threads: number, timing?: Timing, skipped?: string, problem?: string }[]>}
 */
async function measure(subject, earlier, { simd, threads, ceiling, seconds, before }) {
  /** @type {Entry[]} */
  const entries = [];
  try {
    for (const count of threads) {
      entries.push(await enter(subject, simd, count));
      if (earlier) entries.push(await enter(earlier, simd, count, before));
    }
    const right = entries.filter(({ run }) => run);
    const timings = right.length ? await time(subject, right, ceiling, seconds) : [];
    return entries
      .filter(({ isBefore }) => !isBefore)
      .map((entry) => {
        const { threads: count, skipped, problem } = entry;
        const timing = timings[right.indexOf(entry)];
        return {
          threads: count,
          ...(timing && { timing }),
          ...(skipped !== undefined && { skipped }),
          ...(problem !== undefined && { problem }),
        };
      });
  } catch (error) {
    return threads.map((count) => ({ threads: count, problem: reasonOf(error) }));
  } finally {
    for (const { hw } of entries) hw?.dispose();
  }
}

/**
 * @param {Options} options
 * @returns {AsyncGenerator<Result, void, void>} one result per shape, way, module and number of threads
 */
export async function* bench({ shapes, ceilings, threads, seconds, before }) {
  for (const [simd, module] of /** @type {[Simd, WebAssembly.Module][]} */ (
    Object.entries(ceilings)
  )) {
    const ceiling = await Ceiling.measure(module, CEILING_SECONDS);
    for (const [shape, description] of Object.entries(shapes)) {
      const earlier = before && casesOf(description, before.tensor);
      for (const [i, subject] of casesOf(description).entries()) {
        const how = { simd, threads, ceiling, seconds, before };
        const results = await measure(subject, earlier?.[i], how);
        for (const result of results) yield { shape, name: subject.name, simd, ...result };
      }
    }
  }
}
