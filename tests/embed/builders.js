// How each tool makes a site of app/. Each takes the folder to build into, and what is special about the tool stands here
// as README.md tells it.
import assert from 'node:assert/strict';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run as runChild } from '../child.js';

export const HERE = fileURLToPath(new URL('.', import.meta.url));
const APP = join(HERE, 'app');
export const PACKAGE = join(HERE, 'node_modules', 'headwise', 'web', 'headwise');

/**
 * Of this folder's own packages, which the project does not know.
 * @param {string} name
 * @returns {Promise<any>}
 */
export const tool = (name) => import(name);

/** @param {string} out @param {(html: string) => string} [change] */
async function writePage(out, change = (html) => html) {
  const html = await readFile(join(APP, 'index.html'), 'utf8');
  await writeFile(join(out, 'index.html'), change(html));
}

/** Those that leave `new URL('…', import.meta.url)` as it is: what it names is put beside the bundle. */
const BESIDE = {
  main: join(APP, 'main.js'),
  'own-worker': join(APP, 'own-worker.js'),
  host: 'headwise/host.js',
  'worker-thread': 'headwise/worker-thread.js',
};

/** @type {(out: string) => Promise<void>} */
const copyModules = (out) => cp(join(PACKAGE, 'wasm'), join(out, 'wasm'), { recursive: true });

/** @param {string} out */
async function vite(out) {
  const { build } = await tool('vite');
  await build({
    configFile: false,
    root: APP,
    base: './',
    logLevel: 'warn',
    build: { outDir: out, emptyOutDir: true },
  });
}

/** @param {string} out */
async function webpack(out) {
  const { default: run } = await tool('webpack');
  const compiler = run({
    mode: 'production',
    context: APP,
    entry: './main.js',
    output: { path: out, filename: 'main.js', publicPath: 'auto' },
  });
  /** @type {any} */
  const stats = await new Promise((resolve, reject) =>
    compiler.run((/** @type {unknown} */ error, /** @type {unknown} */ result) =>
      error ? reject(error) : resolve(result),
    ),
  );
  const problems = stats.compilation.errors.concat(
    stats.compilation.warnings.filter(
      (/** @type {any} */ { name }) => !/Size|Performance|NoAsyncChunks|LargeChunk/.test(name),
    ),
  );
  if (problems.length > 0) throw new Error(problems.join('\n'));
  await writePage(out, (html) => html.replace(' type="module"', ' defer'));
}

/** @param {string} out */
async function rollup(out) {
  const { rollup: run } = await tool('rollup');
  const { nodeResolve } = await tool('@rollup/plugin-node-resolve');
  /** @type {string[]} */
  const warnings = [];
  const bundle = await run({
    input: BESIDE,
    plugins: [nodeResolve({ rootDir: HERE })],
    preserveEntrySignatures: false,
    onwarn: (/** @type {Error} */ { message }) => void warnings.push(message),
  });
  await bundle.write({ dir: out, entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' });
  if (warnings.length > 0) throw new Error(warnings.join('\n'));
  await copyModules(out);
  await writePage(out);
}

/** @param {string} out */
async function esbuild(out) {
  const { build } = await tool('esbuild');
  const { warnings } = await build({
    entryPoints: BESIDE,
    absWorkingDir: HERE,
    bundle: true,
    format: 'esm',
    splitting: true,
    minify: true,
    outdir: out,
    logLevel: 'silent',
  });
  if (warnings.length > 0)
    throw new Error(warnings.map((/** @type {any} */ { text }) => text).join('\n'));
  await copyModules(out);
  await writePage(out);
}

/** @param {string} out */
async function parcel(out) {
  const { Parcel } = await tool('@parcel/core');
  await new Parcel({
    entries: join(APP, 'index.html'),
    defaultConfig: '@parcel/config-default',
    mode: 'production',
    shouldDisableCache: true,
    shouldAutoInstall: false,
    cacheDir: join(out, '..', 'parcel-cache'),
    defaultTargetOptions: { distDir: out, publicUrl: './', sourceMaps: false },
    env: { PARCEL_WORKER_BACKEND: 'thread' },
  }).run();
}

/** @param {string} out */
async function next(out) {
  const site = join(HERE, 'next');
  const args = [join(HERE, 'node_modules/next/dist/bin/next'), 'build'];
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', CI: 'true' };
  const options = { cwd: site, env, seconds: 300 };
  const { status, stdout, stderr } = await runChild('next build', process.execPath, args, options);
  if (status !== 0) throw new Error(stdout + stderr);
  await cp(join(site, 'out'), out, { recursive: true });
  const rendered = await readFile(join(out, 'index.html'), 'utf8');
  assert.match(rendered, /data-server="function function 0\.5"/, 'an engine ran on the server');
  await rm(join(site, 'out'), { recursive: true });
  await rm(join(site, '.next'), { recursive: true });
}

/** No tool: the files as they are, names of packages replaced by addresses. @param {string} out */
async function plain(out) {
  await cp(PACKAGE, join(out, 'lib', 'headwise'), { recursive: true });
  await writePage(out);
  for (const name of (await readdir(APP)).filter((file) => file.endsWith('.js'))) {
    const text = await readFile(join(APP, name), 'utf8');
    const addressed = text.replace(
      /'headwise(?:\/(\w+))?'/g,
      (_, entry = 'index') => `'./lib/headwise/${entry}.js'`,
    );
    await writeFile(join(out, name), addressed);
  }
}

/** @type {Record<string, (out: string) => Promise<void>>} */
const TOOLS = { next, parcel, webpack, rollup, plain, esbuild, vite };

/** Those that build a site, the slowest first. */
export const BUILDERS = Object.keys(TOOLS);

/**
 * @param {string} name
 * @param {string} out empty afterwards but for the site
 */
export async function buildSite(name, out) {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  await TOOLS[name](out);
}
