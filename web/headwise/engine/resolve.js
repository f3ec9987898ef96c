// Addresses that callers give, and what relative ones are relative to.
import { importNode, isNode } from './node.js';

/** Two letters at least: Windows has C:\\. */
const hasScheme = (/** @type {string} */ address) => /^[a-z][a-z\d+.-]+:/i.test(address);

/** What addresses are relative to, where they come from elsewhere. @type {string | undefined} */
let givenBase;

/** In a Worker of the package: the page's. @param {string | undefined} base */
export function setBase(base) {
  givenBase = base;
}

/** What addresses are relative to; nothing in Node. */
export const baseOf = () => givenBase ?? globalThis.document?.baseURI ?? globalThis.location?.href;

/**
 * @param {URL | string} address as seen from the page or Worker; in Node, a path from the working directory too
 * @returns {Promise<URL>}
 * @throws {TypeError} not an address
 */
export async function resolve(address) {
  const base = baseOf();
  if (isNode && base === undefined && typeof address === 'string' && !hasScheme(address)) {
    return (await importNode('url')).pathToFileURL(address);
  }
  return new URL(address, base);
}
