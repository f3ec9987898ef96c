// Stores parts of files in the browser's Cache API. A second visit loads them from disk, and an interrupted download resumes.
import { orAbort } from '../checks/abort.js';

/** Of all files of the package. */
const cacheName = 'headwise';

/** Begin the query of what is stored of an address. */
const mark = 'headwise-part=';

/** @param {string} address @param {string} part */
const keyOf = (address, part) =>
  `${address}${address.includes('?') ? '&' : '?'}${mark}${encodeURIComponent(part)}`;

/** @returns {Promise<Cache | undefined>} undefined: no Cache API, or no access to it */
async function openCache() {
  try {
    return await globalThis.caches?.open(cacheName);
  } catch {
    return undefined;
  }
}

/** The stored parts of one address. A cache that fails, is full or does not answer before an abort works like an empty one. */
export class FileCache {
  #address;
  /** @type {Cache | undefined} */
  #cache;
  #signal;

  /** @param {string} address @param {Cache | undefined} cache @param {AbortSignal | undefined} signal */
  constructor(address, cache, signal) {
    this.#address = address;
    this.#cache = cache;
    this.#signal = signal;
  }

  /** @param {string} address @param {AbortSignal | undefined} signal */
  static async open(address, signal) {
    return new FileCache(address, await orAbort(openCache(), signal), signal);
  }

  /**
   * @template T
   * @param {(cache: Cache) => Promise<T>} use
   * @returns {Promise<T | undefined>} undefined: there is no cache, or it failed and is not used any more
   */
  async #with(use) {
    try {
      return this.#cache && (await orAbort(use(this.#cache), this.#signal));
    } catch {
      this.#cache = undefined;
      return undefined;
    }
  }

  /**
   * @param {string} part its name
   * @returns {Promise<{ bytes: Uint8Array<ArrayBuffer>, headers: Headers } | undefined>}
   */
  match(part) {
    return this.#with(async (cache) => {
      const response = await cache.match(keyOf(this.#address, part));
      return (
        response && {
          bytes: new Uint8Array(await response.arrayBuffer()),
          headers: response.headers,
        }
      );
    });
  }

  /**
   * @param {string} part
   * @param {Uint8Array<ArrayBuffer>} bytes
   * @param {Record<string, string>} [headers]
   */
  put(part, bytes, headers = {}) {
    return this.#with((cache) =>
      cache.put(keyOf(this.#address, part), new Response(bytes, { headers })),
    );
  }

  /** Forgets parts but those that it is told to keep. @param {(part: string) => boolean} keeps */
  sweep(keeps) {
    const start = keyOf(this.#address, '');
    return this.forget(start, (rest) => keeps(decodeURIComponent(rest)));
  }

  /**
   * Forgets what is stored of addresses, this one's or others'.
   * @param {string} start of their keys
   * @param {(rest: string) => boolean} [keeps] by the rest of a key
   */
  forget(start, keeps = () => false) {
    return this.#with(async (cache) => {
      for (const { url } of await cache.keys()) {
        if (url.startsWith(start) && !keeps(url.slice(start.length))) {
          await cache.delete(url);
        }
      }
    });
  }
}
