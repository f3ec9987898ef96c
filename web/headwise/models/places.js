// The place of a model's files: a folder on a server or on this machine, Hugging Face's hub, Files, or each file alone.
import { resolve } from '../engine/resolve.js';
import { importNode, isNode } from '../engine/node.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { copyArray, isAddress, isOf, isPlain, reading, tagOf } from '../checks/foreign.js';
import { shortened } from '../formats/shortened.js';

/** @typedef {import('../formats/source.js').Source} Source */

/**
 * What finds a model's files by their names.
 * @typedef {object} Folder
 * @property {string} name what messages call it
 * @property {(file: string) => Source | undefined} find undefined: it is not there. An address may be found and not answer
 * @property {(commit: string) => Folder} [at] of the hub: the same as it was at a commit
 * @property {string} [hint] what else may have been meant
 * @property {boolean} [isKnown] whether find tells what is not there
 * @property {readonly string[]} [files] the names of all files, if they are known
 */

const hub = 'https://huggingface.co/';

/** `org/name`, or a name alone; not ./name, which is a path. */
const id = /^(?!\.+(\/|$))[\w.-]+(\/[\w.-]+)?$/;

const expected =
  "a Hugging Face id ('org/name'), an address or path of a folder or its config.json, { config, weights } or a list of Files";

/** A model on the hub, maybe a folder or a file of a revision: what one copies from the browser. */
const page = new RegExp(
  String.raw`^https://(?:www\.)?(?:huggingface\.co|hf\.co)/((?:[\w.-]+/)?(?!(?:tree|blob|resolve)/)[\w.-]+)` +
    String.raw`(?:/(tree|blob|resolve)/([^/?#]+)(/[^?#]*)?)?/?(?:[?#].*)?$`,
);

/** A path up to its last slash. A regular expression takes quadratic time for it. @param {string} path */
const upToSlash = (path) => path.slice(0, path.lastIndexOf('/') + 1);

/** @param {URL} url of a folder, or of a file in it @returns {Folder} */
function folderAt(url) {
  const base = new URL(url);
  base.pathname = /\.(json|safetensors)$/.test(base.pathname)
    ? upToSlash(base.pathname)
    : base.pathname.replace(/\/?$/, '/');
  const find = (/** @type {string} */ file) => {
    const found = new URL(base);
    found.pathname += file.split('/').map(encodeURIComponent).join('/');
    return found;
  };
  return { name: shortened(base.href), find };
}

/**
 * @param {string} name of a model
 * @param {string} revision
 * @param {string} [path] of a folder in it, or of a file there
 * @returns {Folder}
 */
const hubFolder = (name, revision, path = '/') => ({
  ...folderAt(new URL(`${name}/resolve/${encodeURIComponent(revision)}${path}`, hub)),
  at: (commit) => hubFolder(name, commit, path),
});

/** @param {string | URL} path in Node @returns {Promise<boolean>} */
async function isThere(path) {
  const { existsSync } = await importNode('fs');
  return existsSync(path);
}

/** A folder of this machine, in Node: what is not there is known. @param {Folder} folder @returns {Promise<Folder>} */
async function onDisk({ name, find }) {
  const { existsSync } = await importNode('fs');
  const findThere = (/** @type {string} */ file) => {
    const url = find(file);
    return existsSync(url) ? url : undefined;
  };
  return { name, find: findThere, isKnown: true };
}

/** Where a File lies in the folder that was chosen; '' if that is not known. @param {any} file @returns {string} */
const folderOfFile = ({ webkitRelativePath: path = '' }) => upToSlash(path);

/**
 * The outermost folder that has a config.json: others, such as 1_Pooling, may have one of their own.
 * @param {readonly any[]} files
 * @returns {Folder}
 */
function folderOf(files) {
  // A File of Bun's is a Blob by its tag.
  const isFile = (/** @type {any} */ file) =>
    isOf(file, 'File', 'Blob') && typeof (/** @type {any} */ (file).name) === 'string';
  const bad = files.findIndex((file) => !isFile(file));
  if (bad >= 0) {
    throw misfit(files[bad], `source[${bad}]`, 'a File');
  }
  const depth = (/** @type {string} */ folder) => folder.split('/').length;
  const [own] = files
    .filter(({ name }) => name === 'config.json')
    .map(folderOfFile)
    .sort((a, b) => depth(a) - depth(b));
  const inIt = files.filter((file) => own === undefined || folderOfFile(file) === own);
  const byName = new Map(inIt.map((file) => [file.name, file]));
  const find = (/** @type {string} */ file) => byName.get(file);
  return { name: 'the files', find, isKnown: true, files: [...byName.keys()] };
}

/** The most Files that a model's folder has. */
const mostFiles = 4096;

/** @param {any} source an array, or a FileList @returns {any[] | undefined} */
const listOf = (source) =>
  tagOf(source) === 'FileList'
    ? Array.from(/** @type {any} */ (source))
    : copyArray(source, mostFiles);

/**
 * Config and weights, each alone; undefined: the source is a folder.
 * @param {unknown} source as loadModel takes it
 * @returns {{ config: unknown, weights: unknown } | undefined}
 * @throws {HeadwiseError} ERR_VALUE
 */
export function partsOf(source) {
  const read = () => {
    const given = /** @type {any} */ (source);
    return isPlain(given) ? { config: given.config, weights: given.weights } : undefined;
  };
  return reading(read, 'source', expected);
}

/**
 * @param {unknown} source as loadModel takes it
 * @param {string} revision of a model on the hub
 * @returns {Promise<Folder>}
 * @throws {HeadwiseError} ERR_VALUE
 */
export async function placeOf(source, revision) {
  const files = reading(() => listOf(source), 'source', expected);
  if (files !== undefined) {
    return reading(() => folderOf(files), 'source', expected);
  }
  if (isAddress(source)) {
    const text = reading(() => String(source), 'source', expected);
    if (text.trim() === '') {
      throw misfit(source, 'source', expected);
    }
    const isId = typeof source === 'string' && id.test(text) && !text.endsWith('.json');
    if (isId && !(isNode && (await isThere(text)))) {
      const hint = isNode ? `and there is no folder ${shortened(text)} here` : undefined;
      return { ...hubFolder(text, revision), hint };
    }
    try {
      const url = await resolve(text);
      const [, name, kind, branch = revision, path] = page.exec(url.href) ?? [];
      if (name !== undefined && !name.endsWith('.json')) {
        // A blob is a file: what counts is its folder.
        const own = kind === 'blob' && path !== undefined ? upToSlash(path) : path;
        return hubFolder(name, decodeURIComponent(branch), own);
      }
      const folder = folderAt(url);
      return isNode && url.protocol === 'file:' ? await onDisk(folder) : folder;
    } catch (cause) {
      const problem = `source is ${shortened(text)}; expected ${expected}`;
      throw new HeadwiseError('ERR_VALUE', problem, { cause });
    }
  }
  throw misfit(source, 'source', expected);
}
