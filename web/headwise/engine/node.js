import { noAddress } from './hints.js';

/** @type {(NodeJS.Process & { type?: string }) | undefined} */
const host = globalThis.process;

/** Whether Node's own modules are available: not in a page of Electron, which may have `process`. */
export const isNode = Boolean(host?.versions?.node) && host?.type !== 'renderer';

/**
 * A module of Node's own, under a name that no bundler follows: browsers never get here.
 * @param {string} name
 * @returns {Promise<any>}
 */
export const importNode = (name) =>
  import(/* @vite-ignore */ /* webpackIgnore: true */ ['node', name].join(':'));

/**
 * Starts a Worker of Node's.
 * @param {string | undefined} script
 * @returns {Promise<any>}
 */
async function startNodeWorker(script) {
  if (!isNode) {
    throw new Error('this runtime has no Worker');
  }
  if (script === undefined) {
    throw new Error(noAddress);
  }
  const { Worker } = await importNode('worker_threads');
  return new Worker(new URL(script), { execArgv: [] });
}

/** What a script of another origin is imported by: an address each. @type {Record<string, string>} */
const importing = {};

/** A Worker's script has the page's origin, but may import one of another. @param {string} script @returns {string} */
const importerOf = (script) =>
  (importing[script] ??= URL.createObjectURL(
    new Blob([`import ${JSON.stringify(script)}`], { type: 'text/javascript' }),
  ));

/**
 * Starts a Worker of the browser or of Node, from a file beside the caller's.
 * @param {string | undefined} caller its import.meta.url, which a CommonJS bundle has not
 * @param {string} name of the file
 * @param {() => Worker} start in a browser; the address is written out there, so that bundlers follow it
 * @returns {Promise<any>}
 */
export async function startWorker(caller, name, start) {
  const script = caller?.replace(/[^/]*$/, name);
  if (globalThis.Worker === undefined) {
    return startNodeWorker(script);
  }
  // Bundlers may leave no address, or a file's, which has no origin.
  return script?.startsWith('http') && new URL(script).origin !== globalThis.origin
    ? new Worker(importerOf(script), { type: 'module' })
    : start();
}
