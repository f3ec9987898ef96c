/**
 * The benchmark: every case is first compared with float64, then timed in turns with the ceiling of this machine. Runs in
 * Node and in browsers; whoever calls it fetches the ceiling's modules and shows the results.
 *
 * @import { Case, Engine } from './cases.js'
 * @import { Shape } from './work.js'
 */

import { load } from '../../headwise/index.js';
import { casesOf } from './cases.js';
import { Ceiling } from './ceiling.js';
import { check } from './check.js';
import { fastestOf, takeTurns } from './measure.js';

/** @typedef {'simd128' | 'relaxed'} Simd */

/** Enough to be compiled well before it is first compared with anything. */
const CEILING_SECONDS = 0.1;

/**
 * @typedef {object} Options
 * @property {Record<string, Shape>} shapes
 * @property {Partial<Record<Simd, WebAssembly.Module>>} ceilings src/ceiling.c for each module that is to be measured
 * @property {readonly number[]} threads
 * @property {number} seconds for each case
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
 * @param {Case} subject
 * @param {Engine} hw
 * @param {Ceiling} ceiling
 * @param {number} seconds
 * @returns {Promise<{ timing: Timing } | { problem: string }>}
 */
async function measure(subject, hw, ceiling, seconds) {
  const { run, expected } = subject.prepare(hw);
  const { maxError, problem } = check(run().data, expected());
  if (problem !== undefined) return { problem: `wrong: ${problem}` };
  const { flops, bytes } = subject.work;
  const yardstick = bytes === undefined ? ceiling.arithmetic : ceiling.reading(bytes);
  const times = await takeTurns(yardstick.run, [run], seconds);
  yardstick.fastest = Math.min(yardstick.fastest, times.yardstick);
  const [{ minimum, median, turns }] = times.runs;
  const rate = (bytes ?? flops) / minimum / 1e6;
  const limit = (yardstick.amount / yardstick.fastest / 1e6) * hw.info.threads;
  return {
    timing: {
      minimum,
      median,
      runs: turns,
      unit: bytes === undefined ? 'GFLOP/s' : 'GB/s',
      rate,
      ceiling: limit,
      percent: (100 * rate) / limit,
      memoryBytes: hw.memoryBytes,
      maxError,
    },
  };
}

/**
 * In an engine of its own, so that its memory is what this case needs.
 * @param {Case} subject
 * @param {{ simd: Simd, threads: number, ceiling: Ceiling, seconds: number }} how
 * @returns {Promise<{ timing: Timing } | { skipped: string } | { problem: string }>}
 */
async function runCase(subject, { simd, threads, ceiling, seconds }) {
  let hw;
  try {
    hw = await load({ simd, threads });
    if (hw.info.threads !== threads) return { skipped: hw.info.threadsReason };
    return await measure(subject, hw, ceiling, seconds);
  } catch (error) {
    return { problem: String(error) };
  } finally {
    hw?.dispose();
  }
}

/**
 * @param {Options} options
 * @returns {AsyncGenerator<Result, void, void>} one result per shape, way, module and number of threads
 */
export async function* bench({ shapes, ceilings, threads, seconds }) {
  for (const [simd, module] of Object.entries(ceilings)) {
    const ceiling = new Ceiling(module);
    const { arithmetic } = ceiling;
    arithmetic.fastest = await fastestOf(arithmetic.run, CEILING_SECONDS);
    for (const [shape, description] of Object.entries(shapes)) {
      for (const subject of casesOf(description)) {
        for (const count of threads) {
          const what = {
            shape,
            name: subject.name,
            simd: /** @type {Simd} */ (simd),
            threads: count,
          };
          const how = { simd: what.simd, threads: count, ceiling, seconds };
          yield { ...what, ...(await runCase(subject, how)) };
        }
      }
    }
  }
}
