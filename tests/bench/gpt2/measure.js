// What is timed of one model on one number of threads: prompts, and one token after another.
import { readFile } from 'node:fs/promises';
import { load } from 'headwise';
import { Gpt2 } from 'headwise/gpt2';
import { Ceiling } from '../../../web/page/bench/ceiling.js';
import { check } from '../../../web/page/bench/check.js';
import { takeTurns } from '../../../web/page/bench/measure.js';
import { gpt2 } from '../../reference-gpt2.js';
import { decodeBytes, promptFlops } from './sizes.js';

/** @typedef {import('headwise/gpt2').Gpt2Options} Gpt2Options */

/**
 * One line: of a prompt rate and ceiling are GFLOP/s, of a decoded token GB/s, both of the fastest run. The ceiling is one
 * thread's of the same run, times the threads.
 * @typedef {object} Timing
 * @property {'prompt' | 'decode'} way
 * @property {number} tokens of the prompt, or in the cache before the token
 * @property {number} minimum ms
 * @property {number} median
 * @property {number} runs
 * @property {number} perSecond tokens
 * @property {'GFLOP/s' | 'GB/s'} unit
 * @property {number} rate
 * @property {number} ceiling
 * @property {number} percent of the ceiling
 */

/**
 * @typedef {object} Result
 * @property {string} size
 * @property {number} parameters
 * @property {'relaxed' | 'simd128'} simd
 * @property {number} threads
 * @property {number} memoryBytes of the engine, after everything
 * @property {number} [maxError] of a row of logits against float64, where the model is small enough for that
 * @property {Timing[]} timings
 */

/** Beyond this the reference takes minutes. */
const CHECKED_PARAMETERS = 2e7;
const CHECKED_TOKENS = 8;
const WARM_SECONDS = 0.2;

/** @param {number} length @param {number} vocabSize */
const idsOf = (length, vocabSize) =>
  Array.from({ length }, (_, i) => (Math.imul(i + 1, 0x9e3779b1) >>> 0) % vocabSize);

/**
 * The last token's logits, alone and after the others in a cache.
 * @param {Gpt2} model
 */
function validate(model) {
  const ids = idsOf(CHECKED_TOKENS, model.options.vocabSize);
  const columns = model.options.vocabSize;
  const { data } = gpt2(ids, model.stateDict(), model.options);
  const values = data.slice(-columns);
  const cache = model.createCache();
  model.forward(ids.slice(0, -1), { cache, logits: 'none' });
  const rows = [model.forward(ids).logits, model.forward(ids.slice(-1), { cache }).logits];
  cache.dispose();
  const errors = rows.map((row) => {
    const { maxError, problem } = check(row?.data ?? [], {
      rows: [0],
      columns,
      values: Float64Array.from(values),
    });
    if (problem !== undefined) throw new Error(`wrong: ${problem}`);
    return maxError;
  });
  return Math.max(...errors);
}

/**
 * @param {{ run: () => unknown, amount: number }} yardstick
 * @param {() => unknown} run
 * @param {number} seconds
 */
async function time(yardstick, run, seconds) {
  const { yardstick: fastest, runs } = await takeTurns(yardstick.run, [run], seconds);
  const { minimum, median, turns } = runs[0];
  return { minimum, median, runs: turns, ceiling: yardstick.amount / fastest / 1e6 };
}

/**
 * @param {string} size
 * @param {Gpt2Options} options
 * @param {{ threads: number, seconds: number, prompts: readonly number[] }} how
 * @returns {Promise<Result>}
 */
export async function measure(size, options, { threads, seconds, prompts }) {
  const hw = await load({ threads });
  try {
    if (hw.info.threads !== threads) throw new Error(hw.info.threadsReason);
    const { simd } = hw.info;
    const url = new URL(`../../../web/page/bench/wasm/ceiling-${simd}.wasm`, import.meta.url);
    const ceiling = await Ceiling.measure(
      await WebAssembly.compile(await readFile(url)),
      WARM_SECONDS,
    );
    hw.manualSeed(1);
    const model = new Gpt2(hw, options);
    const parameters = model.parameterCount();
    const maxError = parameters <= CHECKED_PARAMETERS ? validate(model) : undefined;
    /** @type {Timing[]} */
    const timings = [];
    for (const tokens of prompts.filter((each) => each <= options.contextLength)) {
      const ids = idsOf(tokens, options.vocabSize);
      const one = await time(ceiling.arithmetic, () => model.forward(ids), seconds);
      const rate = promptFlops(options, tokens) / one.minimum / 1e6;
      timings.push(
        timing('prompt', tokens, one, { rate, unit: 'GFLOP/s', threads, count: tokens }),
      );
    }
    const cache = model.createCache();
    for (const most of prompts) {
      const tokens = Math.min(most, options.contextLength - 1);
      cache.truncate(0);
      model.forward(idsOf(tokens, options.vocabSize), { cache, logits: 'none' });
      const bytes = decodeBytes(options, tokens);
      const next = () => {
        cache.truncate(tokens);
        model.forward([1], { cache });
      };
      const one = await time(ceiling.reading(bytes), next, seconds);
      const rate = bytes / one.minimum / 1e6;
      timings.push(timing('decode', tokens, one, { rate, unit: 'GB/s', threads, count: 1 }));
    }
    const { memoryBytes } = hw;
    return {
      size,
      parameters,
      simd,
      threads,
      memoryBytes,
      ...(maxError !== undefined && { maxError }),
      timings,
    };
  } finally {
    hw.dispose();
  }
}

/**
 * @param {Timing['way']} way
 * @param {number} tokens
 * @param {Awaited<ReturnType<typeof time>>} measured
 * @param {{ rate: number, unit: Timing['unit'], threads: number, count: number }} of
 * @returns {Timing}
 */
function timing(
  way,
  tokens,
  { minimum, median, runs, ceiling: single },
  { rate, unit, threads, count },
) {
  const ceiling = single * threads;
  const percent = (100 * rate) / ceiling;
  return {
    way,
    tokens,
    minimum,
    median,
    runs,
    perSecond: (1000 * count) / minimum,
    unit,
    rate,
    ceiling,
    percent,
  };
}
