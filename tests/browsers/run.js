// npm run test:browsers: the package's tests and the page's in all browsers, and one table of what came out.
// Arguments choose browsers: npm run test:browsers -- firefox webkit
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inParallel, runFile } from '../files.js';
import { withPage } from '../page/browser.js';
import { engines } from './engines.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const PAGE = join(HERE, '..', 'page');
const files = [
  join(HERE, 'suite.test.js'),
  ...readdirSync(PAGE)
    .filter((name) => name.endsWith('.test.js'))
    .sort()
    .map((name) => join(PAGE, name)),
];

/** In seconds, what a file may take, so that one that hangs is named. */
const FILE_LIMIT = 15 * 60;

/**
 * @param {string} browser
 * @param {string} file
 * @returns {Promise<string>} what came out
 */
async function run(browser, file) {
  const env = { HEADWISE_BROWSER: browser };
  const outcome = await runFile(file, { seconds: FILE_LIMIT, env });
  const { passed, skipped, problem, output, seconds } = outcome;
  if (problem) {
    console.error(`${output}\n${engines[browser].name}, ${basename(file)}: ${problem}`);
    process.exitCode = 1;
    return 'FAILED';
  }
  const counts = skipped > 0 ? `${passed} passed, ${skipped} skipped` : `${passed} passed`;
  return `${counts} (${seconds.toFixed(0)} s)`;
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in engines));
if (unknown.length > 0) {
  console.error(`${unknown.join(', ')}: unknown; expected ${Object.keys(engines).join(', ')}`);
  process.exit(1);
}
const browsers = Object.keys(engines).filter(
  (name) => wanted.length === 0 || wanted.includes(name),
);
const jobs = files.flatMap((file) => browsers.map((browser) => ({ browser, file })));
const results = await withPage(() =>
  inParallel(jobs, async ({ browser, file }) => {
    const result = await run(browser, file);
    console.error(`${engines[browser].name}, ${basename(file)}: ${result}`);
    return result;
  }),
);
const rows = files.map((file, i) => [
  basename(file, '.test.js'),
  ...results.slice(i * browsers.length, (i + 1) * browsers.length),
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
