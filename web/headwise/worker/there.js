// Lets a loader of models find out that its engine is in a Worker, and what takes a model that this is, without importing the
// Worker's client code.

/** @typedef {(name: string, ...args: unknown[]) => Promise<any>} LoaderThere */

/** Under it an object of headwise/worker has what calls a function of the Worker's by its name, with the object and more. */
export const loading = Symbol.for('headwise.loading');

/**
 * @param {any} hw
 * @returns {LoaderThere | undefined} undefined: it is not in a Worker
 */
export function loaderThere(hw) {
  try {
    return hw[loading];
  } catch {
    return undefined;
  }
}
