// npm run bench:models: whole models of random weights in published shapes, as float32, bfloat16 and int8. Validates a small
// model of each architecture against float64 first, then times loading, prompts and decoding by turns.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measure } from './models/measure.js';
import { shapes } from './models/shapes.js';
import { bytesOf, shrink } from './models/work.js';
import {
  choose,
  chooseOne,
  number,
  parse,
  runScript,
  UsageError,
} from '../../web/build/command-line.js';
import { isCount } from './options.js';
import { header, line, ms, withDoubt } from './table.js';

/** @typedef {import('./models/measure.js').Result} Result */

const USAGE =
  'usage: npm run bench:models [-- [--model GPT-2-124M,SmolLM2-135M,Qwen3-0.6B] [--dtype bfloat16,int8] [--threads 1]\n' +
  '                                [--simd auto] [--prompt 128,1024] [--seconds 3] [--clock wall] [--quick] [--json]]\n' +
  '--clock cpu: the time of this process, for a machine that is busy; of one thread.\n' +
  '--quick: the two smaller models, prompts of 128 tokens, a third of the time. Qwen3-0.6B takes 5 GB of memory.';

/** Caches of the whole context are not measured. */
const CONTEXT = 2048;

/** @type {Record<string, Record<string, unknown>>} */
const models = { tiny: shrink(shapes['SmolLM2-135M']), ...shapes };

const COLUMNS = [
  { title: 'model', width: 12, left: true },
  { title: 'module', width: 7, left: true },
  { title: 'threads', width: 7 },
  { title: 'way', width: 6, left: true },
  { title: 'tokens', width: 6 },
  { title: 'dtype', width: 8, left: true },
  { title: 'min ms', width: 7 },
  { title: 'median', width: 7 },
  { title: 'tokens/s', width: 8 },
  { title: 'to float32', width: 10 },
  { title: 'rate', width: 14 },
  { title: 'of ceiling', width: 10 },
  { title: 'ceiling', width: 7 },
];

/** @param {readonly string[]} args */
function parseOptions(args) {
  return parse({
    args: [...args],
    options: {
      model: { type: 'string' },
      dtype: { type: 'string', default: 'bfloat16,int8' },
      threads: { type: 'string', default: '1' },
      simd: { type: 'string', default: 'auto' },
      prompt: { type: 'string' },
      seconds: { type: 'string' },
      clock: { type: 'string', default: 'wall' },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  }).values;
}

/** @param {readonly string[]} args */
function readOptions(args) {
  const { quick, json, ...given } = parseOptions(args);
  const fits = (/** @type {number} */ value) => isCount(value) && value < CONTEXT;
  const list = (
    /** @type {string} */ option,
    /** @type {string} */ text,
    check = isCount,
    expected = 'integers of at least 1',
  ) => text.split(',').map((each) => number(option, each, check, expected));
  const names = quick ? 'GPT-2-124M,SmolLM2-135M' : Object.keys(shapes).join(',');
  const [prompt, seconds] = [
    given.prompt ?? (quick ? '128' : '128,1023'),
    given.seconds ?? (quick ? '1' : '3'),
  ];
  const clock = chooseOne('clock', given.clock, ['wall', 'cpu']);
  const threads = list('threads', given.threads);
  if (clock === 'cpu' && threads.some((count) => count > 1))
    throw new UsageError('--clock is cpu; expected --threads 1 beside it');
  const asked = choose('dtype', given.dtype, Object.keys(bytesOf));
  const dtypes = ['float32', ...asked.filter((dtype) => dtype !== 'float32')];
  return {
    names: choose('model', given.model ?? names, Object.keys(models)),
    threads,
    how: {
      clock: /** @type {'wall' | 'cpu'} */ (clock),
      dtypes: /** @type {import('./models/measure.js').DType[]} */ (dtypes),
      simd: /** @type {any} */ (chooseOne('simd', given.simd, ['auto', 'relaxed', 'simd128'])),
      prompts: list('prompt', prompt, fits, `integers from 1 to ${CONTEXT - 1}`),
      seconds: number('seconds', seconds, (value) => value > 0, 'a number of seconds'),
      loads: quick ? 1 : 3,
    },
    json,
  };
}

/** @param {Result} result */
function print({ model, simd, threads, errors, loadings, timings }) {
  for (const { way, tokens, dtype, ...of } of timings) {
    const cells = [
      ...[model, simd, String(threads), way, String(tokens), dtype, ms(of.minimum), ms(of.median)],
      ...[of.perSecond.toFixed(1), `${of.speedup.toFixed(2)}×`, `${of.rate.toFixed(1)} ${of.unit}`],
      ...[`${of.percent.toFixed(1)} %`, of.ceiling.toFixed(1)],
    ];
    // Integers multiply faster than the ceiling's floats.
    const text = line(COLUMNS, cells);
    console.log(way === 'prompt' && dtype === 'int8' ? text : withDoubt(text, of.percent));
  }
  for (const { dtype, minimum, memoryBytes, share } of loadings)
    console.log(
      `  ${dtype}: loaded in ${ms(minimum)} ms, ${(memoryBytes / 1e6).toFixed(0)} MB of memory (the weights and ` +
        `${(100 * share).toFixed(0)} %), logits off float64 by ${errors[dtype].toExponential(0)}`,
    );
}

/** @param {readonly string[]} args */
async function main(args) {
  const { names, threads, how, json } = readOptions(args);
  const runtime = `Node ${process.version}`;
  if (!json)
    console.log(
      `${runtime}, ${how.clock} time; the ceiling is this machine's, of the same run, times the threads: float32 multiply-adds, ` +
        `or a read of as many bytes\n\n${header(COLUMNS)}`,
    );
  /** @type {Result[]} */
  const results = [];
  for (const name of names)
    for (const count of threads) {
      const folder = await mkdtemp(join(tmpdir(), 'headwise-models-'));
      try {
        const own = models[name];
        const positions = own.n_positions === undefined ? { max_position_embeddings: CONTEXT } : {};
        const config = { ...own, ...(name === 'tiny' ? {} : positions) };
        results.push(await measure(name, config, folder, { ...how, threads: count }));
      } finally {
        await rm(folder, { recursive: true });
      }
      if (!json) print(results[results.length - 1]);
    }
  if (json) console.log(JSON.stringify({ runtime, results }, null, 2));
}

await runScript(main, USAGE);
