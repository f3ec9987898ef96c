// Reads a model's config and the headers of its weights from any source.
import { HeadwiseError } from '../checks/error.js';
import { copyArray, isAddress, isPlain, reading } from '../checks/foreign.js';
import { resolve } from '../engine/resolve.js';
import { FileCache } from '../formats/file-cache.js';
import { parseObject } from '../formats/json.js';
import { openSafetensors, readSafetensorsHeader } from '../formats/safetensors.js';
import { notThisKind, openReader, UnclearError } from '../formats/source.js';
import { AbsentError, changed, isFixed, PassingError } from '../formats/web-file.js';
import { openWeb, WebReader } from '../formats/web-reader.js';
import { partsOf, placeOf } from './places.js';
import { mostShards, shardNames } from './shard-names.js';

/** @typedef {import('../formats/safetensors.js').SafetensorsFile} SafetensorsFile */
/** @typedef {import('./places.js').Folder} Folder */

/**
 * How files are read.
 * @typedef {object} Reading
 * @property {AbortSignal | undefined} signal
 * @property {typeof globalThis.fetch | undefined} fetch default: the platform's
 * @property {boolean} isKept whether files of servers are kept in the browser's cache
 */

/**
 * A model whose config was read.
 * @typedef {object} OpenModel
 * @property {object} config what its config.json holds
 * @property {string} name what messages call that
 * @property {() => Promise<SafetensorsFile[]>} openFiles opens the weights: one file, or shards
 */

/** The largest size of a config. An index of shards may be larger. */
const longest = { config: 2 ** 20, index: 2 ** 25 };

/** Lists the shards. */
const indexName = 'model.safetensors.index.json';

/**
 * What messages call a source: by its own name, if it has one, else by the option's.
 * @param {any} source
 * @param {string} option
 */
function nameFor(source, option) {
  const named = () => isAddress(source) || source?.name || source?.url;
  return reading(named, option, 'a source') ? undefined : option;
}

