// Generators whose values take long: where they can be interrupted, so that a Worker hears signals meanwhile.

/** What such a generator yields when it has no value yet. */
export const pending = Symbol('pending');

/** @type {WeakMap<object, Generator<any, void, void>>} */
const steps = new WeakMap();

/**
 * A generator without the pending steps.
 * @template T
 * @param {Generator<T | typeof pending, void, void>} generator
 * @returns {Generator<T, void, void>}
 */
export function withoutSteps(generator) {
  const values = (function* () {
    try {
      for (const value of generator) {
        if (value !== pending) {
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
