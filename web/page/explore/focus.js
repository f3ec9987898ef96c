/**
 * What the pointer or the keyboard is at, in all views at once: a query, a key, or a cell of both. Not kept in the
 * address.
 *
 * @typedef {{ query: number, key: number }} Place −1: none
 */

const NOWHERE = Object.freeze({ query: -1, key: -1 });

export class Focus {
  /** @type {Place} */ #place = NOWHERE;
  /** @type {Set<() => void>} */ #listeners = new Set();

  get place() {
    return this.#place;
  }

  /** @param {Partial<Place>} place what is left out is nowhere */
  set(place) {
    const next = { ...NOWHERE, ...place };
    if (next.query === this.#place.query && next.key === this.#place.key) return;
    this.#place = next;
    for (const listener of this.#listeners) listener();
  }

  clear() {
    this.set(NOWHERE);
  }

  /** @param {() => void} listener */
  subscribe(listener) {
    this.#listeners.add(listener);
  }
}
