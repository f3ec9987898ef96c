// Generators whose values take long: where they can be interrupted, so that a Worker hears signals meanwhile.

/** What such a generator yields when it has no value yet. */
export const noValueYet = Symbol();

/** @type {WeakMap<object, Generator<any, void, void>>} */
const steps = new WeakMap();

/**
 * A generator of the values alone.
 * @template T
 * @param {Generator<T | typeof noValueYet, void, void>} generator
 * @returns {Generator<T, void, void>}
 */
export function withoutSteps(generator) {
  const values = (function* () {
    try {
      for (const value of generator) {
        if (value !== noValueYet) {
          yield /** @type {T} */ (value);
        }
      }
    } finally {
      generator.return();
    }
  })();
  steps.set(values, generator);
  return values;
}

/**
 * The same with its steps, for one who calls it in place of the other.
 * @param {object} generator
 */
export const stepsOf = (generator) => steps.get(generator);