/** @param {unknown} source @returns {Promise<URL | undefined>} undefined: it is no file on a server */
async function webAddress(source) {
  if (!isAddress(source)) {
    return undefined;
  }
  try {
    const url = await resolve(source);
    return /^https?:$/.test(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

/** @param {unknown} source @param {string} option @param {Reading} how */
async function openFile(source, option, { signal, fetch, isKept }) {
  signal?.throwIfAborted();
  const url = await webAddress(source);
  if (url === undefined) {
    return openReader(source, { name: nameFor(source, option), signal });
  }
  return openWeb(url, { fetch: fetch ?? globalThis.fetch, signal, isKept });
}

/**
 * @param {unknown} source
 * @param {'config' | 'index'} option
 * @param {Reading} how
 * @returns {Promise<{ values: Record<string, unknown>, name: string, commit?: string }>}
 */
async function readObject(source, option, how) {
  const reader = await openFile(source, option, how);
  try {
    const most = longest[option];
    const bytes = await reader.read(most + 1);
    const what = `a ${option === 'config' ? 'config.json' : indexName}`;
    if (bytes.length > most) {
      throw reader.formatError(`has more than ${most} bytes; expected ${what}`);
    }
    // A copy: TextDecoder takes no shared memory.
    const text = new TextDecoder().decode(bytes.slice());
    if (/^\s*</.test(text)) {
      throw notThisKind(reader, bytes, what);
    }
    /** @type {(problem: string, cause?: unknown) => Error} */
    const error = (problem, cause) => reader.formatError(problem, cause);
    return { values: parseObject(text, error), name: reader.name, commit: reader.commit };
  } finally {
    reader.close();
  }
}

/**
 * @param {unknown} source
 * @param {string} option
 * @param {Reading} how
 * @returns {Promise<{ file: SafetensorsFile, isResponse: boolean }>} isResponse: a server that gives no parts is sending all of it
 */
async function openWeights(source, option, how) {
  const url = await webAddress(source);
  if (url === undefined) {
    const named = { name: nameFor(source, option), signal: how.signal };
    return { file: await openSafetensors(/** @type {any} */ (source), named), isResponse: false };
  }
  const reader = await openFile(url, option, how);
  const file = await readSafetensorsHeader(reader);
  return { file, isResponse: !(reader instanceof WebReader) };
}

/** So many responses wait at most until they are read: browsers open six connections to a host. */
const mostWaiting = 4;

/** What a header says. @param {SafetensorsFile} file */
const contentsOf = ({ byteLength, tensors }) => JSON.stringify([byteLength, ...tensors]);

/**
 * A shard that is asked for again when it is read.
 * @param {SafetensorsFile} file closed
 * @param {() => Promise<SafetensorsFile>} open
 */
function openedLater(file, open) {
  file.close();
  const { name, tensors, byteLength } = file;
  /** @type {SafetensorsFile | undefined} */
  let again;
  return {
    ...{ name, tensors, byteLength },
    /** @param {import('../formats/safetensors.js').PiecesOptions} options */
    async *bytePieces(options) {
      again = await open();
      if (contentsOf(again) !== contentsOf(file)) {
        throw new HeadwiseError('ERR_LOAD', `${name}: ${changed}`);
      }
      yield* again.bytePieces(options);
    },
    close: () => again?.close(),
  };
}

/** Opens files one after another; after an error none is open. @param {readonly unknown[]} sources @param {Reading} how */
async function openShards(sources, how) {
  /** @type {SafetensorsFile[]} */
  const files = [];
  let waiting = 0;
  try {
    for (const [i, source] of sources.entries()) {
      const option = sources.length > 1 ? `weights[${i}]` : 'weights';
      const open = () => openWeights(source, option, how);
      const { file, isResponse } = await open();
      const isLater = isResponse && ++waiting > mostWaiting;
      const later = async () => (await open()).file;
      files.push(isLater ? /** @type {any} */ (openedLater(file, later)) : file);
    }
    return files;
  } catch (error) {
    files.forEach((file) => file.close());
    throw error;
  }
}

/** Weights that are not read, by the names that PyTorch and PEFT give them. */
const pickle = 'pytorch_model.bin';
const adapter = 'adapter_config.json';

/** What a folder of this machine, or a list of Files, is known to have. @param {Folder} folder @param {string} file */
const has = ({ isKnown = false, find }, file) => isKnown && find(file) !== undefined;

/** @param {Folder} folder @param {string} file */
function absent(folder, file) {
  const instead = has(folder, pickle)
    ? `, but ${pickle}, a pickle, which can run code (save_pretrained(…, safe_serialization=True) writes another)`
    : '';
  return new HeadwiseError(
    'ERR_LOAD',
    `${folder.name}: ${file} is not there${instead}; expected a folder with config.json and model.safetensors, or its shards and their index`,
  );
}

/** A model whose adapter is left out is another model. @param {Folder} folder @throws {HeadwiseError} ERR_FORMAT */
function refuseAdapter(folder) {
  if (has(folder, adapter)) {
    const problem = `${adapter} is of an adapter (LoRA); expected a model into which it is merged, as merge_and_unload() does`;
    throw new HeadwiseError('ERR_FORMAT', `${folder.name}: ${problem}`);
  }
}

/** @param {Folder} folder @param {string} file */
function mustFind(folder, file) {
  const source = folder.find(file);
  if (source === undefined) {
    throw absent(folder, file);
  }
  return source;
}

/**
 * The names of the shards: those in the index, or without one all that a list of Files has.
 * @param {Folder} folder
 * @param {Reading} how
 * @param {unknown} unclear why model.safetensors may not be there
 */
async function listShards(folder, how, unclear) {
  const index = folder.find(indexName);
  const files = folder.files?.filter((name) => name.endsWith('.safetensors')) ?? [];
  if (index === undefined && files.length > 0) {
    return files.sort();
  }
  if (index === undefined) {
    throw unclear ?? absent(folder, 'model.safetensors');
  }
  const { values, name } = await readObject(index, 'index', how).catch((error) => {
    const own = error instanceof AbsentError ? absent(folder, 'model.safetensors') : error;
    throw own !== error || error instanceof UnclearError ? (unclear ?? own) : error;
  });
  return shardNames(values, name);
}

/**
 * Whether the browser's cache has the index of this commit: it was kept because there is no model.safetensors.
 * @param {Folder} folder
 * @param {Reading} how
 */
async function isKnownSharded(folder, { signal, isKept }) {
  const url = await webAddress(folder.find(indexName));
  if (!isKept || url === undefined || !isFixed(url)) {
    return false;
  }
  const cache = await FileCache.open(url.href, signal);
  return (await cache.match('head')) !== undefined;
}

/**
 * The names of the shards by an index in the browser's cache: whether there is a model.safetensors cannot be known now.
 * @param {Folder} folder
 * @param {Reading} how
 * @param {PassingError} error why not, for want of such an index
 */
async function listKeptShards(folder, how, error) {
  const fetch = () => Promise.reject(error);
  try {
    return await listShards(folder, { ...how, fetch }, undefined);
  } catch {
    how.signal?.throwIfAborted();
    throw error;
  }
}

/**
 * @param {Folder} folder
 * @param {Reading} how
 * @param {unknown} error why model.safetensors cannot be opened
 */
function shardsInstead(folder, how, error) {
  if (error instanceof PassingError) {
    return listKeptShards(folder, how, error);
  }
  if (error instanceof UnclearError || error instanceof AbsentError) {
    return listShards(folder, how, error instanceof UnclearError ? error : undefined);
  }
  throw error;
}

/** @param {Folder} folder @param {Reading} how @returns {Promise<SafetensorsFile[]>} */
async function openFolderWeights(folder, how) {
  const isSharded = await isKnownSharded(folder, how);
  const whole = isSharded ? undefined : folder.find('model.safetensors');
  let names;
  if (whole === undefined) {
    names = await listShards(folder, how, undefined);
  } else {
    try {
      const { file } = await openWeights(whole, 'weights', how);
      return [file];
    } catch (error) {
      names = await shardsInstead(folder, how, error);
    }
  }
  const shards = names.map((shard) => mustFind(folder, shard));
  return openShards(shards, how);
}

/** @param {Folder} folder @param {Reading} how @returns {Promise<OpenModel>} */
async function openFolder(folder, how) {
  refuseAdapter(folder);
  const configRead = readObject(mustFind(folder, 'config.json'), 'config', how);
  const found = await configRead.catch((error) => {
    throw error?.code === 'ERR_LOAD' && folder.hint !== undefined
      ? new HeadwiseError('ERR_LOAD', `${error.message} (${folder.hint})`, { cause: error.cause })
      : error;
  });
  const { values: config, name, commit } = found;
  // What belongs together is read of one commit, even if another one comes meanwhile.
  const same = commit === undefined ? undefined : folder.at?.(commit);
  return { config, name, openFiles: () => openFolderWeights(same ?? folder, how) };
}

/**
 * @param {unknown} config a source, or what the file holds
 * @param {unknown} weights a source, or a list of them
 * @param {Reading} how
 * @returns {Promise<OpenModel>}
 */
export async function openParts(config, weights, how) {
  const isHeld = reading(() => isPlain(config), 'config', 'a source or an object');
  const given = copyArray(weights, mostShards) ?? [weights];
  if (given.length === 0) {
    throw new HeadwiseError('ERR_VALUE', 'weights is []; expected a source, or a list of shards');
  }
  // What addresses are relative to may change while the config comes.
  const sources = [config, ...given];
  const urls = await Promise.all(sources.map(webAddress));
  const [configAt, ...shards] = sources.map((source, i) => urls[i] ?? source);
  const { values, name } = isHeld
    ? { values: /** @type {any} */ (config), name: 'config.json' }
    : await readObject(configAt, 'config', how);
  return { config: values, name, openFiles: () => openShards(shards, how) };
}

/**
 * Reads a model's config from any source.
 * @param {unknown} source as loadModel takes it
 * @param {string} revision of a model on the hub
 * @param {Reading} how
 * @returns {Promise<OpenModel>}
 * @throws {HeadwiseError} ERR_VALUE: no such source; ERR_LOAD: a file cannot be loaded; ERR_FORMAT: another format; an abort's reason
 */
export async function openModel(source, revision, how) {
  // Before any wait: what addresses are relative to may change.
  const parts = partsOf(source);
  return parts === undefined
    ? openFolder(await placeOf(source, revision), how)
    : openParts(parts.config, parts.weights, how);
}
