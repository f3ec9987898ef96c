// npm test: test files, each in a process of its own, as many at a time as there are cores.
//   npm test                 what a newcomer waits for: all but the following
//   npm run test:slow        tests/**/*.slow.test.js
//   npm test -- page random  every file whose path says so, with all that it prints
// npm run test:browsers runs the page's tests and those of tests/browsers; here a few stand for them.
import { readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inParallel, OF_PAGE, runFile } from './files.js';
import { withPage } from './page/browser.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** In seconds, what one file may take; it is ended and named when it takes longer. */
const FILE_LIMIT = { quick: 300, browsers: 900, slow: 900 };

/** @param {string} path @returns {'slow' | 'quick' | 'browsers'} */
function kindOf(path) {
  if (path.endsWith('.slow.test.js')) return 'slow';
  const [, folder, file] = path.split(sep);
  if (folder !== 'page' && folder !== 'browsers') return 'quick';
  return folder === 'page' && OF_PAGE.includes(file.replace('.test.js', '')) ? 'quick' : 'browsers';
}

/** @param {readonly string[]} args @returns {string[]} paths, those first that take long */
function chosen(args) {
  const wanted = args.filter((arg) => !arg.startsWith('-'));
  const kind = args.includes('--slow') ? 'slow' : 'quick';
  const paths = readdirSync(join(ROOT, 'tests'), { recursive: true })
    .map((name) => join('tests', String(name)))
    .filter((path) => path.endsWith('.test.js') && !path.includes('node_modules'))
    .filter((path) =>
      wanted.length > 0 ? wanted.some((part) => path.includes(part)) : kindOf(path) === kind,
    );
  return paths.sort((a, b) => rankOf(a) - rankOf(b));
}

/** Of those without a browser that take longest: at the end one core would wait for them. */
const LONG = ['memory-4gib', 'hostile', 'open-model', 'bench.test', 'threads'];

/** @param {string} path when it begins; those of the page are first */
function rankOf(path) {
  const rank = LONG.findIndex((part) => path.includes(part));
  return isOfPage(path) ? -1 : rank < 0 ? LONG.length : rank;
}

/** @param {string} path */
const isOfPage = (path) => path.startsWith(join('tests', 'page') + sep);

const args = process.argv.slice(2);
if (args.includes('--help')) {
  console.log(
    'usage: npm test [-- PART…] [Node’s options for tests]; PART: of the path of a test file',
  );
  process.exit();
}
const paths = chosen(args);
const flags = args.filter((arg) => arg.startsWith('-') && arg !== '--slow');
const isShown = args.some((arg) => !arg.startsWith('-'));
/** @type {string[]} */
const problems = [];
let sum = 0;

/** @param {string} path */
async function runOne(path) {
  const outcome = await runFile(path, { seconds: FILE_LIMIT[kindOf(path)], flags });
  const { problem, output, passed, skipped, seconds } = outcome;
  sum += passed;
  if (problem) problems.push(`${path}: ${problem}`);
  if (problem || isShown) console.log(output);
  const counts = `${passed} passed${skipped ? `, ${skipped} SKIPPED` : ''}`;
  console.log(`${seconds.toFixed(1).padStart(6)} s  ${path}: ${problem || counts}`);
}

const all = () => inParallel(paths, runOne);
await (paths.some(isOfPage) ? withPage(all) : all());
const seconds = performance.now() / 1000;
console.log(`\n${sum} tests of ${paths.length} files passed in ${seconds.toFixed(0)} s`);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
if (paths.length === 0) {
  // A run without tests is no success.
  console.error('No test file matches.');
  process.exitCode = 1;
}
