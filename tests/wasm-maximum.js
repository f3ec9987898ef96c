// A wasm module whose memory may not grow beyond a number of pages, made from one that may: so the package's own modules
// run out of memory early.

import { readNumber, sectionsOf } from './wasm-sections.js';

/** @param {number} value @param {number} length bytes to fill */
const writeNumber = (value, length) =>
  Array.from(
    { length },
    (_, i) => (Math.floor(value / 128 ** i) & 127) | (i < length - 1 ? 128 : 0),
  );

const MEMORY_SECTION = 5;

/**
 * @param {Uint8Array} module that has a memory of its own with a maximum
 * @param {number} pages of 64 KiB
 * @returns {Uint8Array}
 */
export function withMaximum(module, pages) {
  const bytes = module.slice();
  for (const { id, start } of sectionsOf(bytes)) {
    if (id !== MEMORY_SECTION) continue;
    // One memory, flags 1 (there is a maximum), initial pages, maximum.
    const [, maximumAt] = readNumber(bytes, start + 2);
    const [, end] = readNumber(bytes, maximumAt);
    bytes.set(writeNumber(pages, end - maximumAt), maximumAt);
    return bytes;
  }
  throw new Error('the module has no memory of its own');
}
