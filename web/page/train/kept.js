/**
 * The run that this browser keeps, to be gone on with.
 *
 * @import { Settings } from './settings.js'
 * @import { Saved } from './trainer.js'
 *
 * @typedef {{ settings: Settings, saved: Saved }} Kept
 */

import { TASKS } from './settings.js';

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

/** Whether it counts the steps that a run has done. @param {unknown} step */
export const isStep = (step) => Number.isInteger(step) && Number(step) >= 0;

/** Whether it can be gone on with here: another version may have kept another task. @param {any} run @returns {run is Kept} */
const isRun = (run) =>
  TASKS.includes(run?.settings?.task) &&
  Number.isInteger(run.settings.seed) &&
  isStep(run.saved?.step);

/** @returns {Promise<Kept | undefined>} undefined: there is none, or this browser keeps nothing */
export async function keptRun() {
  try {
    const run = await use('readonly', (store) => store.get(KEY));
    return isRun(run) ? run : undefined;
  } catch {
    return undefined;
  }
}
