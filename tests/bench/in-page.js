// The benchmark in a browser: what page.html runs for in-chromium.js.
import { bench } from '../../web/page/bench/bench.js';
import { compileCeilings } from '../../web/page/bench/ceiling.js';

/** @typedef {import('../../web/page/bench/bench.js').Simd} Simd */

/** @param {Simd} simd */
async function fetchCeiling(simd) {
  const address = new URL(`../../web/page/bench/wasm/ceiling-${simd}.wasm`, import.meta.url);
  return (await fetch(address)).arrayBuffer();
}

/**
 * @param {Omit<import('../../web/page/bench/bench.js').Options, 'ceilings'> & { simds: readonly Simd[] }} options
 */
export async function start({ simds, ...options }) {
  const { ceilings, missing } = await compileCeilings(simds, fetchCeiling);
  return { missing, results: bench({ ...options, ceilings }) };
}
