// One model as several dtypes, timed by turns in one run: loading, prompts, and one token after another.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'headwise';
import { loadModel } from 'headwise/models';
import { Ceiling } from '../../../web/page/bench/ceiling.js';
import { takeTurns } from '../../../web/page/shared/measure.js';
import { idsOf, validate } from './validate.js';
import { workOf } from './work.js';
import { writeModel } from './write.js';

/** @typedef {'float32' | 'bfloat16' | 'float16' | 'int8'} DType */

/**
 * One line. Of a prompt the rate is GFLOP/s against float32's ceiling, of a decoded token GB/s; both of the fastest call. The
 * ceiling is one thread's of the same run, times the threads.
 * @typedef {object} Timing
 * @property {'prompt' | 'decode'} way
 * @property {number} tokens of the prompt, or in the cache before the token
 * @property {DType} dtype
 * @property {number} minimum ms
 * @property {number} median
 * @property {number} runs
 * @property {number} perSecond tokens
 * @property {number} speedup float32's fewest ms by these
 * @property {'GFLOP/s' | 'GB/s'} unit
 * @property {number} rate
 * @property {number} ceiling
 * @property {number} percent of the ceiling
 */

/**
 * @typedef {object} Loading
 * @property {DType} dtype
 * @property {number} minimum ms, from a file in memory
 * @property {number} memoryBytes the engine's, afterwards
 * @property {number} share of it that exceeds the weights' own bytes, as a fraction of these
 */

/**
 * @typedef {object} Result
 * @property {string} model
 * @property {number} parameters
 * @property {'relaxed' | 'simd128'} simd
 * @property {number} threads
 * @property {Record<string, number>} errors of a small model's logits, against float64
 * @property {Loading[]} loadings
 * @property {Timing[]} timings
 */

/**
 * @typedef {object} How
 * @property {readonly DType[]} dtypes float32 first
 * @property {number} threads
 * @property {'auto' | 'relaxed' | 'simd128'} simd
 * @property {readonly number[]} prompts tokens
 * @property {number} seconds for each
 * @property {number} loads
 * @property {'wall' | 'cpu'} clock the time that passes, or this process's, for a machine that is busy
 */

const WARM_SECONDS = 0.2;
/** A read of more takes memory, and is not faster. */
const MOST_READ = 5e8;

