// The benchmark in this Node.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bench } from '../../web/page/bench/bench.js';
import { compileCeilings } from '../../web/page/bench/ceiling.js';
import { run } from '../child.js';
import { UsageError } from '../../web/build/command-line.js';

const NO_RELAXED =
  `This Node (${process.version}) cannot run the relaxed module: that needs Node >= 22, ` +
  'or node --experimental-wasm-relaxed-simd tests/bench/run.js.';

/** @param {import('../../web/page/bench/bench.js').Simd} simd */
const readCeiling = (simd) =>
  readFile(new URL(`../../web/page/bench/wasm/ceiling-${simd}.wasm`, import.meta.url));

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The package as it was at a commit.
 * @param {string} commit
 * @param {string} folder to put it into
 * @returns {Promise<import('../../web/page/bench/bench.js').Package>}
 */
async function packageAt(commit, folder) {
  const archive = join(folder, 'package.tar');
  const wanted = ['archive', '--output', archive, commit, 'package.json', 'web/headwise'];
  const { status, stderr } = await run('git archive', 'git', wanted, { cwd: ROOT });
  if (status !== 0) throw new UsageError(`--against is ${commit}: ${stderr.trim()}`);
  await run('tar', 'tar', ['-xf', archive, '-C', folder]);
  return import(pathToFileURL(join(folder, 'web', 'headwise', 'index.js')).href);
}

/** @param {import('./options.js').Options} options */
export async function runInNode({ simds, against, ...options }) {
  const { ceilings, missing } = await compileCeilings(simds, readCeiling);
  const notes = missing.map(() => NO_RELAXED);
  const folder = await mkdtemp(join(tmpdir(), 'headwise-before-'));
  const close = () => rm(folder, { recursive: true, force: true });
  try {
    const before = against === undefined ? undefined : await packageAt(against, folder);
    if (before) notes.push(`Against: how many times as fast as ${against}, by turns in this run.`);
    const results = bench({ ...options, ceilings, before });
    return { runtime: `Node ${process.version}`, notes, results, close };
  } catch (error) {
    await close();
    throw error;
  }
}
