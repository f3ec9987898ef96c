/**
 * Runs in saved folders: written as a .zip, and read from it or from the folder that was in it.
 *
 * @import { Found } from '../shared/dropped.js'
 * @import { HeadName } from '../shared/head-names.js'
 * @import { Kept } from './kept.js'
 * @import { Saved } from './trainer.js'
 */

import { strFromU8, zipSync } from 'fflate';
import { readSafetensors } from '../../headwise/formats.js';
import { PageError, withStop } from '../shared/errors.js';
import { unzipped } from '../shared/unzip.js';
import { mutedName } from './files.js';
import { isStep } from './kept.js';
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

/** What gives the bytes of a run's file by its name. @param {Found[]} files */
function readerOf(files) {
  const folder = files.find(({ path }) => isNamed(path, TOLD))?.path.slice(0, -TOLD.length);
  return (/** @type {string} */ name) => {
    const file = files.find(({ path }) => path === folder + name)?.file;
    if (folder === undefined || !file) throw new Error(`it has no ${name}`);
    return bytesOf(file);
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
 * @throws {PageError} ERR_FORMAT: it is none, there are several, or the .zip is broken or too large
 */
export async function readSaved(found) {
  checkOne(found);
  const files = await unzipped(found);
  try {
    const read = readerOf(files);
    const told = JSON.parse(strFromU8(await read(TOLD)));
    const { address, text, step, muted: heads = [], wasMuted = false, loss } = told;
    if (!isStep(step)) throw new Error(`${TOLD} names no step`);
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
    const known = typeof loss === 'number' ? loss : undefined;
    const saved = { step, weights, optimizer, muted, wasMuted, loss: known };
    return { settings: { ...settings, text: String(text) }, saved };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const words = `${nameOf(found[0])}This is not a folder that was saved here: ${why}`;
    throw new PageError('ERR_FORMAT', withStop(words));
  }
}
