/**
 * The files in .zip archives: models, and what Train saved.
 *
 * @import { UnzipFileInfo } from 'fflate'
 * @import { Found } from './dropped.js'
 */

import { unzip, unzipSync } from 'fflate';
import { PageError } from './errors.js';
import { formatCount } from './format.js';

/** An archive is unpacked in memory, as a whole. */
const MOST_BYTES = 2 ** 30;
const MOST_FILES = 2000;

/** What is read of a model or of tensors. The names of other files are enough to say why they are not. */
const READ = /\.(json|txt|npy|safetensors)$/i;

/** @param {string} problem */
const refusal = (problem) => new PageError('ERR_FORMAT', problem);

/** @param {number} bytes */
const inMiB = (bytes) => `${formatCount(Math.round(bytes / 2 ** 20))} MiB`;

/** @param {string} name @param {number} bytes */
const tooLarge = (name, bytes) =>
  refusal(
    `${name} holds ${inMiB(bytes)}; at most ${inMiB(MOST_BYTES)} are unpacked here. Unpack it and open the folder.`,
  );

/** @param {string} name @param {unknown} error */
const broken = (name, error) =>
  refusal(`${name} cannot be unpacked: ${/** @type {Error} */ (error).message}.`);

/** Folders, and what systems add. @param {string} path */
const isMeant = (path) => !path.endsWith('/') && !path.startsWith('__MACOSX/');

/** @param {Uint8Array} bytes @param {string} name @returns {UnzipFileInfo[]} of each file, before any is unpacked */
function listed(bytes, name) {
  /** @type {UnzipFileInfo[]} */
  const infos = [];
  const filter = (/** @type {UnzipFileInfo} */ info) => {
    if (infos.length === MOST_FILES) {
      throw refusal(`There are more than ${MOST_FILES} files in ${name}.`);
    }
    infos.push(info);
    return false;
  };
  try {
    unzipSync(bytes, { filter });
  } catch (error) {
    throw error instanceof PageError ? error : broken(name, error);
  }
  return infos.filter((info) => isMeant(info.name));
}

/**
 * @param {Uint8Array} bytes
 * @param {Set<string>} wanted names
 * @param {AbortSignal} [signal]
 * @returns {Promise<Record<string, Uint8Array>>}
 */
const unpacked = (bytes, wanted, signal) =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      end();
      reject(signal?.reason);
    };
    const end = unzip(bytes, { filter: (info) => wanted.has(info.name) }, (error, files) => {
      signal?.removeEventListener('abort', stop);
      if (error) reject(error);
      else resolve(files);
    });
    signal?.addEventListener('abort', stop);
  });

/** A folder that has the archive's own name is the archive. @param {string} archive its path @param {string} path of a file in it */
function pathIn(archive, path) {
  const own = `${archive.slice(archive.lastIndexOf('/') + 1).replace(/\.zip$/i, '')}/`;
  return `${archive}/${path.startsWith(own) ? path.slice(own.length) : path}`;
}

/** @param {Found} archive @param {AbortSignal} [signal] @returns {Promise<Found[]>} in a folder of the archive's name */
async function filesIn({ path: archive, file }, signal) {
  const { name } = file;
  if (file.size > MOST_BYTES) throw tooLarge(name, file.size);
  const bytes = new Uint8Array(await file.arrayBuffer());
  const infos = listed(bytes, name);
  const read = infos.filter((info) => READ.test(info.name));
  // What is unpacked has the sizes that are written here: a file that is longer ends there.
  const total = read.reduce((sum, { originalSize }) => sum + originalSize, 0);
  if (total > MOST_BYTES) throw tooLarge(name, total);
  const wanted = new Set(read.map((info) => info.name));
  const files = await unpacked(bytes, wanted, signal).catch((error) => {
    throw signal?.aborted ? error : broken(name, error);
  });
  const short = read.find((info) => files[info.name]?.length !== info.originalSize);
  if (short) throw broken(name, new Error(`${short.name} is incomplete`));
  return infos.map(({ name: path }) => {
    const parts = wanted.has(path) ? [/** @type {BlobPart} */ (files[path])] : [];
    return { path: pathIn(archive, path), file: new File(parts, path.split('/').at(-1) ?? path) };
  });
}

/**
 * Archives become their files; what is none stays.
 *
 * @param {Found[]} found
 * @param {AbortSignal} [signal]
 * @returns {Promise<Found[]>}
 * @throws {PageError} ERR_FORMAT: an archive is broken, or larger than is unpacked
 */
export async function unzipped(found, signal) {
  /** @type {Found[]} */
  const all = [];
  for (const one of found) {
    if (/\.zip$/i.test(one.file.name)) all.push(...(await filesIn(one, signal)));
    else all.push(one);
  }
  return all;
}
