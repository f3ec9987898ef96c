// npm run test:embed: packs the package, embeds the tarball with every bundler, and runs what they make in Chromium, with
// a strict policy, with and without cross-origin isolation; and under every version of Node, whose machine code is looked
// at too.
//   npm run test:embed -- vite node    only these
import assert from 'node:assert/strict';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBrowser, ISOLATION, launch, serve } from '../browser.js';
import * as child from '../child.js';
import { inParallel } from '../files.js';
import { buildSite, BUILDERS, HERE } from './builders.js';
import { checkHint, checkOutput, checkSite } from './in-chromium.js';
import { tryCommonJs, tryWorkerd } from './no-address.js';
import { BUILT_DEPS, VITES, viteDev } from './vite-dev.js';

const ROOT = join(HERE, '..', '..');
const BUILD = join(HERE, 'build');
const STRICT = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' data:";
const INLINE = STRICT.replace("script-src 'self'", "script-src 'self' 'unsafe-inline'");
/** What some tools need for themselves: scripts that they write into pages, news that Vite's server sends. */
const POLICIES = {
  next: INLINE,
  parcel: INLINE,
  viteDev: `${STRICT}; connect-src 'self' ws:; style-src 'self' 'unsafe-inline'`,
};
/** Node's versions besides this one. */
const NODES = ['node-22', 'node-24', 'node-26'];

/** @typedef {{ name: string, how: string, problem?: string }} Row */

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} [cwd]
 */
async function run(command, args, cwd = ROOT) {
  const name = `${command} ${args.join(' ')}`;
  const { status, stdout, stderr } = await child.run(name, command, args, { cwd, seconds: 600 });
  if (status !== 0) throw new Error(`${name}: ${stdout}${stderr}`);
  return stdout;
}

/** The bundlers, if they are not those of the lock file, and the package as npm packs it. */
async function install() {
  const lock = await readFile(join(HERE, 'package-lock.json'), 'utf8');
  const mark = join(HERE, 'node_modules', '.headwise-lock');
  if ((await readFile(mark, 'utf8').catch(() => '')) !== lock) {
    console.log('Installing the bundlers into tests/embed/node_modules (npm ci) …');
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], HERE);
    await writeFile(mark, lock);
  }
  await rm(BUILD, { recursive: true, force: true });
  await mkdir(BUILD);
  const [{ filename, size, unpackedSize, entryCount }] = JSON.parse(
    await run('npm', ['pack', '--json', '--pack-destination', BUILD]),
  );
  await run('tar', ['-xzf', join(BUILD, filename), '-C', BUILD]);
  const place = join(HERE, 'node_modules', 'headwise');
  await rm(place, { recursive: true, force: true });
  await cp(join(BUILD, 'package'), place, { recursive: true });
  console.log(`${filename}: ${size} bytes, ${entryCount} files of ${unpackedSize} bytes\n`);
}

/** In seconds, what a build or a visit may take. */
const LIMIT = 300;

/**
 * @param {string} name
 * @param {Promise<void>} work
 */
