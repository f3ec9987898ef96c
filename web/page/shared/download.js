import { el } from './dom.js';

/** Lets the browser save a file. @param {Blob} blob @param {string} name */
export function download(blob, name) {
  const href = URL.createObjectURL(blob);
  el('a', { href, download: name }).click();
  URL.revokeObjectURL(href);
}
