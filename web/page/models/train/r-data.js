/** What R wrote: its binary serialisation ("R Internals", 1.8 Serialization Formats) and lazy-load databases. */
import { gunzipSync, inflateSync } from 'node:zlib';

const [SYMBOL, PAIRLIST, CHARSXP, LOGICAL, INTEGER, STRINGS, LIST] = [1, 2, 9, 10, 13, 16, 19];
const [NIL, REFERENCE] = [254, 255];
const [HAS_ATTRIBUTES, HAS_TAG] = [1 << 9, 1 << 10];

/** Values of R's XDR serialisation. Attributes are kept of lists only, as their names. */
class RReader {
  #data;
  #at = 0;
  /** @type {any[]} */
  #symbols = [];

  /** @param {Buffer} data */
  constructor(data) {
    this.#data = data;
    if (this.#take(2).toString() !== 'X\n') throw new Error('The data is not in R’s XDR format.');
    const version = this.#int();
    this.#take(8);
    if (version === 3) this.#take(this.#int()); // the native encoding's name
  }

  /** @param {number} count */
  #take(count) {
    this.#at += count;
    return this.#data.subarray(this.#at - count, this.#at);
  }

  #int() {
    return this.#take(4).readInt32BE();
  }

  /** @param {number} first the first cell's word @returns {Record<string, any>} */
  #pairs(first) {
    /** @type {Record<string, any>} */
    const found = {};
    for (let flags = first; (flags & 255) !== NIL; flags = this.#int()) {
      if (flags & HAS_ATTRIBUTES) this.value();
      const tag = flags & HAS_TAG ? this.value() : '';
      found[tag] = this.value();
    }
    return found;
  }

  /** @returns {any} */
  value() {
    const flags = this.#int();
    const kind = flags & 255;
    if (kind === NIL) return null;
    if (kind === REFERENCE) return this.#symbols[(flags >> 8) - 1];
    if (kind === SYMBOL) {
      this.#symbols.push(this.value());
      return this.#symbols.at(-1);
    }
    if (kind === CHARSXP) {
      const length = this.#int();
      return length < 0 ? null : this.#take(length).toString('utf8');
    }
    if (kind === PAIRLIST) return this.#pairs(flags);
    const values = this.#vector(kind);
    const { names } = flags & HAS_ATTRIBUTES ? this.#pairs(this.#int()) : {};
    return names
      ? Object.fromEntries(
          names.map((/** @type {string} */ name, /** @type {number} */ i) => [name, values[i]]),
        )
      : values;
  }

  /** @param {number} kind @returns {any[]} */
  #vector(kind) {
    const count = this.#int();
    const isNumber = kind === INTEGER || kind === LOGICAL;
    if (!isNumber && kind !== STRINGS && kind !== LIST) {
      throw new Error(`Type ${kind} of R’s serialisation is not read here.`);
    }
    return Array.from({ length: count }, () => (isNumber ? this.#int() : this.value()));
  }
}

/**
 * The variables of a lazy-load database.
 *
 * @param {Buffer} index the file .rdx
 * @param {Buffer} values the file .rdb
 * @returns {Record<string, any>}
 */
export function lazyLoad(index, values) {
  const { variables } = new RReader(gunzipSync(index)).value();
  // Each value stands after its unpacked length, four bytes.
  return Object.fromEntries(
    Object.entries(variables).map(([name, [at, length]]) => [
      name,
      new RReader(inflateSync(values.subarray(at + 4, at + length))).value(),
    ]),
  );
}
