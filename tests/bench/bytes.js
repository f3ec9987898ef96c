// npm run bytes: what of a page's bytes is for training, and where the bytes of JavaScript lie. Builds a module with names,
// as npm run build does. Shares of the bytes are taken for shares of the gzipped bytes.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, runScript } from '../../web/build/command-line.js';
import { bundle, firstChunks, gzipped } from '../bundle.js';
import { runNode } from '../child.js';
import { functionsOf } from '../wasm-sections.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MODULE = join('web', 'headwise', 'wasm', 'headwise-simd128.wasm');
const BUILD_SECONDS = 600;

/** What only training calls, by the words in its name: a function that was inlined counts where it went. */
const TRAINING =
  /backward|gradient|recorded|graph|optimizer|adamw|sgd|moment|dropped|hw_drop|update|transposed_product|column_(sums|strips|products)|cross_entropy|model_loss|predict_rows|add_whole_tile|add_four_rows/;

/** @param {number} share */
const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** @param {number} bytes */
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`.padStart(8);

async function trainingOfModule() {
  const folder = mkdtempSync(join(tmpdir(), 'headwise-bytes-'));
  try {
    const build = join(ROOT, 'web/build/build-wasm.js');
    const { status, stderr } = await runNode('npm run build', [build, '--names', folder], {
      seconds: BUILD_SECONDS,
    });
    if (status !== 0) throw new Error(stderr);
    const functions = functionsOf(readFileSync(join(folder, MODULE)));
    const sum = (/** @type {typeof functions} */ some) =>
      some.reduce((total, { bytes }) => total + bytes, 0);
    return sum(functions.filter(({ name }) => TRAINING.test(name))) / sum(functions);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {import('../bundle.js').Chunk[]} chunks
 * @returns {[folder: string, share: number][]} the largest first
 */
function foldersOf(chunks) {
  const modules = chunks.flatMap((chunk) =>
    Object.entries(chunk.modules).filter(([path]) => path.startsWith(ROOT)),
  );
  const whole = modules.reduce((sum, [, { renderedLength }]) => sum + renderedLength, 0);
  /** @type {Map<string, number>} */
  const folders = new Map();
  for (const [path, { renderedLength }] of modules) {
    const folder = relative(join(ROOT, 'web/headwise'), dirname(path)) || 'entries';
    folders.set(folder, (folders.get(folder) ?? 0) + renderedLength / whole);
  }
  return [...folders].sort((a, b) => b[1] - a[1]);
}

/** @param {readonly string[]} args none are known */
async function main(args) {
  parse({ args: [...args] });
  const files = await bundle('headwise');
  const chunks = firstChunks(files);
  const script = chunks.reduce((sum, { code }) => sum + gzipped(code), 0);
  const wasm = gzipped(readFileSync(join(ROOT, MODULE)));
  const folders = foldersOf(chunks);
  const ofScript = folders.find(([folder]) => folder === 'autograd')?.[1] ?? 0;
  const ofModule = await trainingOfModule();

  /** @type {[what: string, bytes: number, training: number][]} */
  const rows = [
    ['module', wasm, ofModule * wasm],
    ['JavaScript', script, ofScript * script],
    ['both', wasm + script, ofModule * wasm + ofScript * script],
  ];
  for (const [what, bytes, training] of rows)
    console.log(
      `${what.padEnd(12)}${kilobytes(bytes)} gzipped, ${kilobytes(training)} of them for training`,
    );
  console.log('\nJavaScript by folder:');
  for (const [folder, share] of folders) console.log(`${percent(share).padStart(7)}  ${folder}`);
}

await runScript(main, 'usage: npm run bytes');
