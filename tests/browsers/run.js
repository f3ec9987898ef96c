// npm run test:browsers: the package's tests and the page's in all browsers, and one table of what came out.
// Arguments choose browsers, and files whose name says so: npm run test:browsers -- firefox webkit explore-why
// With --by-turns a file of the page runs in one browser, in another one at the next commit: a third of the time, in which
// what breaks everywhere is seen at once, and what breaks in one browser within three commits. Of those that npm test runs in
// Chromium it is Firefox or WebKitGTK.
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../child.js';
import { inParallel, OF_PAGE, runFile } from '../files.js';
import { withPage } from '../page/browser.js';
import { engines } from './engines.js';
import { BrowserPool } from './pool.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const PAGE = join(HERE, '..', 'page');
const all = [
  join(HERE, 'suite.test.js'),
  ...readdirSync(PAGE)
    .filter((name) => name.endsWith('.test.js') && !name.endsWith('.slow.test.js'))
    .sort()
    .map((name) => join(PAGE, name)),
];

/** In seconds, what a file may take, so that one that hangs is named. */
const FILE_LIMIT = 15 * 60;

/** @param {string} file */
const nameOf = (file) => basename(file, '.test.js');

/** @typedef {{ browser: string, file: string }} Job */

const pool = new BrowserPool();

/** @param {Job} job in a browser that a file before it may have used */
async function runShared({ browser, file }) {
  const shared = await pool.take(browser);
  const env = { HEADWISE_BROWSER: browser, HEADWISE_BROWSER_AT: shared?.address };
  const outcome = await runFile(file, { seconds: FILE_LIMIT, env });
  // What a failed file has left in its browser must not meet the next.
  if (shared) await (outcome.problem ? pool.end(shared) : pool.giveBack(shared));
  return outcome;
}

/**
 * @param {Job} job
 * @returns {Promise<string | undefined>} what came out; undefined: it failed, and why is printed
 */
async function runJob(job) {
  const name = `${engines[job.browser].name}, ${basename(job.file)}`;
  /** @type {Partial<import('../files.js').Outcome>} */
  const outcome = await runShared(job).catch((error) => ({ problem: String(error) }));
  const { passed, skipped = 0, problem, output = '', seconds = 0 } = outcome;
  if (problem) {
    console.error(`${output}\n${name}: ${problem}`);
    return undefined;
  }
  const counts = skipped > 0 ? `${passed} passed, ${skipped} skipped` : `${passed} passed`;
  const result = `${counts} (${seconds.toFixed(0)} s)`;
  console.error(`${name}: ${result}`);
  return result;
}

/**
 * A file that failed beside others runs once more, alone: browsers that share two cores now and then drop a download or
 * an event. The table names it, so that what happens often is seen.
 *
 * @param {Job} job
 */
async function runAgain(job) {
  const result = await runJob(job);
  if (result === undefined) process.exitCode = 1;
  return result === undefined ? 'FAILED twice' : `${result}, at the second try`;
}

/** The browsers of a file with --by-turns: the package's tests run in all. @param {string} file @param {number} turn */
function browsersInTurn(file, turn) {
  const isTested = OF_PAGE.includes(nameOf(file));
  const possible = browsers.filter((browser) => !isTested || browser !== 'chromium');
  if (file === all[0] || possible.length === 0) return browsers;
  return [possible[(all.indexOf(file) + turn) % possible.length]];
}

/** How many commits there are. */
async function readTurn() {
  const options = { seconds: 30, cwd: HERE };
  const { stdout } = await run('git', 'git', ['rev-list', '--count', 'HEAD'], options);
  return Number(stdout);
}

const byTurns = process.argv.includes('--by-turns');
const args = process.argv.slice(2).filter((arg) => arg !== '--by-turns');
const isBrowser = (/** @type {string} */ arg) => arg in engines;
const parts = args.filter((arg) => !isBrowser(arg));
const unknown = parts.filter((part) => !all.some((file) => nameOf(file).includes(part)));
if (unknown.length > 0) {
  const expected = `${Object.keys(engines).join(', ')}, or parts of files' names`;
  console.error(`${unknown.join(', ')}: unknown; expected ${expected}`);
  process.exit(1);
}
const browsers = Object.keys(engines).filter(
  (name) => args.includes(name) || !args.some(isBrowser),
);
const files = all.filter(
  (file) => parts.length === 0 || parts.some((part) => nameOf(file).includes(part)),
);
const turn = byTurns ? await readTurn() : 0;
const jobs = files.flatMap((file) =>
  (byTurns ? browsersInTurn(file, turn) : browsers).map((browser) => ({ browser, file })),
);
const results = await withPage(async () => {
  const first = await inParallel(jobs, runJob);
  const second = [];
  for (const [i, result] of first.entries()) second.push(result ?? (await runAgain(jobs[i])));
  return second;
}).finally(() => pool.close());
const resultOf = (/** @type {string} */ file, /** @type {string} */ browser) =>
  results[jobs.findIndex((job) => job.file === file && job.browser === browser)] ??
  (browser === 'chromium' && OF_PAGE.includes(nameOf(file)) ? 'in npm test' : 'not its turn');
const rows = files.map((file) => [
  nameOf(file),
  ...browsers.map((browser) => resultOf(file, browser)),
]);
const table = [['', ...browsers.map((browser) => engines[browser].name)], ...rows];
const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
for (const row of table)
  console.log(
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  );
