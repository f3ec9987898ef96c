import { checkSignal } from '../check.js';
import { resolve } from '../compile.js';
import { describe } from '../describe.js';
import { HeadwiseError } from '../error.js';
import { importNode, isNode } from '../node.js';
import { PartReader, StreamReader } from './reader.js';

/** @typedef {Blob | ArrayBuffer | ArrayBufferView | Response | URL | string | ReadableStream<Uint8Array>} Source a string is an address */

/**
 * How a file is read.
 * @typedef {object} SourceOptions
 * @property {string} [name] what messages call the file; default: a File's name, an address, or 'source'
 * @property {AbortSignal} [signal] ends the reading
 */

/**
 * @param {Response} response
 * @param {string} name
 * @param {AbortSignal | undefined} signal
 */
function readerOfResponse(response, name, signal) {
  const answer = `the server answered ${`${response.status} ${response.statusText}`.trim()}`;
  if (!response.ok) {
    throw new HeadwiseError('ERR_LOAD', `${name}: ${answer}; expected the file`);
  }
  if (response.bodyUsed || response.body?.locked) {
    throw new HeadwiseError(
      'ERR_VALUE',
      `${name}: the Response was read before; expected a new one`,
    );
  }
  const type = response.headers.get('content-type') ?? 'no content type';
  const stream = response.body ?? new Blob([]).stream();
  return new StreamReader(name, stream, [signal], `${answer} with ${type}`);
}

/**
 * @param {URL | string} address
 * @param {string | undefined} name
 * @param {AbortSignal | undefined} signal
 */
async function readerOfAddress(address, name, signal) {
  try {
    const url = resolve(address);
    if (url.protocol === 'file:' && isNode) {
      // Node's fetch does not read files.
      const { openAsBlob } = await importNode('fs');
      return new PartReader(name ?? url.href, await openAsBlob(url), [signal]);
    }
    return readerOfResponse(await fetch(url, { signal }), name ?? url.href, signal);
  } catch (cause) {
    if (cause instanceof HeadwiseError || signal?.aborted) {
      throw cause;
    }
    throw new HeadwiseError(
      'ERR_LOAD',
      `${name ?? address}: could not be read (${/** @type {Error} */ (cause).message}); expected an address that answers`,
      { cause },
    );
  }
}

/**
 * @param {unknown} name
 * @returns {string | undefined}
 */
export function checkName(name) {
  if (name !== undefined && typeof name !== 'string') {
    throw new HeadwiseError('ERR_VALUE', `name is ${describe(name)}; expected a string`);
  }
  return name;
}

/**
 * @param {unknown} source
 * @param {Record<string, any>} options SourceOptions, not yet checked
 * @returns {Promise<PartReader | StreamReader>}
 * @throws {HeadwiseError} ERR_VALUE, ERR_LOAD; an abort's reason
 */
export async function openReader(source, options) {
  const name = checkName(options.name);
  const signal = checkSignal(options.signal);
  signal?.throwIfAborted();
  if (source instanceof ArrayBuffer) {
    return new PartReader(name ?? 'source', new Uint8Array(source), [signal]);
  }
  if (ArrayBuffer.isView(source)) {
    const bytes = new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    return new PartReader(name ?? 'source', bytes, [signal]);
  }
  if (source instanceof Blob) {
    const ownName = /** @type {Partial<File>} */ (source).name;
    return new PartReader(name ?? (ownName || 'source'), source, [signal]);
  }
  if (typeof source === 'string' || source instanceof URL) {
    return readerOfAddress(source, name, signal);
  }
  if (source instanceof Response) {
    return readerOfResponse(source, name ?? (source.url || 'source'), signal);
  }
  if (source instanceof ReadableStream && !source.locked) {
    return new StreamReader(name ?? 'source', source, [signal]);
  }
  const isLocked = source instanceof ReadableStream ? ' that is locked' : '';
  throw new HeadwiseError(
    'ERR_VALUE',
    `${name ?? 'source'} is ${describe(source)}${isLocked}; expected a Blob, BufferSource, Response, URL, string or unlocked ReadableStream`,
  );
}

/** What is often taken for a tensor file, by how it begins. */
const lookAlikes = [
  ['version ', 'a Git LFS pointer? Then the file itself was not downloaded'],
  ['PK', 'a zip, as torch.save writes'],
  ['.NUMPY', 'a .npy file'],
  ['GGUF', 'a GGUF file'],
];

/**
 * The error of a file that is none of its kind: an error of loading if a server sent a page instead.
 * @param {PartReader | StreamReader} reader
 * @param {Uint8Array} start of the file
 * @param {string} expected
 */
export function notThisKind(reader, start, expected) {
  const text = String.fromCharCode(...start.subarray(0, 24)).replace(/[^\x20-\x7e]/g, '.');
  if (reader.answer !== undefined && /^[\s.]*<[!?a-z]/i.test(text)) {
    const problem = `${reader.answer} that begins with ${describe(text)}`;
    return new HeadwiseError('ERR_LOAD', `${reader.name}: ${problem}; expected ${expected}`);
  }
  const hint = lookAlikes.find(([prefix]) => text.startsWith(prefix))?.[1];
  const because = hint === undefined ? '' : ` (${hint})`;
  return reader.formatError(`begins with ${describe(text)}${because}; expected ${expected}`);
}
