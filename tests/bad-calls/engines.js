// Bad calls of load, and calls of an engine that has ended.
import { load, zeros } from 'headwise';
import { any } from './table.js';

/** @returns {import('./table.js').BadCall[]} */
export const loads = () => [
  ['an address by itself', () => load(any('a.wasm')), 'ERR_VALUE', 'load: options', '"a.wasm"'],
  ['an unknown option of load', () => load(any({ url: 'a.wasm' })), 'ERR_VALUE', 'load', 'url'],
  ['an unknown kind of SIMD', () => load(any({ simd: 'avx2' })), 'ERR_VALUE', 'simd', '"avx2"'],
  ['no threads', () => load({ threads: 0 }), 'ERR_VALUE', 'threads', '0'],
  ['half a thread', () => load({ threads: 1.5 }), 'ERR_VALUE', 'threads', '1.5'],
  [
    'threads by an unknown word',
    () => load(any({ threads: 'many' })),
    'ERR_VALUE',
    'threads',
    '"many"',
  ],
  ['a number as wasm', () => load(any({ wasm: 5 })), 'ERR_VALUE', 'wasm', '5'],
  [
    'a controller as signal',
    () => load(any({ signal: new AbortController() })),
    'ERR_VALUE',
    'signal',
    'a value of type AbortController',
  ],
  ['an address that is none', () => load({ wasm: 'https://' }), 'ERR_LOAD', 'https://'],
  ['no bytes', () => load({ wasm: new Uint8Array(0) }), 'ERR_LOAD', 'wasm', '0 bytes'],
  [
    'a page for a module',
    () => load({ wasm: new Response('<!doctype html>') }),
    'ERR_LOAD',
    'wasm',
    '"<!doctype html>"',
  ],
  ['half a header', () => load({ wasm: Uint8Array.of(0, 97, 115, 109, 1) }), 'ERR_LOAD', 'wasm'],
  [
    'another module',
    () => load({ wasm: Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0) }),
    'ERR_LOAD',
    'wasm',
  ],
];

/**
 * @param {import('./table.js').Engine} ended disposed of
 * @returns {import('./table.js').BadCall[]}
 */
export const endedEngine = (ended) => [
  ['manualSeed after dispose', () => ended.manualSeed(1), 'ERR_DISPOSED', 'engine'],
  ['randn after dispose', () => ended.randn([2]), 'ERR_DISPOSED', 'engine'],
  ['softmax after dispose', () => ended.softmax(zeros([2])), 'ERR_DISPOSED', 'engine'],
  ['a mask after dispose', () => ended.causalMask(2), 'ERR_DISPOSED', 'engine'],
  [
    'a module after dispose',
    () => new ended.Linear({ inFeatures: 3, outFeatures: 2 }),
    'ERR_DISPOSED',
    'engine',
  ],
  ['the memory after dispose', () => ended.memoryBytes, 'ERR_DISPOSED', 'engine'],
];
