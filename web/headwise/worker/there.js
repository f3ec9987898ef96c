// How a loader of models finds out that its engine is in a Worker, without the code that talks to one.

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
