// npm run bench: validates and times every shape of web/page/bench/shapes.json, in Node or in a browser.
import { benchHeader, benchLine } from './table.js';
import { runInChromium } from './in-chromium.js';
import { runInNode } from './in-node.js';
import { runScript } from '../../web/build/command-line.js';
import { readOptions, USAGE } from './options.js';

/** @typedef {import('../../web/page/bench/bench.js').Result} Result */

/** @param {readonly string[]} args */
async function main(args) {
  const options = await readOptions(args);
  const { json, browser } = options;
  const run = await (browser ? runInChromium(options) : runInNode(options));
  const { runtime, notes } = run;
  if (!json) {
    console.log(`${runtime}; the ceiling is this machine's, of the same run, times the threads`);
    notes.forEach((note) => console.log(note));
    console.log(`\n${benchHeader()}`);
  }
  /** @type {Result[]} */
  const results = [];
  try {
    for await (const result of run.results) {
      results.push(result);
      if (!json) console.log(benchLine(result));
    }
  } finally {
    await run.close();
  }
  if (json) console.log(JSON.stringify({ runtime, notes, results }, null, 2));
  // A run without a single case is no success.
  if (results.length === 0 || results.some(({ problem }) => problem !== undefined))
    process.exitCode = 1;
}

await runScript(main, USAGE);
