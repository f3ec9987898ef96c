/** What is to be let go of when a call is over. @typedef {(() => void)[]} Scope */

/** @param {Scope} scope */
export const leave = (scope) => scope.splice(0).forEach((letGo) => letGo());

/** What one side holds for the other, which names it by numbers. */
export class Held {
  #lastId = 0;
  /** @type {Map<number, any>} */
  #objects;
  /** Reasons of aborts that came from the other side, and the signals that they are of. @type {WeakMap<object, number>} */
  reasons = new WeakMap();

  /** @param {object | undefined} root what the other side begins with: 0 */
  constructor(root) {
    this.#objects = new Map([[0, root]]);
  }

  /** @param {unknown} object @returns {number} its number */
  hold(object) {
    this.#objects.set(++this.#lastId, object);
    return this.#lastId;
  }

  /** @param {number} id below 0, chosen by the other side @param {unknown} object */
  keep(id, object) {
    this.#objects.set(id, object);
  }

  /** @param {number} id */
  has(id) {
    return this.#objects.has(id);
  }

  /** @param {number} id */
  get(id) {
    return this.#objects.get(id);
  }

  /** @param {number} id @returns {any} what was held */
  letGo(id) {
    const object = this.#objects.get(id);
    this.#objects.delete(id);
    return object;
  }
}
