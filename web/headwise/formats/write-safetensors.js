import { checkTensor, copyData } from '../tensor/operand.js';
import { describe } from '../checks/describe.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { entriesOf, isPlain, reading } from '../checks/foreign.js';
import { newArray } from '../tensor/shape.js';

/** @typedef {import('../tensor/operand.js').Operand} Operand */
/** @typedef {import('../tensor/tensor.js').AnyTensor} AnyTensor */

/** Characters of a name as JSON: readSafetensors takes twice as many of all that a header says of a tensor. */
const longestName = 2 ** 15;

/** @param {Operand} tensor */
export const bytesOf = (tensor) => new Uint8Array(copyData(tensor).buffer);

/** @param {Operand} tensor */
export const byteLengthOf = ({ dtype, size }) => (dtype === 'bool' ? size : 4 * size);

/** Half of a character, which UTF-8 cannot write: readers in other languages refuse a header that has one, escaped. */
const isBroken = (/** @type {string} */ text) => /\p{Surrogate}/u.test(text);

/** @param {string} where @param {string} text */
const brokenText = (where, text) =>
  new HeadwiseError(
    'ERR_VALUE',
    `${where} ${describe(text)}, which has half of a character (a lone surrogate); expected well-formed text`,
  );

/**
 * The entries of a plain object: a Map, a Promise or an optimizer has none, and would make an empty file.
 * @param {unknown} object
 * @param {string} name
 * @param {string} expected
 */
function entriesOfPlain(object, name, expected) {
  if (!reading(() => isPlain(object), name, expected)) {
    throw misfit(object, name, expected);
  }
  return entriesOf(/** @type {object} */ (object), name);
}

/**
 * @param {unknown} tensors
 * @returns {[name: string, tensor: Operand][]} floats first, so that all numbers lie at multiples of 4
 */
function checkTensors(tensors) {
  const expected = 'a plain object of Tensors, as stateDict() gives';
  const entries = entriesOfPlain(tensors, 'tensors', expected);
  if (entries.some(([name]) => name === '__metadata__')) {
    throw new HeadwiseError(
      'ERR_VALUE',
      'tensors has the name __metadata__, which the format keeps; expected another',
    );
  }
  const long = entries.find(([name]) => JSON.stringify(name).length > longestName);
  if (long !== undefined) {
    const problem = `tensors has a name of ${long[0].length} characters, ${describe(long[0])}`;
    throw new HeadwiseError('ERR_VALUE', `${problem}; expected at most ${longestName}`);
  }
  const broken = entries.find(([name]) => isBroken(name));
  if (broken !== undefined) {
    throw brokenText('tensors has the name', broken[0]);
  }
  /** @type {[string, Operand][]} */
  const named = entries.map(([name, value]) => [
    name,
    checkTensor(value, `tensors[${describe(name)}]`),
  ]);
  const isBool = (/** @type {Operand} */ { dtype }) => Number(dtype === 'bool');
  return named.sort(([, a], [, b]) => isBool(a) - isBool(b));
}

/** @param {unknown} metadata @returns {Record<string, string>} */
function checkMetadata(metadata) {
  const entries = entriesOfPlain(metadata, 'metadata', 'a plain object of strings');
  const bad = entries.find(([, value]) => typeof value !== 'string');
  if (bad !== undefined) {
    const where = `metadata[${describe(bad[0])}]`;
    throw misfit(bad[1], where, 'a string');
  }
  const texts = /** @type {[string, string][]} */ (entries);
  const broken = texts.flat().find(isBroken);
  if (broken !== undefined) {
    throw brokenText('metadata has', broken);
  }
  return Object.fromEntries(texts);
}

/**
 * Returns the bytes of a .safetensors file with F32 and BOOL tensors. The data starts at a multiple of 8 bytes.
 *
 * @param {Readonly<Record<string, AnyTensor>>} tensors a plain object, as `stateDict()` gives
 * @param {Readonly<Record<string, string>>} [metadata] default: none
 * @returns {Uint8Array<ArrayBuffer>}
 * @throws {HeadwiseError} ERR_VALUE, ERR_SHAPE; ERR_MEMORY: no memory for the file
 */
export function writeSafetensors(tensors, metadata) {
  const named = checkTensors(tensors);
  /** @type {[string, unknown][]} */
  const entries = metadata === undefined ? [] : [['__metadata__', checkMetadata(metadata)]];
  let end = 0;
  for (const [name, tensor] of named) {
    const { dtype, shape } = tensor;
    const start = end;
    end += byteLengthOf(tensor);
    const type = dtype === 'bool' ? 'BOOL' : 'F32';
    entries.push([name, { dtype: type, shape, data_offsets: [start, end] }]);
  }
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
  const header = Math.ceil(json.length / 8) * 8;
  const file = newArray(Uint8Array, 8 + header + end);
  new DataView(file.buffer).setUint32(0, header, true);
  file.fill(0x20, 8, 8 + header).set(json, 8);
  let at = 8 + header;
  for (const [, tensor] of named) {
    file.set(bytesOf(tensor), at);
    at += byteLengthOf(tensor);
  }
  return file;
}
