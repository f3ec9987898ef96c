// Reads Node's streams like web streams.

/**
 * The members of a Readable besides its iterator.
 * @typedef {object} NodeStreamMembers
 * @property {Function} pipe identifies a Readable
 * @property {() => unknown} destroy ends the stream
 * @property {boolean} [destroyed] whether destroy was called
 * @property {boolean} [readableEnded] whether the whole stream was read
 */
/**
 * Node's Readable stream of bytes.
 * @typedef {AsyncIterable<any> & NodeStreamMembers} NodeStream
 */

/** @param {any} source @returns {source is NodeStream} */
export const isNodeStream = (source) =>
  typeof source?.pipe === 'function' &&
  typeof source.destroy === 'function' &&
  typeof source[Symbol.asyncIterator] === 'function';

/** @param {NodeStream} stream @returns {import('./reader.js').Chunks} */
export function chunksOf(stream) {
  const chunks = stream[Symbol.asyncIterator]();
  return {
    read: () => /** @type {Promise<any>} */ (chunks.next()),
    // The iterator's own end would wait for a chunk that may never come.
    cancel: async () => void stream.destroy(),
    releaseLock: () => undefined,
  };
}
