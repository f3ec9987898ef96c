/**
 * How long two functions take: medians over several runs after a warm-up, the
 * two taking turns so that a slow moment hits both. A run repeats a quick
 * function until the clock can see it.
 *
 * @import { Step } from './experiment.js'
 */

const RUNS = 9;
const FEWEST_RUNS = 3;
/** A run lasts at least this long (the clock ticks in 0.1 ms)… */
const RUN_MS = 4;
/** …and all of them together not much longer than this. */
const BUDGET_MS = 2400;
const MAX_CALLS = 4096;

/**
 * @param {() => void} run
 * @param {number} calls
 * @returns {number} milliseconds of one call
 */
function timeCalls(run, calls) {
  const start = performance.now();
  for (let i = 0; i < calls; i++) run();
  return (performance.now() - start) / calls;
}

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * @param {() => void} first
 * @param {() => void} second
 * @param {Step} step told how far it is, between runs
 * @returns {Promise<{ first: number, second: number, runs: number, calls: number }>}
 *   milliseconds of one call of each
 */
export async function timePair(first, second, step) {
  let calls = 1;
  let slower;
  // Warm-up, and how many calls fill a run.
  for (;;) {
    const a = timeCalls(first, calls);
    const b = timeCalls(second, calls);
    slower = Math.max(a, b);
    if (Math.min(a, b) * calls >= RUN_MS || calls >= MAX_CALLS) break;
    calls *= 2;
    await step(0);
  }
  const affordable = Math.floor(BUDGET_MS / (2 * slower * calls));
  const runs = Math.max(FEWEST_RUNS, Math.min(RUNS, affordable));
  const firsts = [];
  const seconds = [];
  for (let run = 0; run < runs; run++) {
    firsts.push(timeCalls(first, calls));
    await step((run + 0.5) / runs);
    seconds.push(timeCalls(second, calls));
    await step((run + 1) / runs);
  }
  return { first: median(firsts), second: median(seconds), runs, calls };
}
