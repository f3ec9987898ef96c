import { noAddress } from './hints.js';

/** Whether Node's own modules are available. */
export const isNode =
  typeof globalThis.process === 'object' && Boolean(globalThis.process.versions?.node);

/**
 * A module of Node's own, under a name that no bundler follows: browsers never get here.
 * @param {string} name
 * @returns {Promise<any>}
 */
export const importNode = (name) =>
  import(/* @vite-ignore */ /* webpackIgnore: true */ ['node', name].join(':'));

/**
 * Starts a Worker of Node's, from a file beside the caller's.
 * @param {string | undefined} caller its import.meta.url, which a CommonJS bundle has not
 * @param {string} name of the file
 * @returns {Promise<any>}
 */
export async function startNodeWorker(caller, name) {
  if (!isNode) {
    throw new Error('this runtime has no Worker');
  }
  if (caller === undefined) {
    throw new Error(noAddress);
  }
  const { Worker } = await importNode('worker_threads');
  return new Worker(new URL(caller.replace(/[^/]*$/, name)), { execArgv: [] });
}