async function limited(name, work) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((_, reject) => {
    const error = new Error(`${name} did not end within ${LIMIT} s`);
    timer = setTimeout(() => reject(error), LIMIT * 1000);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** @type {Row[]} */
const rows = [];

/**
 * @param {string} name
 * @param {string} how
 * @param {() => Promise<void>} body
 * @returns {Promise<boolean>} whether it passed
 */
async function attempt(name, how, body) {
  /** @type {Row} */
  const row = { name, how };
  const start = Date.now();
  try {
    await limited(name, body());
  } catch (error) {
    row.problem = error instanceof Error ? error.message : String(error);
  }
  rows.push(row);
  const seconds = ((Date.now() - start) / 1000).toFixed(1);
  console.log(`${name.padEnd(10)} ${how.padEnd(22)} ${row.problem ?? 'ok'} (${seconds} s)`);
  return row.problem === undefined;
}

/**
 * @param {import('puppeteer-core').Browser} browser
 * @param {string} name
 */
async function trySite(browser, name) {
  const root = join(BUILD, name);
  // A site in a folder: addresses must be relative.
  const inFolder = name === 'next' ? '' : 'any/folder/';
  if (!(await attempt(name, 'build', () => buildSite(name, join(root, inFolder))))) return;
  const policy = POLICIES[/** @type {'next'} */ (name)] ?? STRICT;
  for (const isolated of [false, true]) {
    await attempt(name, isolated ? 'runs, isolated' : 'runs', async () => {
      const headers = { 'content-security-policy': policy, ...(isolated ? ISOLATION : {}) };
      const server = await serve(root, { headersOf: () => headers });
      try {
        await checkSite(browser, server.url + inFolder, isolated);
      } finally {
        server.close();
      }
    });
  }
}

/**
 * One version of Vite's dev server.
 * @param {import('puppeteer-core').Browser} browser
 * @param {string} vite
 */
async function tryViteDev(browser, vite) {
  const policy = { 'content-security-policy': POLICIES.viteDev };
  const isBuilt = BUILT_DEPS.includes(vite);
  const exclude = isBuilt ? ['headwise'] : [];
  for (const isolated of isBuilt ? [true] : [false, true]) {
    await attempt(`${vite} dev`, isolated ? 'runs, isolated' : 'runs', async () => {
      const server = await viteDev(vite, { ...policy, ...(isolated ? ISOLATION : {}) }, exclude);
      try {
        await checkSite(browser, server.url, isolated);
      } finally {
        await server.close();
      }
    });
  }
  if (!isBuilt) return;
  await attempt(`${vite} dev`, 'says what it needs', async () => {
    const server = await viteDev(vite, policy, []);
    try {
      await checkHint(browser, server.url);
    } finally {
      await server.close();
    }
  });
}

/**
 * @param {string} name
 * @param {string} node
 */
const tryNode = async (name, node) =>
  attempt(name, (await run(node, ['--version'])).trim(), async () => {
    const results = JSON.parse(await run(node, [...child.NODE_FLAGS, join(HERE, 'in-node.js')]));
    for (const [entry, { output, threads }] of Object.entries(results)) {
      checkOutput(output);
      assert.equal(threads, ['threads', 'worker'].includes(entry) ? 2 : 1, `threads of ${entry}`);
    }
  });

/**
 * Each V8 orders instructions in its own way: a loop that keeps its vectors in registers in one may spill in another.
 * @param {string} name
 * @param {string} node
 */
const tryMachineCode = async (name, node) =>
  attempt(name, 'machine code', async () => {
    await run(node, [...child.NODE_FLAGS, join(ROOT, 'tests', 'spills.js')]);
  });

const wanted = process.argv.slice(2);
const parts = ['types', 'node', 'cjs', 'workerd', ...BUILDERS, 'vite-dev'];
const unknown = wanted.filter((name) => !parts.includes(name));
if (unknown.length > 0) {
  console.error(`${unknown.join(', ')}: unknown; expected some of ${parts.join(', ')}`);
  process.exit(2);
}
const isWanted = (/** @type {string} */ name) => wanted.length === 0 || wanted.includes(name);
const executable = findBrowser();
assert.ok(executable, 'Chromium is needed (apt install chromium, or CHROMIUM_PATH)');
await install();
if (isWanted('types')) {
  await attempt('TypeScript', 'strict', async () => {
    await run(process.execPath, [
      ...child.NODE_FLAGS,
      'node_modules/@typescript/native/bin/tsc',
      '-p',
      join(HERE, 'types'),
    ]);
  });
}
if (isWanted('node')) {
  await tryNode('node', process.execPath);
  for (const name of NODES) {
    const node = join(HERE, 'node_modules', name, 'bin', 'node');
    await tryNode(name, node);
    await tryMachineCode(name, node);
  }
}
if (isWanted('cjs')) await attempt('esbuild', 'cjs', () => tryCommonJs(join(BUILD, 'cjs')));
if (isWanted('workerd')) await attempt('workerd', 'runs', () => tryWorkerd(join(BUILD, 'workerd')));
const browser = await launch(executable);
try {
  await inParallel(BUILDERS.filter(isWanted), (name) => trySite(browser, name));
  if (isWanted('vite-dev')) await inParallel(VITES, (vite) => tryViteDev(browser, vite));
} finally {
  await browser.close();
}
const failed = rows.filter(({ problem }) => problem !== undefined);
console.log(`\n${rows.length - failed.length} of ${rows.length} passed`);
// A build that was given up may go on.
process.exit(rows.length === 0 || failed.length > 0 ? 1 : 0);
