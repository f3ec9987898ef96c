// Structs of include/headwise.h in staging memory, by the layouts that npm run build writes into abi.js.
import * as abi from './abi.js';
import { aligned } from './engine.js';

/** @typedef {import('./engine.js').Engine} Engine */
/** @typedef {import('./layout.js').Layout<any>} Layout */

/**
 * Fills a struct; fields that are left out become 0.
 * @param {Engine} engine
 * @param {number} address
 * @param {Layout} layout
 * @param {Record<string, any>} values of fields, those of a struct inside under its name
 */
export function writeStruct(engine, address, layout, values) {
  const view = new DataView(engine.memory.buffer, address, layout.bytes);
  for (const { keys, at, write } of layout.fields) {
    const value = keys.length === 1 ? values[keys[0]] : values[keys[0]]?.[keys[1]];
    write(view, at, value ?? 0);
  }
}

const inputAt = abi.input.words;

/** Bytes of an hw_input in staging memory, so that what follows is aligned. */
export const inputBytes = aligned(abi.input.bytes);

/**
 * Fills an hw_input.
 * @param {Uint32Array} words
 * @param {number} at index of the first word
 * @param {number} data address
 * @param {import('../modules/call.js').Call} call
 */
export function writeInput(words, at, data, call) {
  const { input, batch, tokens, logitsStart, logitsEnd, logitsLast } = call;
  const isIds = input.dtype === 'uint32';
  words[at + inputAt.x] = isIds ? 0 : data;
  words[at + inputAt.ids] = isIds ? data : 0;
  words[at + inputAt.batch] = batch;
  words[at + inputAt.tokens] = tokens;
  words[at + inputAt.logitsStart] = logitsStart;
  words[at + inputAt.logitsEnd] = logitsEnd;
  words[at + inputAt.lengths] = isIds && input.lengths ? data + 4 * batch * tokens : 0;
  words[at + inputAt.logitsLast] = Number(logitsLast);
}
