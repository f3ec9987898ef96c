/**
 * The benchmark in a Worker: takes { shapes, threads, seconds }, posts one { result } after another, then { done } with
 * the modules that this browser lacks.
 *
 * @import { Options, Simd } from './bench.js'
 */

import { bench } from './bench.js';
import { compileCeilings } from './ceiling.js';

/** @type {Record<Simd, URL>} */
const CEILINGS = {
  relaxed: new URL('./wasm/ceiling-relaxed.wasm', import.meta.url),
  simd128: new URL('./wasm/ceiling-simd128.wasm', import.meta.url),
};
const SIMDS = /** @type {Simd[]} */ (Object.keys(CEILINGS));

/** @param {Simd} simd */
async function fetchCeiling(simd) {
  const response = await fetch(CEILINGS[simd]);
  if (!response.ok) throw new Error(`${CEILINGS[simd].href}: ${response.status}`);
  return response.arrayBuffer();
}

/** @param {Omit<Options, 'ceilings'>} options */
async function run(options) {
  const { ceilings, missing } = await compileCeilings(SIMDS, fetchCeiling);
  for await (const result of bench({ ...options, ceilings })) postMessage({ result });
  postMessage({ done: true, missing });
}

addEventListener('message', ({ data }) => {
  run(data).catch((error) => postMessage({ failure: String(error) }));
});
