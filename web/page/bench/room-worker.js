/**
 * The benchmark in a Worker.
 *
 * @import { Options, Simd } from './bench.js'
 */

import { answerOf } from '../../headwise/checks/response.js';
import { load } from '../../headwise/index.js';
import { serve } from '../../headwise/worker/serve.js';
import { orOffline, PageError } from '../shared/errors.js';
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
  const { href } = CEILINGS[simd];
  const response = await fetch(href).catch(() => undefined);
  if (response?.ok) return response.arrayBuffer();
  const why = response ? answerOf(response) : orOffline('no response from the server');
  throw new PageError('ERR_LOAD', `${href}: ${why}`);
}

/** Throws what every result would say, if there is no engine. @param {Simd} simd */
async function checkEngine(simd) {
  const hw = await load({ simd, threads: 1 });
  hw.dispose();
}

/**
 * First how many modules are measured, then their results.
 *
 * @param {Omit<Options, 'ceilings'> & { isAll: boolean }} options isAll: both modules, not only the one that load() takes
 */
async function* measure({ isAll, ...options }) {
  const { ceilings, missing } = await compileCeilings(SIMDS, fetchCeiling);
  const known = Object.entries(ceilings);
  const chosen = isAll ? known : known.slice(0, 1);
  if (chosen.length > 0) await checkEngine(/** @type {Simd} */ (chosen[0][0]));
  yield { modules: chosen.length };
  yield* bench({ ...options, ceilings: Object.fromEntries(chosen) });
  return missing;
}

const room = { measure };
/** @typedef {typeof room} BenchWorker */
serve(room);
