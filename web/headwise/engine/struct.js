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

/** @typedef {{ keys: string[], at: number, write: (view: DataView, at: number, value: any) => void }} Field */

/** The fields of layouts that were written. @type {WeakMap<Layout, Field[]>} */
const known = new WeakMap();

/** @param {Layout} layout @returns {Field[]} */
function fieldsOf({ bytes: _, ...kinds }) {
  return Object.entries(kinds).flatMap(([kind, places]) =>
    Object.entries(places).map(([name, at]) => ({
      keys: name.split('.'),
      at,
      write: writers[kind],
    })),
  );
}

/**
 * Fills a struct; fields that are left out become 0.
 * @param {Engine} engine
 * @param {number} address
 * @param {Layout} layout
 * @param {Record<string, any>} values of fields, those of a struct inside under its name
 */
export function writeStruct(engine, address, layout, values) {
  const view = new DataView(engine.memory.buffer, address, layout.bytes);
  const fields = known.get(layout) ?? fieldsOf(layout);
  known.set(layout, fields);
  for (const { keys, at, write } of fields) {
    const value = keys.length === 1 ? values[keys[0]] : values[keys[0]]?.[keys[1]];
    write(view, at, value ?? 0);
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
export function writeInput(words, at, data, call) {
  const { input, batch, tokens, logitsStart, logitsEnd, logitsLast = false } = call;
  const isIds = input.dtype === 'uint32';
  words[at + inputAt.x] = isIds ? 0 : data;
  words[at + inputAt.ids] = isIds ? data : 0;
  words[at + inputAt.batch] = batch;
  words[at + inputAt.tokens] = tokens;
  words[at + inputAt.logitsStart] = logitsStart;
  words[at + inputAt.logitsEnd] = logitsEnd;
  words[at + inputAt.lengths] = isIds && input.hasLengths ? data + 4 * batch * tokens : 0;
  words[at + abi.input.bool.logitsLast / 4] = Number(logitsLast);
}
