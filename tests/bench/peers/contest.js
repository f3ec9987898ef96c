/**
 * One shape on one number of threads through all contestants, in this Node or this page: each is validated first, its best
 * way chosen, then all take turns.
 *
 * @import { Shape } from '../../../web/page/bench/work.js'
 * @import { Contestant, Prepared, Task, Way } from './contestants/contestant.js'
 * @import { Expected } from '../../../web/page/bench/check.js'
 */

import { Ceiling, compileCeilings } from '../../../web/page/bench/ceiling.js';
import { check } from '../../../web/page/bench/check.js';
import { fastestOf, takeTurns } from '../../../web/page/shared/measure.js';
import { expectedOf, flopsOf, taskOf } from './task.js';

/** The modules in contestants/ and what they are called; what is measured is compared with the first. */
export const CONTESTANTS = /** @type {const} */ ({
  headwise: 'Headwise',
  litert: 'LiteRT.js',
  onnxruntime: 'onnxruntime-web',
  tfjs: 'tfjs-wasm',
  jax: 'jax-js',
  plain: 'plain JS',
  pytorch: 'PyTorch',
});

/** For each way, to find the best. */
const TRIAL_SECONDS = 0.05;

/** @typedef {keyof typeof CONTESTANTS} File */

/** @type {readonly File[]} */
export const FILES = ['headwise', 'litert', 'onnxruntime', 'tfjs', 'plain'];
/** Those that train. @type {readonly File[]} */
export const TRAINERS = ['headwise', 'jax', 'tfjs'];

/**
 * @typedef {object} ContestOptions
 * @property {Shape} shape
 * @property {number} threads
 * @property {number} seconds
 * @property {string} [python] in Node: a Python that has PyTorch, which takes part in training
 */

/** @param {ContestOptions} options @returns {readonly File[]} */
function filesFor({ shape, python }) {
  if (shape.kind !== 'train') return FILES;
  return python === undefined ? TRAINERS : [...TRAINERS, 'pytorch'];
}

/**
 * @typedef {object} Outcome
 * @property {string} name of the contestant
 * @property {string} [way] the one that was timed
 * @property {number} [minimum] ms
 * @property {number} [median] ms
 * @property {number} [turns]
 * @property {number} [maxError]
 * @property {string} [refused] why it did not take part
 * @property {string[]} notes ways that failed, and how
 */

/**
 * @typedef {object} Contest
 * @property {Outcome[]} outcomes
 * @property {number} ceiling GFLOP/s of one thread, of this run
 * @property {number} flops
 */

/**
 * @param {File} file
 * @returns {Promise<Contestant>}
 */
const importContestant = (file) => import(`./contestants/${file}.js`);

/** @param {unknown} error */
const words = (error) => String(error instanceof Error ? error.message : error).slice(0, 300);

/**
 * The quickest of the right ways.
 * @param {Way[]} ways
 * @param {Expected} expected
 * @param {Outcome} outcome gets way, maxError and notes
 * @returns {Promise<Prepared | undefined>}
 */
async function bestWay(ways, expected, outcome) {
  /** @type {{ prepared: Prepared, time: number } | undefined} */
  let best;
  for (const way of ways) {
    /** @type {Prepared | undefined} */
    let prepared;
    try {
      prepared = await way.prepare();
      const { maxError, problem } = check(await (prepared.first ?? prepared.run)(), expected);
      if (problem !== undefined) throw new Error(`wrong: ${problem}`);
      const time = await fastestOf(prepared.run, TRIAL_SECONDS);
      if (best && best.time <= time) {
        await prepared.dispose();
        continue;
      }
      await best?.prepared.dispose();
      best = { prepared, time };
      Object.assign(outcome, { way: way.name, maxError });
    } catch (error) {
      outcome.notes.push(`${way.name}: ${words(error)}`);
      // What failed once may fail again while it ends; the page ends soon anyway.
      await Promise.resolve(prepared?.dispose()).catch(() => {});
    }
  }
  return best?.prepared;
}

/**
 * @param {File} file
 * @param {Pick<ContestOptions, 'threads' | 'python'>} options
 * @param {Task} task
 * @param {Expected} expected
 */
async function enter(file, options, task, expected) {
  /** @type {Outcome} */
  const outcome = { name: CONTESTANTS[file], notes: [] };
  try {
    const { start } = await importContestant(file);
    const started = await start(options);
    const ways = started.ways(task);
    if (ways.length === 0) outcome.refused = 'takes too long';
    return { outcome, prepared: await bestWay(ways, expected, outcome) };
  } catch (error) {
    outcome.refused = words(error);
    return { outcome, prepared: undefined };
  }
}

/** For each of its loops. */
const CEILING_SECONDS = 0.1;

/** @param {(simd: string) => Promise<BufferSource>} readCeiling */
async function yardstickOf(readCeiling) {
  const { ceilings } = await compileCeilings(['relaxed', 'simd128'], readCeiling);
  const module = ceilings.relaxed ?? ceilings.simd128;
  if (!module) throw new Error('this runtime has no SIMD');
  return (await Ceiling.measure(module, CEILING_SECONDS)).arithmetic;
}

/**
 * @param {ContestOptions} options
 * @param {(simd: string) => Promise<BufferSource>} readCeiling
 * @param {readonly File[]} [files] who takes part
 * @returns {Promise<Contest>}
 */
export async function contest(options, readCeiling, files = filesFor(options)) {
  const { shape, seconds } = options;
  const yardstick = await yardstickOf(readCeiling);
  const task = taskOf(shape);
  const expected = expectedOf(task);
  const entries = [];
  for (const file of files) entries.push(await enter(file, options, task, expected));
  const timed = entries.flatMap(({ outcome, prepared }) =>
    prepared ? [{ outcome, run: prepared.run }] : [],
  );
  const runs = timed.map(({ run }) => run);
  const times = await takeTurns(yardstick.run, runs, seconds);
  timed.forEach(({ outcome }, i) => Object.assign(outcome, times.runs[i]));
  return {
    outcomes: entries.map(({ outcome }) => outcome),
    ceiling: yardstick.amount / times.yardstick / 1e6,
    flops: flopsOf(task),
  };
}

/**
 * How long a contestant takes to be ready, and to its first answer.
 * @param {File} file
 * @param {Shape} shape a small one
 * @returns {Promise<{ ready: number, answer: number }>} ms
 */
export async function startUp(file, shape) {
  const { start } = await importContestant(file);
  const task = taskOf(shape);
  const begin = performance.now();
  const started = await start({ threads: 1 });
  const ready = performance.now() - begin;
  const prepared = await started.ways(task)[0].prepare();
  await prepared.run();
  return { ready, answer: performance.now() - begin };
}
