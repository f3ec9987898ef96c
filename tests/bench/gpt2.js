// npm run bench:gpt2: validates a small GPT-2 of random weights, then times prompts, decoding and loading, of one as large
// as GPT-2's smallest too.
import { parseArgs } from 'node:util';
import { timeLoading } from './gpt2/checkpoint.js';
import { measure } from './gpt2/measure.js';
import { sizes } from './gpt2/sizes.js';
import { choose, number, UsageError } from './options.js';
import { header, line, ms, withDoubt } from './table.js';

/** @typedef {import('./gpt2/measure.js').Result} Result */

const USAGE =
  'usage: npm run bench:gpt2 [-- [--size 10M,124M] [--threads 1,2] [--prompt 128,1024] [--seconds 3] [--json]]';

const COLUMNS = [
  { title: 'model', width: 5, left: true },
  { title: 'module', width: 7, left: true },
  { title: 'threads', width: 7 },
  { title: 'way', width: 6, left: true },
  { title: 'tokens', width: 6 },
  { title: 'min ms', width: 7 },
  { title: 'median', width: 7 },
  { title: 'tokens/s', width: 8 },
  { title: 'rate', width: 14 },
  { title: 'of ceiling', width: 10 },
  { title: 'ceiling', width: 7 },
];

/** @param {readonly string[]} args */
function parse(args) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        size: { type: 'string', default: '10M,124M' },
        threads: { type: 'string', default: '1,2' },
        prompt: { type: 'string', default: '128,1024' },
        seconds: { type: 'string', default: '3' },
        json: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(/** @type {Error} */ (error).message);
  }
}

/** @param {readonly string[]} args */
function readOptions(args) {
  const { size, threads, prompt, seconds, json } = parse(args);
  const whole = (/** @type {number} */ value) => Number.isInteger(value) && value >= 1;
  const list = (/** @type {string} */ option, /** @type {string} */ given) =>
    given.split(',').map((each) => number(option, each, whole, 'integers of at least 1'));
  return {
    names: choose('size', size, Object.keys(sizes)),
    threads: list('threads', threads),
    prompts: list('prompt', prompt),
    seconds: number('seconds', seconds, (value) => value > 0, 'a number of seconds'),
    json,
  };
}

/** @param {Result} result */
function print({ size, simd, threads, timings, memoryBytes, maxError }) {
  for (const { way, tokens, minimum, median, perSecond, rate, unit, percent, ceiling } of timings) {
    const cells = [
      ...[size, simd, String(threads), way, String(tokens), ms(minimum), ms(median)],
      ...[perSecond.toFixed(1), `${rate.toFixed(1)} ${unit}`, `${percent.toFixed(1)} %`],
      ceiling.toFixed(1),
    ];
    console.log(withDoubt(line(COLUMNS, cells), percent));
  }
  const checked = maxError === undefined ? '' : `; off float64 by ${maxError.toExponential(0)}`;
  console.log(`  ${(memoryBytes / 1e6).toFixed(0)} MB of memory${checked}`);
}

/** @param {readonly string[]} args */
async function main(args) {
  const { names, threads, json, ...how } = readOptions(args);
  const runtime = `Node ${process.version}`;
  const results = [];
  const loadings = [];
  if (!json)
    console.log(
      `${runtime}; the ceiling is this machine's, of the same run, times the threads\n\n${header(COLUMNS)}`,
    );
  for (const size of names) {
    for (const count of threads) {
      const result = await measure(size, sizes[size], { ...how, threads: count });
      results.push(result);
      if (!json) print(result);
    }
    const loading = { size, ...(await timeLoading(sizes[size], 3)) };
    loadings.push(loading);
    const megabytes = loading.fileBytes / 1e6;
    if (!json)
      console.log(
        `  loaded from float16 in ${ms(loading.minimum)} ms: ${megabytes.toFixed(0)} MB of file, ` +
          `${((1000 * megabytes) / loading.minimum).toFixed(0)} MB/s, ${(loading.memoryBytes / 1e6).toFixed(0)} MB of memory`,
      );
  }
  if (json) console.log(JSON.stringify({ runtime, results, loadings }, null, 2));
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n${USAGE}`);
  process.exitCode = 2;
}
