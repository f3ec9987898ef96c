// The benchmark in this Node.
import { readFile } from 'node:fs/promises';
import { bench } from '../../web/page/bench/bench.js';
import { UsageError } from './options.js';

/** @typedef {import('../../web/page/bench/bench.js').Simd} Simd */

const NO_RELAXED =
  `this Node (${process.version}) has no relaxed SIMD: the relaxed module needs Node >= 22, ` +
  'or node --experimental-wasm-relaxed-simd tests/bench/run.js';

/** @param {Simd} simd */
const readCeiling = (simd) =>
  readFile(new URL(`../../web/page/bench/wasm/ceiling-${simd}.wasm`, import.meta.url));

/** @param {Awaited<ReturnType<typeof import('./options.js').readOptions>>} options */
export async function runInNode({ shapes, threads, simds, seconds }) {
  /** @type {Partial<Record<Simd, WebAssembly.Module>>} */
  const ceilings = {};
  const notes = [];
  for (const simd of simds ?? /** @type {const} */ (['relaxed', 'simd128'])) {
    const bytes = await readCeiling(simd);
    if (WebAssembly.validate(bytes)) ceilings[simd] = await WebAssembly.compile(bytes);
    else if (simds?.length === 1) throw new UsageError(`--simd is relaxed, but ${NO_RELAXED}`);
    else notes.push(`Without the relaxed module: ${NO_RELAXED}.`);
  }
  return {
    runtime: `Node ${process.version}`,
    notes,
    results: bench({ shapes, ceilings, threads, seconds }),
  };
}
