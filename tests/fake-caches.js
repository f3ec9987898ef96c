// A browser's Cache API, for tests in Node.

/** A Cache API with room for so many bytes. */
class FakeCaches {
  /** @type {Map<string, Response>} */ stored = new Map();
  bytes = 0;

  constructor(room = Infinity) {
    this.room = room;
  }

  async open() {
    return this;
  }

  /** @param {string} key */
  async match(key) {
    return this.stored.get(key)?.clone();
  }

  /** @param {string} key @param {Response} response */
  async put(key, response) {
    this.bytes += (await response.clone().arrayBuffer()).byteLength;
    if (this.bytes > this.room) throw new DOMException('full', 'QuotaExceededError');
    this.stored.set(key, response);
  }

  async keys() {
    return [...this.stored.keys()].map((url) => ({ url }));
  }

  /** @param {string} key */
  async delete(key) {
    return this.stored.delete(key);
  }
}

/** @param {number} [room] */
export function useCaches(room) {
  const caches = new FakeCaches(room);
  /** @type {any} */ (globalThis).caches = caches;
  return caches;
}
