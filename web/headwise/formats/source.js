import { checkSignal } from '../checks/check.js';
import { answerOf, answerWithType, checkUnread, discard } from '../checks/response.js';
import { resolve } from '../engine/resolve.js';
import { describe } from '../checks/describe.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { bytesOf, isAddress, isBytes, isOf, reading } from '../checks/foreign.js';
import { importNode, isNode } from '../engine/node.js';
import { chunksOf, isNodeStream } from './node-stream.js';
import { PartReader, StreamReader } from './reader.js';
import { shortened } from './shortened.js';

/** @typedef {import('./node-stream.js').NodeStream} NodeStream */

/**
 * Where bytes come from. A string is an address; in Node it may also be a path, relative to the working directory. A NodeStream is
 * Node's Readable.
 * @typedef {Blob | ArrayBuffer | ArrayBufferView | Response | URL | string | ReadableStream<Uint8Array> | NodeStream} Source
 */

/**
 * Options for reading a file.
 * @typedef {object} SourceOptions
 * @property {string} [name] the name of the file in messages; default: a File's name, an address, or 'source'
 * @property {AbortSignal} [signal] aborts the reading
 */

/** What may mean that a file is not there: some servers send a page then, or refuse. */
export class UnclearError extends HeadwiseError {}

/** @param {Response} response @param {string} name @param {AbortSignal | undefined} signal */
export function readerOfResponse(response, name, signal) {
  if (!response.ok) {
    discard(response);
    throw new HeadwiseError('ERR_LOAD', `${name}: ${answerOf(response)}; expected the file`);
  }
  checkUnread(response, name);
  const stream = response.body ?? new Blob([]).stream();
  return new StreamReader(name, stream.getReader(), [signal], answerWithType(response));
}

/** @param {string} place */
const isFile = (place) => place.startsWith('file:');

/**
 * @param {URL | string} address
 * @param {string | undefined} name
 * @param {AbortSignal | undefined} signal
 */
async function readerOfAddress(address, name, signal) {
  let place = shortened(String(address));
  try {
    const url = await resolve(address);
    place = shortened(url.href);
    if (url.protocol === 'file:' && isNode) {
      // Node's fetch does not read files.
      const { openAsBlob } = await importNode('fs');
      return new PartReader(name ?? place, await openAsBlob(url), [signal]);
    }
    return readerOfResponse(await fetch(url, { signal }), name ?? place, signal);
  } catch (cause) {
    if (cause instanceof HeadwiseError || signal?.aborted) {
      throw cause;
    }
    const from = name === undefined ? '' : ` from ${place}`;
    const problem = `could not be read${from} (${shortened(/** @type {Error} */ (cause).message)})`;
    throw new HeadwiseError(
      'ERR_LOAD',
      `${name ?? place}: ${problem}; expected ${isFile(place) ? 'a file' : 'an address that answers'}`,
      { cause },
    );
  }
}

/** @param {unknown} name @returns {string | undefined} */
export function checkName(name) {
  if (name !== undefined && typeof name !== 'string') {
    throw misfit(name, 'name', 'a string');
  }
  return name;
}

const expectedSource =
  "a Blob, BufferSource, Response, URL, string, unlocked ReadableStream or Readable of Node's";

/**
 * @param {unknown} source
 * @param {string | undefined} name
 * @param {AbortSignal | undefined} signal
 * @returns {PartReader | StreamReader | Promise<PartReader | StreamReader>}
 */
function readerOf(source, name, signal) {
  if (isBytes(source)) {
    return new PartReader(name ?? 'source', bytesOf(source), [signal]);
  }
  if (isOf(source, 'Blob', 'File')) {
    const ownName = /** @type {Partial<File>} */ (source).name;
    return new PartReader(name ?? (ownName || 'source'), source, [signal]);
  }
  if (isAddress(source)) {
    return readerOfAddress(source, name, signal);
  }
  if (isOf(source, 'Response')) {
    return readerOfResponse(source, name ?? shortened(source.url || 'source'), signal);
  }
  const isStream = isOf(source, 'ReadableStream');
  if (isStream && !source.locked) {
    return new StreamReader(name ?? 'source', source.getReader(), [signal]);
  }
  if (isNodeStream(source) && !source.destroyed && !source.readableEnded) {
    return new StreamReader(name ?? 'source', chunksOf(source), [signal]);
  }
  const isLocked = isStream ? ' that is locked' : '';
  const state = isNodeStream(source) ? ' that has ended' : isLocked;
  throw new HeadwiseError(
    'ERR_VALUE',
    `${name ?? 'source'} is ${describe(source)}${state}; expected ${expectedSource}`,
  );
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
  return reading(() => readerOf(source, name, signal), name ?? 'source', expectedSource);
}

/** First bytes of files that are often mistaken for a tensor file. */
const lookAlikes = [
  ['version ', 'a Git LFS pointer? Then the file itself was not downloaded'],
  ['PK', 'a zip, as torch.save and numpy.savez write: a .npz holds a .npy file for each array'],
  ['.NUMPY', 'a .npy file'],
  ['GGUF', 'a GGUF file'],
];

/**
 * The error for a file of another kind. It is ERR_LOAD if a server sent a page instead, otherwise ERR_FORMAT.
 * @param {import('./safetensors-header.js').Reader} reader
 * @param {Uint8Array} start of the file
 * @param {string} expected
 */
export function notThisKind(reader, start, expected) {
  const text = String.fromCharCode(...start.subarray(0, 24)).replace(/[^\x20-\x7e]/g, '.');
  if (reader.answer !== undefined && /^[\s.]*<[!?a-z]/i.test(text)) {
    const problem = `${reader.answer} that begins with ${describe(text)}`;
    return new UnclearError('ERR_LOAD', `${reader.name}: ${problem}; expected ${expected}`);
  }
  const hint = lookAlikes.find(([prefix]) => text.startsWith(prefix))?.[1];
  const because = hint === undefined ? '' : ` (${hint})`;
  return reader.formatError(`begins with ${describe(text)}${because}; expected ${expected}`);
}
