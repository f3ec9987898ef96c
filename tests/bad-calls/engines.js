// Bad calls of load, and calls of an engine that has ended.
import { load, zeros } from 'headwise';
import { any } from './table.js';

/** @returns {import('./table.js').BadCall[]} */
export const loads = () => [
  [
    'an address by itself',
    () => load(any('a.wasm')),
    'ERR_VALUE',
    'load: options is "a.wasm"; expected an object of wasm, simd, threads, signal',
  ],
  [
    'an unknown option of load',
    () => load(any({ url: 'a.wasm' })),
    'ERR_VALUE',
    'load: unknown option url; expected wasm, simd, threads, signal',
  ],
  [
    'an unknown kind of SIMD',
    () => load(any({ simd: 'avx2' })),
    'ERR_VALUE',
    "simd is \"avx2\"; expected 'auto', 'relaxed' or 'simd128'",
  ],
  [
    'no threads',
    () => load({ threads: 0 }),
    'ERR_VALUE',
    "threads is 0; expected 'auto' or an integer of at least 1",
  ],
  [
    'half a thread',
    () => load({ threads: 1.5 }),
    'ERR_VALUE',
    "threads is 1.5; expected 'auto' or an integer of at least 1",
  ],
  [
    'threads by an unknown word',
    () => load(any({ threads: 'many' })),
    'ERR_VALUE',
    'threads is "many"; expected \'auto\' or an integer of at least 1',
  ],
  [
    'a number as wasm',
    () => load(any({ wasm: 5 })),
    'ERR_VALUE',
    'wasm is 5; expected a URL, string, Response, BufferSource or WebAssembly.Module',
  ],
  [
    'null as wasm',
    () => load(any({ wasm: null })),
    'ERR_VALUE',
    'wasm is null; expected a URL, string, Response, BufferSource or WebAssembly.Module',
  ],
  [
    'a controller as signal',
    () => load(any({ signal: new AbortController() })),
    'ERR_VALUE',
    'signal is a value of type AbortController; expected an AbortSignal',
  ],
  [
    'an address that is none',
    () => load({ wasm: 'https://' }),
    'ERR_LOAD',
    'https://: could not be read (',
  ],
  [
    'no bytes',
    () => load({ wasm: new Uint8Array(0) }),
    'ERR_LOAD',
    'wasm: arrived as bytes, 0 bytes that begin with ""; expected a wasm module',
  ],
  [
    'a page for a module',
    () => load({ wasm: new Response('<!doctype html>') }),
    'ERR_LOAD',
    '15 bytes that begin with "<!doctype html>"; expected a wasm module',
  ],
  [
    'half a header',
    () => load({ wasm: Uint8Array.of(0, 97, 115, 109, 1) }),
    'ERR_LOAD',
    "; expected Headwise's module and a runtime with SIMD",
  ],
  [
    'another module',
    () => load({ wasm: Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0) }),
    'ERR_LOAD',
    "wasm has not the functions that this version calls; expected Headwise's module",
  ],
];

/**
 * @param {import('./table.js').Engine} ended disposed of
 * @returns {import('./table.js').BadCall[]}
 */
export const endedEngine = (ended) => [
  [
    'manualSeed after dispose',
    () => ended.manualSeed(1),
    'ERR_DISPOSED',
    'the engine was disposed of; load() starts another',
  ],
  [
    'randn after dispose',
    () => ended.randn([2]),
    'ERR_DISPOSED',
    'the engine was disposed of; load() starts another',
  ],
  [
    'softmax after dispose',
    () => ended.softmax(zeros([2])),
    'ERR_DISPOSED',
    'the engine was disposed of; load() starts another',
  ],
  [
    'a mask after dispose',
    () => ended.causalMask(2),
    'ERR_DISPOSED',
    'the engine was disposed of; load() starts another',
  ],
  [
    'a module after dispose',
    () => new ended.Linear({ inFeatures: 3, outFeatures: 2 }),
    'ERR_DISPOSED',
    'the engine was disposed of; load() starts another',
  ],
  [
    'the memory after dispose',
    () => ended.memoryBytes,
    'ERR_DISPOSED',
    'the engine was disposed of; load() starts another',
  ],
];
