/**
 * Runs that can be gone on with: one that this browser keeps, and those in saved folders.
 *
 * @import { Settings } from './settings.js'
 * @import { HeadName, Saved } from './trainer.js'
 *
 * @typedef {{ settings: Settings, saved: Saved }} Kept
 */

import { strFromU8, unzipSync, zipSync } from 'fflate';
import { readSafetensors } from '../../headwise/formats.js';
import { PageError } from '../shared/errors.js';
import { mutedName } from './files.js';
import { parseTrain } from './settings.js';

const [DATABASE, STORE, KEY] = ['headwise-train', 'runs', 'latest'];

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const answered = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** What was written may still be refused, where there is no room. @param {IDBTransaction} transaction @returns {Promise<void>} */
const completed = (transaction) =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });

/** @template T @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest<T>} act */
async function use(mode, act) {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  const database = await answered(opening);
  try {
    const transaction = database.transaction(STORE, mode);
    const [result] = await Promise.all([
      answered(act(transaction.objectStore(STORE))),
      completed(transaction),
    ]);
    return result;
  } finally {
    database.close();
  }
}

/** Keeps a run in place of the one before. @param {Kept} run */
export const keep = (run) => use('readwrite', (store) => store.put(run, KEY));

/** @returns {Promise<Kept | undefined>} undefined: there is none, or this browser keeps nothing */
export async function keptRun() {
  try {
    return await use('readonly', (store) => store.get(KEY));
  } catch {
    return undefined;
  }
}

/** @param {Record<string, Uint8Array<ArrayBuffer>>} files by name @param {string} folder */
export function zipOf(files, folder) {
  const named = Object.entries(files).map(([name, bytes]) => [`${folder}/${name}`, bytes]);
  return new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (zipSync(Object.fromEntries(named)))]);
}

/** @param {Uint8Array} bytes of a .safetensors file */
async function plainTensors(bytes) {
  const { tensors } = await readSafetensors(new Uint8Array(bytes));
  return /** @type {Saved['weights']} */ (
    Object.fromEntries(
      Object.entries(tensors).map(([name, { data, shape }]) => [name, { data, shape }]),
    )
  );
}

/**
 * A run out of a folder that was saved.
 *
 * @param {Blob} file
 * @returns {Promise<Kept>}
 * @throws {PageError} ERR_FORMAT: it is none
 */
export async function readZip(file) {
  try {
    const files = unzipSync(new Uint8Array(await file.arrayBuffer()));
    const find = (/** @type {string} */ name) => {
      const path = Object.keys(files).find((one) => one.split('/').at(-1) === name);
      if (path === undefined) throw new Error(`it has no ${name}`);
      return files[path];
    };
    const told = JSON.parse(strFromU8(find('training.json')));
    const { address, text, step, muted: heads = [], wasMuted = false } = told;
    const { settings } = parseTrain(new URLSearchParams(String(address)));
    const weights = await plainTensors(find('model.safetensors'));
    const optimizer = await plainTensors(find('optimizer.safetensors'));
    const muted = heads.map((/** @type {HeadName} */ head) => {
      const { [mutedName(head)]: rows } = optimizer;
      delete optimizer[mutedName(head)];
      return { head, rows: rows.data };
    });
    const saved = { step, weights, optimizer, muted, wasMuted };
    return { settings: { ...settings, text: String(text) }, saved };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new PageError('ERR_FORMAT', `This is not a folder that was saved here: ${why}.`);
  }
}
