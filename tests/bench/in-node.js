// The benchmark in this Node.
import { readFile } from 'node:fs/promises';
import { bench } from '../../web/page/bench/bench.js';
import { compileCeilings } from '../../web/page/bench/ceiling.js';

const NO_RELAXED =
  `This Node (${process.version}) cannot run the relaxed module: that needs Node >= 22, ` +
  'or node --experimental-wasm-relaxed-simd tests/bench/run.js.';

/** @param {import('../../web/page/bench/bench.js').Simd} simd */
const readCeiling = (simd) =>
  readFile(new URL(`../../web/page/bench/wasm/ceiling-${simd}.wasm`, import.meta.url));

/** @param {import('./options.js').Options} options */
export async function runInNode({ simds, ...options }) {
  const { ceilings, missing } = await compileCeilings(simds, readCeiling);
  return {
    runtime: `Node ${process.version}`,
    notes: missing.map(() => NO_RELAXED),
    results: bench({ ...options, ceilings }),
    close: async () => {},
  };
}
