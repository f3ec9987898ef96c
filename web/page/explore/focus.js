/**
 * What the pointer or the keyboard is at, in all views at once: a query, a key, or a cell of both. Not kept in the
 * address.
 *
 * @typedef {{ query: number, key: number }} Place −1: none
 */

/** @type {Readonly<Place>} */
export const NOWHERE = Object.freeze({ query: -1, key: -1 });

export class Focus {
  /** @type {Place} */ #place = NOWHERE;
  /** @type {object | undefined} */ #owner;
  /** @type {Set<() => void>} */ #listeners = new Set();

  get place() {
    return this.#place;
  }

  /** @param {Partial<Place>} place what is left out is nowhere @param {object} owner the view that knows it */
  set(place, owner) {
    this.#owner = owner;
    const next = { ...NOWHERE, ...place };
    if (next.query === this.#place.query && next.key === this.#place.key) return;
    this.#place = next;
    for (const listener of this.#listeners) listener();
  }

  /**
   * Forgets the place, if it is still this view's: a pointer that leaves takes nothing from the keyboard elsewhere.
   *
   * @param {object} owner
   */
  clear(owner) {
    if (owner === this.#owner) this.set(NOWHERE, owner);
  }

  /** @param {() => void} listener */
  subscribe(listener) {
    this.#listeners.add(listener);
  }
}
