// npm run test:embed: packs the package, embeds the tarball with every bundler, and runs what they make in Chromium, with
// a strict policy, with and without cross-origin isolation; and under every version of Node.
//   npm run test:embed -- vite node    only these
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBrowser, ISOLATION, launch, serve } from '../browser.js';
import { buildSite, BUILDERS, HERE } from './builders.js';
import { checkOutput, checkSite } from './in-chromium.js';
import { viteDev } from './vite-dev.js';

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
function run(command, args, cwd = ROOT) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error ?? stdout + stderr}`);
  return stdout;
}

/** The bundlers, if they are not those of the lock file, and the package as npm packs it. */
async function install() {
  const lock = await readFile(join(HERE, 'package-lock.json'), 'utf8');
  const mark = join(HERE, 'node_modules', '.headwise-lock');
  if ((await readFile(mark, 'utf8').catch(() => '')) !== lock) {
    console.log('Installing the bundlers into tests/embed/node_modules (npm ci) …');
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], HERE);
    await writeFile(mark, lock);
  }
  await rm(BUILD, { recursive: true, force: true });
  await mkdir(BUILD);
  const [{ filename, size, unpackedSize, entryCount }] = JSON.parse(
    run('npm', ['pack', '--json', '--pack-destination', BUILD]),
  );
  run('tar', ['-xzf', join(BUILD, filename), '-C', BUILD]);
  const place = join(HERE, 'node_modules', 'headwise');
  await rm(place, { recursive: true, force: true });
  await cp(join(BUILD, 'package'), place, { recursive: true });
  console.log(`${filename}: ${size} bytes, ${entryCount} files of ${unpackedSize} bytes\n`);
}

/** @type {Row[]} */
const rows = [];

/**
 * @param {string} name
 * @param {string} how
 * @param {() => Promise<void>} body
 */
async function attempt(name, how, body) {
  /** @type {Row} */
  const row = { name, how };
  const start = Date.now();
  try {
    await body();
  } catch (error) {
    row.problem = error instanceof Error ? error.message : String(error);
  }
  rows.push(row);
  const seconds = ((Date.now() - start) / 1000).toFixed(1);
  console.log(`${name.padEnd(10)} ${how.padEnd(22)} ${row.problem ?? 'ok'} (${seconds} s)`);
}

/**
 * @param {import('puppeteer-core').Browser} browser
 * @param {string} name
 */
async function trySite(browser, name) {
  const root = join(BUILD, name);
  // A site in a folder: addresses must be relative.
  const inFolder = name === 'next' ? '' : 'any/folder/';
  await attempt(name, 'build', () => buildSite(name, join(root, inFolder)));
  if (rows[rows.length - 1].problem) return;
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

/** @param {import('puppeteer-core').Browser} browser */
async function tryViteDev(browser) {
  for (const isolated of [false, true]) {
    await attempt('vite dev', isolated ? 'runs, isolated' : 'runs', async () => {
      const policy = { 'content-security-policy': POLICIES.viteDev };
      const server = await viteDev({ ...policy, ...(isolated ? ISOLATION : {}) });
      try {
        await checkSite(browser, server.url, isolated);
      } finally {
        await server.close();
      }
    });
  }
}

/**
 * @param {string} name
 * @param {string} node
 */
const tryNode = (name, node) =>
  attempt(name, run(node, ['--version']).trim(), async () => {
    const results = JSON.parse(run(node, [join(HERE, 'in-node.js')]));
    for (const [entry, { output, threads }] of Object.entries(results)) {
      checkOutput(output);
      assert.equal(threads, ['threads', 'worker'].includes(entry) ? 2 : 1, `threads of ${entry}`);
    }
  });

const wanted = process.argv.slice(2);
const isWanted = (/** @type {string} */ name) => wanted.length === 0 || wanted.includes(name);
const executable = findBrowser();
assert.ok(executable, 'Chromium is needed (apt install chromium, or CHROMIUM_PATH)');
await install();
if (isWanted('types')) {
  await attempt('TypeScript', 'strict', async () => {
    run(process.execPath, ['node_modules/@typescript/native/bin/tsc', '-p', join(HERE, 'types')]);
  });
}
if (isWanted('node')) {
  await tryNode('node', process.execPath);
  for (const name of NODES) {
    await tryNode(name, join(HERE, 'node_modules', name, 'bin', 'node'));
  }
}
const browser = await launch(executable);
try {
  for (const name of BUILDERS.filter(isWanted)) await trySite(browser, name);
  if (isWanted('vite-dev')) await tryViteDev(browser);
} finally {
  await browser.close();
}
const failed = rows.filter(({ problem }) => problem !== undefined);
console.log(`\n${rows.length - failed.length} of ${rows.length} passed`);
if (rows.length === 0 || failed.length > 0) process.exitCode = 1;
