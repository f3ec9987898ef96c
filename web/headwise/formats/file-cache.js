// Stores parts of files in the browser's Cache API. A second visit loads them from disk, and an interrupted download resumes.

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

/** The stored parts of one address. A cache that fails or is full works like an empty one. */
export class FileCache {
  #address;
  /** @type {Cache | undefined} */
  #cache;

  /** @param {string} address @param {Cache | undefined} cache */
  constructor(address, cache) {
    this.#address = address;
    this.#cache = cache;
  }

  /** @param {string} address */
  static async open(address) {
    return new FileCache(address, await openCache());
  }

  /**
   * @param {string} part its name
   * @returns {Promise<{ bytes: Uint8Array<ArrayBuffer>, headers: Headers } | undefined>}
   */
  async match(part) {
    try {
      const response = await this.#cache?.match(keyOf(this.#address, part));
      if (response === undefined) {
        return undefined;
      }
      return { bytes: new Uint8Array(await response.arrayBuffer()), headers: response.headers };
    } catch {
      return undefined;
    }
  }

  /**
   * @param {string} part
   * @param {Uint8Array<ArrayBuffer>} bytes
   * @param {Record<string, string>} [headers]
   */
  async put(part, bytes, headers = {}) {
    try {
      await this.#cache?.put(keyOf(this.#address, part), new Response(bytes, { headers }));
    } catch {
      // No room: the rest is not kept either.
      this.#cache = undefined;
    }
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
  async forget(start, keeps = () => false) {
    try {
      for (const { url } of (await this.#cache?.keys()) ?? []) {
        if (url.startsWith(start) && !keeps(url.slice(start.length))) {
          await this.#cache?.delete(url);
        }
      }
    } catch {
      this.#cache = undefined;
    }
  }
}
