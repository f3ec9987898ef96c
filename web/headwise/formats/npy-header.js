// The header of a .npy file: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
import { describe } from '../checks/describe.js';
import { dtypes, elementsOf, expectedShape } from './convert.js';
import { parseObject } from './json.js';
import { notThisKind } from './source.js';

/** @typedef {import('./convert.js').Dtype} Dtype */
/** @typedef {import('./safetensors-header.js').Reader} Reader */
/** @typedef {{ dtype: Dtype, isBigEndian: boolean, isFortran: boolean, shape: readonly number[], elements: number }} NpyHeader */

/** "\x93NUMPY" */
export const magic = Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59);

/** numpy itself refuses longer ones. */
const longestHeader = 10_000;

/** @type {Readonly<Record<string, Dtype>>} by numpy's names */
const types = {
  ...{ b1: 'BOOL', f2: 'F16', f4: 'F32', f8: 'F64' },
  ...{ i1: 'I8', i2: 'I16', i4: 'I32', i8: 'I64', u1: 'U8', u2: 'U16', u4: 'U32', u8: 'U64' },
};

/** Strings, and the signs that differ between Python and JSON; Python 2 wrote 3L. */
const tokens = /"[^"]*"|'([^'"\\]*)'|\b(?:True|False)\b|[()]|,\s*(?=[)}\]])|(\d)L\b/g;

/**
 * A Python dictionary of strings, truth values and tuples of integers, as JSON.
 * @param {string} text
 */
const pythonToJson = (text) =>
  text.replace(tokens, (token, string, digit) => {
    if (string !== undefined || digit !== undefined) {
      return digit ?? `"${string}"`;
    }
    /** @type {Record<string, string>} */
    const signs = { True: 'true', False: 'false', '(': '[', ')': ']' };
    return token.startsWith(',') ? '' : (signs[token] ?? token);
  });

/**
 * @param {Reader} reader at the file's start
 * @returns {Promise<string>}
 */
async function readText(reader) {
  const start = await reader.read(8);
  if (start.length < 8 || magic.some((byte, i) => byte !== start[i])) {
    throw notThisKind(reader, start, 'a .npy file, which begins with \\x93NUMPY');
  }
  const version = start[6];
  if (version < 1 || version > 3) {
    throw reader.formatError(`is .npy version ${version}.${start[7]}; expected 1, 2 or 3`);
  }
  const size = version === 1 ? 2 : 4;
  const lengthBytes = await reader.read(size);
  if (lengthBytes.length < size) {
    throw reader.formatError(
      `truncated: ends ${lengthBytes.length} bytes into its header's length; expected ${size}`,
    );
  }
  let length = 0;
  for (let i = size - 1; i >= 0; i--) {
    length = length * 256 + lengthBytes[i];
  }
  if (length > longestHeader) {
    throw reader.formatError(`the header has ${length} bytes; expected at most ${longestHeader}`);
  }
  // A copy: TextDecoder takes no shared memory.
  const bytes = (await reader.read(length)).slice();
  if (bytes.length < length) {
    throw reader.formatError(`truncated: expected a header of ${length} bytes`);
  }
  // Latin-1 before version 3: but only names in structures are not ASCII, and structures are refused.
  return new TextDecoder().decode(bytes);
}

/**
 * @param {Reader} reader at the file's start
 * @returns {Promise<NpyHeader>}
 * @throws {HeadwiseError} ERR_FORMAT; ERR_LOAD: a server sent a page, or reading failed; an abort's reason
 */
export async function readNpyHeader(reader) {
  const text = await readText(reader);
  /** @type {(problem: string, cause?: unknown) => Error} */
  const error = (problem, cause) => reader.formatError(`the header ${problem}`, cause);
  const { descr, fortran_order: isFortran, shape } = parseObject(pythonToJson(text), error);
  const match = /^([<>|=]?)([a-z]\d)$/.exec(typeof descr === 'string' ? descr : '');
  if (match === null || !Object.hasOwn(types, match[2])) {
    const expected = `a numeric type: ${Object.keys(types).join(', ')}`;
    throw error(`has descr ${describe(descr)}; expected ${expected}`);
  }
  if (typeof isFortran !== 'boolean') {
    throw error(`has fortran_order ${describe(isFortran)}; expected True or False`);
  }
  const elements = elementsOf(shape);
  const dtype = types[match[2]];
  if (!Number.isSafeInteger(elements * dtypes[dtype].size)) {
    throw error(`has shape ${describe(shape)}; expected ${expectedShape}`);
  }
  const sizes = /** @type {number[]} */ (shape);
  return { dtype, isBigEndian: match[1] === '>', isFortran, shape: sizes, elements };
}
