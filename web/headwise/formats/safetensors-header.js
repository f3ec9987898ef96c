// Reads and checks the header of a .safetensors file: https://github.com/huggingface/safetensors#format
import { describe } from '../checks/describe.js';
import { dtypes, elementsOf, expectedShape, isDtype } from './convert.js';
import { isRecord, parseObject } from './json.js';
import { notThisKind } from './source.js';

/** @typedef {import('./convert.js').Dtype} Dtype */
/** @typedef {import('./reader.js').PartReader | import('./reader.js').StreamReader | import('./web-reader.js').WebReader} Reader */
/** @typedef {{ name: string, dtype: Dtype, shape: readonly number[], start: number, end: number }} Entry start and end are counted from the end of the header */

/** The format's own limit. */
const longestHeader = 100_000_000;

/** Characters that a header may say of a tensor, its name included. Metadata may be longer. */
const bounds = { member: 2 ** 16, freeMember: '__metadata__' };

/**
 * A tensor's name in a message: names tell tensors apart at their ends.
 * @param {string} name
 */
export const named = (name) =>
  `tensor ${JSON.stringify(name.length > 100 ? `${name.slice(0, 50)}…${name.slice(-50)}` : name)}`;

/** @param {Reader} reader */
async function readLength(reader) {
  const bytes = await reader.read(8);
  if (bytes.length < 8) {
    throw reader.formatError(`has ${bytes.length} bytes; expected at least 8, a header's length`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
  const length = view.getUint32(0, true) + view.getUint32(4, true) * 2 ** 32;
  if (length > longestHeader) {
    const expected = `a .safetensors file, with a header of at most ${longestHeader} bytes`;
    throw notThisKind(reader, bytes, expected);
  }
  return length;
}

/** @param {Reader} reader @param {number} length */
async function readText(reader, length) {
  // A copy: TextDecoder takes no shared memory.
  const bytes = (await reader.read(length)).slice();
  if (bytes.length < length) {
    const there = `the file ends ${bytes.length} bytes after its length`;
    throw reader.formatError(`truncated: expected a header of ${length} bytes, but ${there}`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw reader.formatError('the header is not UTF-8; expected JSON in UTF-8', cause);
  }
}

/** @param {Reader} reader @param {unknown} given @returns {Readonly<Record<string, string>>} */
function checkMetadata(reader, given) {
  const metadata = given ?? {};
  const values = isRecord(metadata) ? Object.values(metadata) : [metadata];
  const bad = isRecord(metadata) ? values.find((value) => typeof value !== 'string') : metadata;
  if (bad !== undefined) {
    throw reader.formatError(`__metadata__ has ${describe(bad)}; expected an object of strings`);
  }
  return Object.freeze(/** @type {Record<string, string>} */ (metadata));
}

/** @param {Reader} reader @param {string} name @param {unknown} info @returns {Entry} */
function checkEntry(reader, name, info) {
  /** @type {(problem: string) => Error} */
  const error = (problem) => reader.formatError(`${named(name)}: ${problem}`);
  if (!isRecord(info)) {
    throw error(`is ${describe(info)}; expected an object of dtype, shape and data_offsets`);
  }
  const { dtype, shape, data_offsets: offsets } = info;
  if (!isDtype(dtype)) {
    throw error(`dtype is ${describe(dtype)}; expected ${Object.keys(dtypes).join(', ')}`);
  }
  const elements = elementsOf(shape);
  if (Number.isNaN(elements)) {
    throw error(`shape is ${describe(shape)}; expected ${expectedShape}`);
  }
  const isPair = Array.isArray(offsets) && offsets.length === 2;
  const [start, end] = isPair ? offsets : [NaN, NaN];
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0) {
    throw error(`data_offsets is ${describe(offsets)}; expected [start, end], integers from 0`);
  }
  const bytes = elements * dtypes[dtype].size;
  if (end - start !== bytes) {
    const because = `${bytes} bytes, as ${describe(shape)} of ${dtype} has`;
    throw error(`data_offsets is ${describe(offsets)}, ${end - start} bytes; expected ${because}`);
  }
  const sizes = /** @type {number[]} */ (shape);
  return { name, dtype, shape: Object.freeze(sizes), start, end };
}

/**
 * Each tensor must begin where the one before it ends.
 * @param {Reader} reader
 * @param {Entry[]} entries in the order of the file
 */
function checkOrder(reader, entries) {
  let end = 0;
  let before = 'the header';
  for (const entry of entries) {
    if (entry.start !== end) {
      const found = entry.start < end ? 'overlaps the bytes before it' : 'leaves a hole before it';
      const expected = `expected ${end}, where ${before} ends`;
      const problem = `begins at byte ${entry.start} of the data and ${found}; ${expected}`;
      throw reader.formatError(`${named(entry.name)}: ${problem}`);
    }
    ({ end } = entry);
    before = named(entry.name);
  }
}

/**
 * @param {Reader} reader
 * @param {Entry[]} entries in the order of the file
 * @param {number} data the data's place in the file
 * @param {number} end of the file
 */
export function checkEnd(reader, entries, data, end) {
  const there = end - data;
  const beyond = entries.find((entry) => entry.end > there);
  if (beyond !== undefined) {
    const problem = `truncated: its data ends at byte ${beyond.end}, but the file has ${there} bytes of data`;
    throw reader.formatError(`${named(beyond.name)}: ${problem}`);
  }
  const expected = entries.at(-1)?.end ?? 0;
  if (there > expected) {
    const last =
      entries.length > 0 ? named(/** @type {Entry} */ (entries.at(-1)).name) : 'the header';
    throw reader.formatError(
      `bytes follow ${last}; expected the file to end after ${expected} bytes of data`,
    );
  }
}

/**
 * Reads a header and checks all that can be known of the file by it.
 * @param {Reader} reader at the file's start
 * @returns {Promise<{ entries: Entry[], metadata: Readonly<Record<string, string>>, data: number }>} entries in the order
 *   of the file; data: where the tensors begin
 * @throws {HeadwiseError} ERR_FORMAT; ERR_LOAD: a server sent a page, or reading failed; an abort's reason
 */
export async function readHeader(reader) {
  const length = await readLength(reader);
  const text = await readText(reader, length);
  /** @type {(problem: string, cause?: unknown) => Error} */
  const error = (problem, cause) => reader.formatError(`the header ${problem}`, cause);
  if (!text.startsWith('{')) {
    throw error(`begins with ${describe(text.slice(0, 8))}; expected {`);
  }
  const { __metadata__: metadata, ...infos } = parseObject(text, error, bounds);
  const entries = Object.entries(infos)
    .map(([name, info]) => checkEntry(reader, name, info))
    .sort((a, b) => a.start - b.start || a.end - b.end);
  checkOrder(reader, entries);
  if (reader.size !== undefined) {
    checkEnd(reader, entries, 8 + length, reader.size);
  }
  return { entries, metadata: checkMetadata(reader, metadata), data: 8 + length };
}
