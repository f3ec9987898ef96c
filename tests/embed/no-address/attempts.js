// What can be had, and what is said, where import.meta.url is undefined: in CommonJS bundles and in Cloudflare Workers.
import { load } from 'headwise';
import { load as loadInline } from 'headwise/inline';
import { load as loadWorker } from 'headwise/worker';
import { attendOnce } from '../app/compute.js';

/** @param {() => Promise<any>} start */
async function attempt(start) {
  try {
    return await attendOnce(start);
  } catch (error) {
    const { name, code, message } = /** @type {any} */ (error);
    return { error: `${name} ${code}: ${message}` };
  }
}

/** @param {string | WebAssembly.Module} wasm */
export const attempts = async (wasm) => ({
  given: await attempt(() => load({ wasm, threads: 2 })),
  own: await attempt(() => load()),
  inline: await attempt(() => loadInline()),
  worker: await attempt(() => loadWorker({ wasm })),
});
