/**
 * The files that were dropped or chosen, folders with all that is in them.
 *
 * @typedef {{ path: string, file: File }} Found path: from the folder that was opened, or the file's name
 */

import { PageError } from './errors.js';

/** Deeper, and more, a model's folder has not. */
const MOST_DEEP = 4;
const MOST_FILES = 2000;

/** @param {FileSystemDirectoryReader} reader @returns {Promise<FileSystemEntry[]>} some; none: that was all */
const someOf = (reader) => new Promise((resolve, reject) => reader.readEntries(resolve, reject));

/** @param {FileSystemEntry} entry @param {Found[]} found is added to @param {number} depth */
async function walk(entry, found, depth) {
  if (found.length > MOST_FILES) {
    throw new PageError(
      'ERR_FORMAT',
      `There are more than ${MOST_FILES} files in it; drop the model’s own folder.`,
    );
  }
  if (entry.isFile) {
    const one = /** @type {FileSystemFileEntry} */ (entry);
    const file = await new Promise((resolve, reject) => one.file(resolve, reject));
    found.push({ path: entry.fullPath.replace(/^\//, ''), file });
    return;
  }
  if (depth === MOST_DEEP) return;
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  for (let some = await someOf(reader); some.length > 0; some = await someOf(reader)) {
    for (const inner of some) await walk(inner, found, depth + 1);
  }
}

/**
 * @param {DataTransfer} transfer of a drop; read before this returns, as browsers empty it then
 * @returns {Promise<Found[]>}
 */
export function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  const files = listedFiles(transfer.files);
  const isWalked = entries.some((entry) => entry?.isDirectory);
  if (!isWalked) return Promise.resolve(files);
  /** @type {Found[]} */
  const found = [];
  const all = async () => {
    for (const entry of entries) if (entry) await walk(entry, found, 0);
    return found;
  };
  return all();
}

/** @param {FileList} list of a drop or an input @returns {Found[]} */
export const listedFiles = (list) =>
  [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
