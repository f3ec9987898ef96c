/**
 * Runs in saved folders: written as a .zip, and read from it or from the folder that was in it.
 *
 * @import { Found } from '../shared/dropped.js'
 * @import { Kept } from './kept.js'
 * @import { HeadName, Saved } from './trainer.js'
 */

import { strFromU8, unzipSync, zipSync } from 'fflate';
import { readSafetensors } from '../../headwise/formats.js';
import { PageError, withStop } from '../shared/errors.js';
import { mutedName } from './files.js';
import { parseTrain } from './settings.js';

/** What tells a saved run from any other folder. */
const TOLD = 'training.json';

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

/** @param {Blob} file */
const bytesOf = async (file) => new Uint8Array(await file.arrayBuffer());

/** @param {string} path @param {string} name */
const isNamed = (path, name) => path.split('/').at(-1) === name;

/** @param {Found} one */
const isZip = ({ path }) => /\.zip$/i.test(path);

/** What gives the bytes of a run's file by its name. @param {Found[]} found */
async function readerOf(found) {
  const told = found.find(({ path }) => isNamed(path, TOLD))?.path;
  const zip = told === undefined && found.find(isZip);
  const entries = zip ? unzipSync(await bytesOf(zip.file)) : {};
  const paths = [...Object.keys(entries), ...found.map(({ path }) => path)];
  const folder = paths.find((path) => isNamed(path, TOLD))?.slice(0, -TOLD.length);
  return (/** @type {string} */ name) => {
    const path = folder === undefined ? undefined : folder + name;
    const file = found.find((one) => one.path === path)?.file;
    if (file) return bytesOf(file);
    if (path === undefined || !(path in entries)) throw new Error(`it has no ${name}`);
    return entries[path];
  };
}

/** Refuses more than one run: only one could be gone on with. @param {Found[]} found */
function checkOne(found) {
  const runs = found.filter((one) => isZip(one) || isNamed(one.path, TOLD));
  if (runs.length < 2) return;
  const paths = runs.map(({ path }) => path).join(', ');
  throw new PageError(
    'ERR_FORMAT',
    `There are ${runs.length} saved runs (${paths}). Open one of them.`,
  );
}

/** What is opened, in a word; an empty folder brings no file. @param {Found | undefined} first of what was found */
const nameOf = (first) => (first ? `${first.path.split('/', 1)[0]}: ` : '');

/**
 * A run out of a folder that was saved.
 *
 * @param {Found[]} found its .zip, or the files of the folder
 * @returns {Promise<Kept>}
 * @throws {PageError} ERR_FORMAT: it is none, or there are several
 */
export async function readSaved(found) {
  checkOne(found);
  try {
    const read = await readerOf(found);
    const told = JSON.parse(strFromU8(await read(TOLD)));
    const { address, text, step, muted: heads = [], wasMuted = false } = told;
    const { settings } = parseTrain(new URLSearchParams(String(address)));
    const weights = await plainTensors(await read('model.safetensors'));
    const optimizer = await plainTensors(await read('optimizer.safetensors'));
    const muted = heads.map((/** @type {HeadName} */ head) => {
      const name = mutedName(head);
      const { [name]: rows } = optimizer;
      if (rows === undefined) throw new Error(`optimizer.safetensors has no ${name}`);
      delete optimizer[name];
      return { head, rows: rows.data };
    });
    const saved = { step, weights, optimizer, muted, wasMuted };
    return { settings: { ...settings, text: String(text) }, saved };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const words = `${nameOf(found[0])}This is not a folder that was saved here: ${why}`;
    throw new PageError('ERR_FORMAT', withStop(words));
  }
}
