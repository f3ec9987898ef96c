// npm run test:browsers: the package's tests and the page's in all browsers, and one table of what came out.
// Arguments choose browsers: npm run test:browsers -- firefox webkit
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

/** What a file may take, so that one that hangs is named. */
const FILE_MS = 15 * 60_000;

/**
 * @param {string} browser
 * @param {string} file
 * @returns {string} what came out
 */
function run(browser, file) {
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...process.env, HEADWISE_BROWSER: browser };
  delete env.NODE_TEST_CONTEXT;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--test-reporter=tap', file], {
    encoding: 'utf8',
    env,
    maxBuffer: 2 ** 28,
    timeout: FILE_MS,
  });
  const count = (/** @type {string} */ what) =>
    Number(new RegExp(`^# ${what} (\\d+)`, 'm').exec(stdout)?.[1] ?? 0);
  const [passed, failed, skipped] = ['pass', 'fail', 'skipped'].map(count);
  if (status !== 0 || passed + skipped === 0) {
    console.error(stdout, stderr);
    process.exitCode = 1;
    return `${failed || 'all'} FAILED`;
  }
  return skipped > 0 ? `${passed} passed, ${skipped} skipped` : `${passed} passed`;
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
const rows = files.map((file) => [
  basename(file, '.test.js'),
  ...browsers.map((browser) => {
    const result = run(browser, file);
    console.error(`${engines[browser].name}, ${basename(file)}: ${result}`);
    return result;
  }),
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
