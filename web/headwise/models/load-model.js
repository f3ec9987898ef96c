import { checkFunction, checkOptions, checkSignal, oneOf } from '../checks/check.js';
import { misfit } from '../checks/error.js';
import { matrixType } from '../engine/abi.js';
import { baseOf } from '../engine/resolve.js';
import { checkEngine } from '../engine/given-engine.js';
import { dtypes } from '../formats/convert.js';
import { loaderThere } from '../worker/there.js';
import { readModelConfig } from './config.js';
import { Decoder } from './decoder.js';
import { Encoder } from './encoder.js';
import { fillModel, weightTypes } from './load-tensors.js';
import { namesOf } from './names.js';
import { openModel } from './open-model.js';

/** @typedef {import('../engine/headwise.js').Headwise} Headwise */
/** @typedef {import('../formats/source.js').Source} Source */
/** @typedef {import('../formats/safetensors.js').SafetensorsFile} SafetensorsFile */
/** @typedef {import('./lay-model.js').MatrixType} MatrixType */

/**
 * The files of a model, each alone.
 * @typedef {object} ModelParts
 * @property {Source | object} config config.json, or what it holds
 * @property {Source | readonly Source[]} weights model.safetensors, or its shards
 */

/**
 * The place of a model, one of:
 * - a Hugging Face id such as 'org/name', or the address of its page there, of a folder in it (`…/tree/main/folder`) or of a file
 *   (`…/blob/main/config.json`);
 * - the address of a folder elsewhere, or of a file in it; in Node also a path;
 * - the files of a folder: a list of Files, or the FileList of an input;
 * - config and weights, each alone. Weights may be a list of shards.
 * @typedef {string | URL | readonly File[] | { readonly length: number, item(index: number): File | null } | ModelParts} ModelSource
 * @property length of a FileList
 * @property item of a FileList
 */
// A FileList is written out, since Node's types do not have the name.

/**
 * Options of `loadModel`.
 * @typedef {object} LoadModelOptions
 * @property {'auto' | MatrixType} [dtype] type of the matrices in memory, embeddings included. Default 'auto': the type that most
 *   weights of the file have. 'int8': a byte for each weight and a scale for each row
 * @property {string} [revision] of a Hugging Face id: a branch, tag or commit; default 'main'
 * @property {(progress: { loaded: number, total: number }) => void} [onProgress] gets the bytes of the weights read so far
 * @property {AbortSignal} [signal] aborts the loading
 * @property {typeof globalThis.fetch} [fetch] replaces the platform's, for example to add a token of access. It gets the address
 *   as a string, and `{ headers, signal }`; of a part of the file `headers.range` says which
 */

const known = ['dtype', 'revision', 'onProgress', 'signal', 'fetch'];

const checkDtype = oneOf(
  /** @type {('auto' | MatrixType)[]} */ (['auto', ...Object.keys(matrixType)]),
);

/** @param {unknown} revision */
function checkRevision(revision) {
  if (typeof revision !== 'string' || revision === '') {
    throw misfit(revision, 'revision', 'the name of a branch or tag, or a commit');
  }
  return revision;
}

/** The type of most weights. @param {readonly SafetensorsFile[]} files @returns {MatrixType} */
function commonType(files) {
  /** @type {Map<MatrixType, number>} */
  const counts = new Map();
  for (const { dtype, shape, byteLength } of files.flatMap(({ tensors }) => [
    ...tensors.values(),
  ])) {
    if (shape.length > 1 && dtype in weightTypes) {
      const type = weightTypes[dtype];
      counts.set(type, (counts.get(type) ?? 0) + byteLength / dtypes[dtype].size);
    }
  }
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return most?.[0] ?? 'float32';
}

/** The first weight of a masked-language-model head. */
const headWeight = /^(cls\.predictions\.transform\.dense|lm_head\.dense|vocab_transform)\.weight$/;

/** @param {readonly SafetensorsFile[]} files of an encoder */
const hasHead = (files) =>
  files.some(({ tensors }) => [...tensors.keys()].some((name) => headWeight.test(name)));

/**
 * A fetch that a Worker calls: there, a callback that throws ends the call that it was lent to.
 * @param {typeof globalThis.fetch} fetch
 */
