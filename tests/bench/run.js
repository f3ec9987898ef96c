// npm run bench: validates and times every shape of web/page/bench/shapes.json, in Node or in a browser.
import { benchHeader, benchLine } from './table.js';
import { runInNode } from './in-node.js';
import { readOptions, USAGE, UsageError } from './options.js';

/** @typedef {import('../../web/page/bench/bench.js').Result} Result */

/** @param {readonly string[]} args */
async function main(args) {
  const options = await readOptions(args);
  const { runtime, notes, results } = await runInNode(options);
  if (!options.json) {
    console.log(`${runtime}; ceiling: this machine's, of the same run, times the threads`);
    notes.forEach((note) => console.log(note));
    console.log(`\n${benchHeader()}`);
  }
  /** @type {Result[]} */
  const all = [];
  for await (const result of results) {
    all.push(result);
    if (!options.json) console.log(benchLine(result));
  }
  if (options.json) console.log(JSON.stringify({ runtime, notes, results: all }, null, 2));
  if (all.some(({ problem }) => problem !== undefined)) process.exitCode = 1;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n${USAGE}`);
  process.exitCode = 2;
}
