// Lets a loader of models find out that its engine is in a Worker, without importing the Worker's client code.

/** @typedef {(name: string, ...args: unknown[]) => Promise<any>} LoaderThere */

/** Under it an engine of headwise/worker has what calls a loader of the Worker's by its name. */
export const loading = Symbol.for('headwise.loading');

/**
 * @param {any} hw
 * @returns {LoaderThere | undefined} undefined: it is no engine in a Worker
 */
export function loaderThere(hw) {
  try {
    return hw[loading];
  } catch {
    return undefined;
  }
}
