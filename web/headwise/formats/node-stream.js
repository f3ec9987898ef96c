// Streams of Node's own, which are read as the web's are.

/**
 * What a Readable has beside its pieces.
 * @typedef {object} NodeStreamMembers
 * @property {Function} pipe which it is known by
 * @property {() => unknown} destroy ends it
 * @property {boolean} [destroyed] whether that was done
 * @property {boolean} [readableEnded] whether all of it was read
 */
/**
 * Node's Readable, of bytes.
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
