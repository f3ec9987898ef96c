// Where import.meta.url is undefined, the package runs with a module that is given, and says so where it is not.
import assert from 'node:assert/strict';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { run, runNode } from '../child.js';
import { HERE, PACKAGE, tool } from './builders.js';
import { checkOutput } from './in-chromium.js';

const APP = join(HERE, 'no-address');
const NAME = 'headwise-simd128.wasm';

/**
 * @param {string} out
 * @param {string} entry
 * @param {object} options of esbuild
 */
async function build(out, entry, options) {
  await mkdir(out, { recursive: true });
  await cp(join(PACKAGE, 'wasm', NAME), join(out, NAME));
  const { build: bundle } = await tool('esbuild');
  const own = { entryPoints: [join(APP, entry)], absWorkingDir: HERE, bundle: true };
  await bundle({ ...own, outdir: out, entryNames: 'main', logLevel: 'error', ...options });
}

/** @param {import('../child.js').Ended} ended what the app has printed */
function results({ status, stdout, stderr }) {
  assert.equal(status, 0, stdout + stderr);
  const { given, own, ...rest } = JSON.parse(stdout);
  checkOutput(given.output);
  assert.equal(given.threads, 1);
  assert.match(own.error, /^HeadwiseError ERR_LOAD: .*no import\.meta\.url.*load\(\{ wasm \}\)/);
  return rest;
}

/** A CommonJS bundle of esbuild, in Node. @param {string} out */
export async function tryCommonJs(out) {
  await build(out, 'in-node.js', { format: 'cjs', platform: 'node' });
  const { inline, worker } = results(await runNode('a CommonJS bundle', ['main.js'], { cwd: out }));
  checkOutput(inline.output);
  assert.match(worker.error, /^HeadwiseError ERR_LOAD: .*Worker.*no import\.meta\.url/);
}

/** Cloudflare's runtime, which compiles modules beforehand. @param {string} out */
export async function tryWorkerd(out) {
  await build(out, 'in-workerd.js', { format: 'esm', external: ['*.wasm'] });
  await cp(join(APP, 'config.capnp'), join(out, 'config.capnp'));
  const workerd = join(HERE, 'node_modules/@cloudflare/workerd-linux-64/bin/workerd');
  const { inline, worker } = results(
    await run('workerd', workerd, ['test', 'config.capnp'], { cwd: out }),
  );
  assert.match(inline.error, /^HeadwiseError ERR_LOAD: .*load\(\{ wasm \}\).*compiles none itself/);
  assert.match(worker.error, /^HeadwiseError ERR_LOAD: .*this runtime has no Worker/);
}
