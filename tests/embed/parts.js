// What the package is embedded in: each part builds something of the packed package, runs it, and prints a line for each
// thing that it tried. run.js packs the package, and runs each part in a process of its own.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { findBrowser, ISOLATION, serve } from '../browser.js';
import { enter } from '../browsers/engines.js';
import * as child from '../child.js';
import { buildSite, BUILDERS, HERE } from './builders.js';
import { checkHint, checkOutput, checkSite } from './in-chromium.js';
import { tryCommonJs, tryWorkerd } from './no-address.js';
import { BUILT_DEPS, VITES, viteDev } from './vite-dev.js';

/** @import { Browser } from 'puppeteer-core' */

export const ROOT = join(HERE, '..', '..');
export const BUILD = join(HERE, 'build');
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

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} [cwd]
 */
export async function run(command, args, cwd = ROOT) {
  const name = `${command} ${args.join(' ')}`;
  const { status, stdout, stderr } = await child.run(name, command, args, { cwd, seconds: 600 });
  if (status !== 0) throw new Error(`${name}: ${stdout}${stderr}`);
  return stdout;
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

let attempts = 0;
let failures = 0;

/**
 * @param {string} name
 * @param {string} how
 * @param {() => Promise<void>} body
 * @returns {Promise<boolean>} whether it passed
 */
async function attempt(name, how, body) {
  attempts++;
  const start = Date.now();
  const problem = await limited(name, body()).then(
    () => undefined,
    (error) => (error instanceof Error ? error.message : String(error)),
  );
  failures += problem === undefined ? 0 : 1;
  const seconds = ((Date.now() - start) / 1000).toFixed(1);
  console.log(`${name.padEnd(10)} ${how.padEnd(22)} ${problem ?? 'ok'} (${seconds} s)`);
  return problem === undefined;
}

/**
 * @param {Browser} browser
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
 * @param {Browser} browser
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

/** @param {(browser: Browser) => Promise<void>} body */
async function inBrowser(body) {
  const executable = findBrowser();
  assert.ok(executable, 'Chromium is needed (apt install chromium, or CHROMIUM_PATH)');
  const { browser, leave } = await enter(executable);
  try {
    await body(browser);
  } finally {
    await leave();
  }
}

/** @param {string} name @param {string} node */
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
 */
async function tryOtherNode(name) {
  const node = join(HERE, 'node_modules', name, 'bin', 'node');
  await tryNode(name, node);
  await attempt(name, 'machine code', async () => {
    await run(node, [...child.NODE_FLAGS, join(ROOT, 'tests', 'spills.js')]);
  });
}

async function tryTypes() {
  const compiler = 'node_modules/@typescript/native/bin/tsc';
  await run(process.execPath, [...child.NODE_FLAGS, compiler, '-p', join(HERE, 'types')]);
}

/**
 * Works by itself, or visits what it builds.
 * @typedef {{ group: string, name: string, work?: () => Promise<unknown>, visit?: (browser: Browser) => Promise<void> }} Part
 */

/** @type {Part[]} */
const SITES = BUILDERS.map((name) => ({
  group: name,
  name,
  visit: (browser) => trySite(browser, name),
}));

/** @type {Part[]} */
const DEV_SERVERS = VITES.map((vite) => ({
  group: 'vite-dev',
  name: `${vite} dev`,
  visit: (browser) => tryViteDev(browser, vite),
}));

/** @type {Part[]} */
const OTHER_NODES = NODES.map((name) => ({
  group: 'node',
  name,
  work: () => tryOtherNode(name),
}));

/** Those that take longest first: none of them is to be left alone at the end. @type {Part[]} */
export const PARTS = [
  ...SITES,
  ...DEV_SERVERS,
  ...OTHER_NODES,
  { group: 'node', name: 'node', work: () => tryNode('node', process.execPath) },
  { group: 'types', name: 'types', work: () => attempt('TypeScript', 'strict', tryTypes) },
  {
    group: 'cjs',
    name: 'cjs',
    work: () => attempt('esbuild', 'cjs', () => tryCommonJs(join(BUILD, 'cjs'))),
  },
  {
    group: 'workerd',
    name: 'workerd',
    work: () => attempt('workerd', 'runs', () => tryWorkerd(join(BUILD, 'workerd'))),
  },
];

/** @param {string} name @returns {Promise<boolean>} whether all of it passed */
export async function runPart(name) {
  const { work, visit } = PARTS.find((part) => part.name === name) ?? {};
  await (visit ? inBrowser(visit) : work?.());
  return attempts > 0 && failures === 0;
}
