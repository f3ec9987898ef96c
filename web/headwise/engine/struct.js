// Structs of include/headwise.h in staging memory, by the layouts that npm run build writes into abi.js.
import * as abi from './abi.js';

/** @typedef {import('./engine.js').Engine} Engine */
/** @typedef {Readonly<Record<string, number>>} Places in bytes */
/** @typedef {{ bytes: number, word?: Places, f32?: Places, f64?: Places, bool?: Places }} Layout */

/** @type {Record<string, (view: DataView, at: number, value: number) => void>} */
const writers = {
  word: (view, at, value) => view.setInt32(at, value, true),
  f32: (view, at, value) => view.setFloat32(at, value, true),
  f64: (view, at, value) => view.setFloat64(at, value, true),
  bool: (view, at, value) => view.setUint8(at, Number(value)),
};

/**
 * Fills a struct; fields that are left out become 0.
 * @param {Engine} engine
 * @param {number} address
 * @param {Layout} layout
 * @param {Record<string, any>} values of fields, those of a struct inside under its name
 */
export function writeStruct(engine, address, { bytes, ...kinds }, values) {
  const view = new DataView(engine.memory.buffer, address, bytes);
  for (const [kind, places] of Object.entries(kinds)) {
    for (const [name, at] of Object.entries(places)) {
      /** @type {any} */
      const value = name.split('.').reduce((outer, key) => outer?.[key], values);
      writers[kind](view, at, value ?? 0);
    }
  }
}

/**
 * Where a struct's words are, in words.
 * @template {string} Name
 * @param {{ word: Record<Name, number> }} layout
 * @returns {Record<Name, number>}
 */
export const wordsOf = ({ word }) =>
  /** @type {any} */ (
    Object.fromEntries(Object.entries(word).map(([name, at]) => [name, Number(at) / 4]))
  );

const inputAt = wordsOf(abi.input);

/** Bytes of an hw_input in staging memory, so that what follows is aligned. */
export const inputBytes = Math.ceil(abi.input.bytes / 16) * 16;

/**
 * Fills an hw_input.
 * @param {Uint32Array} words
 * @param {number} at index of the first word
 * @param {number} data address
 * @param {import('../modules/forward.js').Call} call
 */
export function writeInput(words, at, data, { input, batch, tokens, logitsStart, logitsEnd }) {
  const isIds = input.dtype === 'uint32';
  words[at + inputAt.x] = isIds ? 0 : data;
  words[at + inputAt.ids] = isIds ? data : 0;
  words[at + inputAt.batch] = batch;
  words[at + inputAt.tokens] = tokens;
  words[at + inputAt.logitsStart] = logitsStart;
  words[at + inputAt.logitsEnd] = logitsEnd;
}