const lent =
  (fetch) =>
  /** @param {Parameters<typeof fetch>} args */
  async (...args) => {
    try {
      return { response: await fetch(...args) };
    } catch (error) {
      return { error };
    }
  };

/**
 * The fetch again, in the Worker.
 * @param {any} call
 * @returns {typeof globalThis.fetch}
 */
const fetchBy =
  (call) =>
  async (...args) => {
    const answer = await call(...args);
    if ('error' in answer) {
      throw answer.error;
    }
    return answer.response;
  };

/**
 * Loads a model of Hugging Face's library: gpt2, gpt_neox, llama, mistral, qwen2, qwen3, gemma3_text, smollm3 (decoders), bert,
 * roberta, distilbert (encoders). The weights are read piece by piece and kept once, as `dtype` says. Of servers that support
 * range requests only the needed parts are fetched, interrupted downloads resume, and a page keeps the files in the browser's
 * cache.
 *
 * @template {Decoder | Encoder} [Model=Decoder] the class of the model, which only the source tells. For an encoder write
 *   `loadModel<Encoder>(hw, source)`
 * @overload
 * @param {Headwise} hw the engine for the model
 * @param {ModelSource} source a Hugging Face id, an address, the files of a folder, or config and weights
 * @param {LoadModelOptions} [options]
 * @returns {Promise<Model>} the model, in evaluation mode
 * @throws {HeadwiseError} ERR_FORMAT: a file has another format, the config asks for what is not implemented (its key is named),
 *   config and weights do not fit each other, or Files or a folder on the disk have an adapter (adapter_config.json), which is
 *   not applied; ERR_LOAD: a file cannot be loaded; ERR_MEMORY; ERR_VALUE: a bad argument. An abort rejects with the signal's
 *   reason. After an error the engine keeps nothing of the model.
 */
/**
 * Loads a model into an engine of 'headwise/worker'. The Worker reads the files and runs the model.
 *
 * @template {Decoder | Encoder} [Model=Decoder] the class of the model: `loadModel<Encoder>(hw, source)` for an encoder
 * @overload
 * @param {import('../worker.js').RemoteHeadwise} hw the engine for the model
 * @param {ModelSource} source as above
 * @param {LoadModelOptions} [options]
 * @returns {Promise<import('../worker.js').Remote<Model>>} the model; its methods are awaited, and generate is an async iterator
 * @throws {HeadwiseError} as above
 */
/**
 * @param {Headwise | import('../worker.js').RemoteHeadwise} hw
 * @param {ModelSource} source
 * @param {LoadModelOptions} [options]
 */
export async function loadModel(hw, source, options) {
  const there = loaderThere(hw);
  const given = checkOptions(options, known, 'loadModel');
  const dtype = checkDtype(given.dtype ?? 'auto', 'dtype');
  const revision = checkRevision(given.revision ?? 'main');
  const signal = checkSignal(given.signal);
  const { onProgress, fetch } = given;
  checkFunction(onProgress, 'onProgress');
  checkFunction(fetch, 'fetch');
  if (there !== undefined) {
    const rest = { dtype, revision, signal, onProgress };
    return there('loadModel', source, { ...rest, fetch: fetch && lent(fetch) }, baseOf());
  }
  const engine = checkEngine(hw);
  const { config, name, openFiles } = await openModel(source, revision, {
    ...{ signal, fetch, isKept: true },
  });
  const described = readModelConfig(config, name);
  const files = await openFiles();
  try {
    const keptAs = dtype === 'auto' ? commonType(files) : dtype;
    const about = { config: described, dtype: keptAs };
    /** @type {any} */
    const Class = described.isDecoder ? Decoder : Encoder;
    /** @type {Decoder | Encoder} */
    const model = new Class(engine, config, undefined, { ...about, hasHead: hasHead(files) });
    const names = (/** @type {string[]} */ keys) => namesOf(described, keys);
    return await fillModel(model, files, names, { onProgress, signal });
  } finally {
    files.forEach((file) => file.close());
  }
}

/**
 * The same in the Worker, with a fetch that was lent.
 * @param {Headwise} hw
 * @param {ModelSource} source
 * @param {LoadModelOptions} options
 */
export const loadModelHere = (hw, source, { fetch, ...options }) =>
  loadModel(hw, source, { ...options, ...(fetch !== undefined && { fetch: fetchBy(fetch) }) });