const clocks = {
  wall: () => performance.now(),
  cpu() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

/** @param {How} how */
async function start({ threads, simd }) {
  const hw = await load({ threads, simd });
  if (hw.info.threads !== threads) throw new Error(hw.info.threadsReason);
  return hw;
}

/**
 * Loads the model as every dtype by turns, each time into a new engine; the last engines stay.
 * @param {Record<string, unknown>} config
 * @param {Uint8Array} weights
 * @param {How} how
 */
async function loadAll(config, weights, how) {
  /** @type {Map<DType, { hw: import('headwise').Headwise, model: any, times: number[] }>} */
  const loaded = new Map();
  for (let i = 0; i < how.loads; i++)
    for (const dtype of how.dtypes) {
      const times = loaded.get(dtype)?.times ?? [];
      loaded.get(dtype)?.hw.dispose();
      const hw = await start(how);
      const now = clocks[how.clock];
      const begin = now();
      const model = await loadModel(hw, { config, weights }, { dtype });
      times.push(now() - begin);
      loaded.set(dtype, { hw, model, times });
    }
  return loaded;
}

/** @param {'relaxed' | 'simd128'} simd */
async function measureCeiling(simd) {
  const url = new URL(`../../../web/page/bench/wasm/ceiling-${simd}.wasm`, import.meta.url);
  return Ceiling.measure(await WebAssembly.compile(await readFile(url)), WARM_SECONDS);
}

/**
 * @param {Pick<Timing, 'way' | 'tokens' | 'unit'>} what
 * @param {How} how
 * @param {{ amounts: number[], ceilings: number[], runs: import('../../../web/page/shared/measure.js').Samples[] }} measured
 *   of each dtype: amounts: operations or bytes; ceilings: a millionth of what a thread does in a ms
 * @returns {Timing[]}
 */
function timingsOf({ way, tokens, unit }, { dtypes, threads }, { amounts, ceilings, runs }) {
  return dtypes.map((dtype, i) => {
    const { minimum, median, turns } = runs[i];
    const rate = amounts[i] / minimum / 1e6;
    const ceiling = ceilings[i] * threads;
    return {
      ...{ way, tokens, dtype, minimum, median, runs: turns },
      perSecond: (1000 * (way === 'prompt' ? tokens : 1)) / minimum,
      speedup: runs[0].minimum / minimum,
      ...{ unit, rate, ceiling, percent: (100 * rate) / ceiling },
    };
  });
}

/**
 * @param {string} name
 * @param {Record<string, unknown>} config
 * @param {string} folder for its files
 * @param {How} how
 * @returns {Promise<Result>}
 */
export async function measure(name, config, folder, how) {
  const { dtypes, prompts, seconds, threads } = how;
  const clock = clocks[how.clock];
  const work = workOf(config);
  const checker = await start(how);
  const errors = await validate(checker, join(folder, 'small'), config, dtypes);
  checker.dispose();
  await writeModel(folder, config, { dtype: 'bfloat16' });
  const loaded = await loadAll(config, await readFile(join(folder, 'model.safetensors')), how);
  try {
    const models = dtypes.map((dtype) => loaded.get(dtype)?.model);
    const engines = [...loaded.values()].map(({ hw }) => hw);
    const loadings = dtypes.map((dtype, i) => {
      const { memoryBytes } = engines[i];
      const own = work.decodeBytes(dtype, 0);
      const minimum = Math.min(...(loaded.get(dtype)?.times ?? []));
      return { dtype, minimum, memoryBytes, share: memoryBytes / own - 1 };
    });
    const { simd } = engines[0].info;
    const ceiling = await measureCeiling(simd);
    /** @type {Timing[]} */
    const timings = [];
    for (const tokens of prompts) {
      const ids = idsOf(tokens, work.model.vocabSize);
      const runs = models.map((model) => () => model.forward(ids));
      const { yardstick, runs: taken } = await takeTurns(
        ceiling.arithmetic.run,
        runs,
        seconds,
        clock,
      );
      const one = ceiling.arithmetic.amount / yardstick / 1e6;
      const what = /** @type {const} */ ({ way: 'prompt', tokens, unit: 'GFLOP/s' });
      const amounts = models.map(() => work.promptFlops(tokens));
      const ceilings = models.map(() => one);
      timings.push(...timingsOf(what, how, { amounts, ceilings, runs: taken }));
    }
    for (const tokens of prompts) {
      const caches = models.map((model) => {
        const cache = model.createCache();
        model.forward(idsOf(tokens, work.model.vocabSize), { cache, logits: 'none' });
        return cache;
      });
      // As a text is written: the next token is chosen in the engine.
      const runs = models.map((model, i) => () => {
        caches[i].truncate(tokens);
        Array.from(model.generate([1], { cache: caches[i], maxTokens: 1, temperature: 0 }));
      });
      const amounts = dtypes.map((dtype) => work.decodeBytes(dtype, tokens));
      // The largest first: the memory of the others is within it. Each reads as much as its model does.
      const reads = amounts.map((bytes) => ceiling.reading(Math.min(bytes, MOST_READ)));
      const all = [...runs, ...reads.map(({ run }) => run)];
      const { runs: taken } = await takeTurns(undefined, all, seconds, clock);
      const ceilings = reads.map(({ amount }, i) => amount / taken[runs.length + i].minimum / 1e6);
      const what = /** @type {const} */ ({ way: 'decode', tokens, unit: 'GB/s' });
      timings.push(...timingsOf(what, how, { amounts, ceilings, runs: taken }));
      caches.forEach((cache) => cache.dispose());
    }
    return {
      ...{ model: name, parameters: work.parameters, simd, threads },
      ...{ errors, loadings, timings },
    };
  } finally {
    for (const { hw } of loaded.values()) hw.dispose();
  }
}
