// The addresses of the package's own files. They are written out, and this file lies beside those files. So bundlers follow
// the addresses, and files that a bundler does not follow can be copied beside the bundle.
import { startWorker } from './engine/node.js';

/** @type {(simd: 'relaxed' | 'simd128') => { single: URL, threads: URL }} the modules of the engine */
export const wasmAddresses = (simd) =>
  simd === 'relaxed'
    ? {
        single: new URL('./wasm/headwise-relaxed.wasm', import.meta.url),
        threads: new URL('./wasm/headwise-relaxed-threads.wasm', import.meta.url),
      }
    : {
        single: new URL('./wasm/headwise-simd128.wasm', import.meta.url),
        threads: new URL('./wasm/headwise-simd128-threads.wasm', import.meta.url),
      };

/** @returns {Promise<any>} a Worker of the browser or of Node: a thread of an engine */
export const startThread = () =>
  startWorker(
    import.meta.url,
    'worker-thread.js',
    () => new Worker(new URL('./worker-thread.js', import.meta.url), { type: 'module' }),
  );
