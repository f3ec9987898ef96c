import { checkFunction, checkOptions, checkSignal } from '../checks/check.js';
import { HeadwiseError } from '../checks/error.js';
import { readGpt2Config } from './gpt2-config.js';
import { openParts } from './open-model.js';
import { checkEngine, Gpt2 } from './gpt2.js';
import { loadTensors } from './load-tensors.js';
import { gpt2Names } from './gpt2-names.js';
import { loaderThere } from '../worker/there.js';

/** @typedef {import('../formats/source.js').Source} Source */

/**
 * Where a checkpoint is.
 * @typedef {object} LoadGpt2Options
 * @property {Source | object} config Hugging Face's config.json: where it is, or what it holds
 * @property {Source | readonly Source[]} weights model.safetensors, or a list of its shards: float32, float16 or bfloat16. Of a
 *   file on a server that gives parts only what is needed is fetched, and a download that is cut goes on
 * @property {(progress: { loaded: number, total: number }) => void} [onProgress] bytes of the weights that are read
 * @property {AbortSignal} [signal] ends the loading
 */

/**
 * Loads a GPT-2 that Hugging Face's library saved. The weights are read piece by piece and kept once, as float32.
 *
 * @overload
 * @param {import('../engine/headwise.js').Headwise} hw the engine that it will live in
 * @param {LoadGpt2Options} options
 * @returns {Promise<Gpt2>}
 * @throws {HeadwiseError} ERR_FORMAT: a file is not what it should be, or the two do not fit each other; ERR_LOAD: one cannot be
 *   had; ERR_MEMORY; ERR_VALUE: a bad option. An abort rejects with the signal's reason. After an error nothing of it is
 *   left in the engine.
 */
/**
 * The same in an engine of 'headwise/worker', where it is read and lives. What cannot be posted, such as Responses and
 * streams, is read here, piece by piece.
 *
 * @overload
 * @param {import('../worker.js').RemoteHeadwise} hw the engine that it will live in
 * @param {LoadGpt2Options} options
 * @returns {Promise<import('../worker.js').Remote<Gpt2>>} whose methods are awaited; generate is an async iterator
 * @throws {HeadwiseError} as above
 */
/**
 * @param {import('../engine/headwise.js').Headwise | import('../worker.js').RemoteHeadwise} hw
 * @param {LoadGpt2Options} options
 */
export async function loadGpt2(hw, options) {
  const there = loaderThere(hw);
  if (there !== undefined) {
    return there('loadGpt2', options);
  }
  const known = ['config', 'weights', 'onProgress', 'signal'];
  const given = checkOptions(options, known, 'loadGpt2');
  checkEngine(hw);
  const signal = checkSignal(given.signal);
  checkFunction(given.onProgress, 'onProgress');
  const how = { signal, fetch: undefined, isKept: false };
  const { config, name, openFiles } = await openParts(given.config, given.weights, how);
  const { tieWordEmbeddings, ...sizes } = readGpt2Config(config, { name });
  if (!tieWordEmbeddings) {
    throw new HeadwiseError(
      'ERR_FORMAT',
      'config: tie_word_embeddings is false; expected true: the output head of GPT-2 is wte',
    );
  }
  const files = await openFiles();
  try {
    const engine = /** @type {import('../engine/headwise.js').Headwise} */ (hw);
    const model = new Gpt2(engine, sizes, false);
    try {
      await loadTensors(model, files, gpt2Names, given.onProgress);
      return model;
    } catch (error) {
      model.dispose();
      throw error;
    }
  } finally {
    files.forEach((file) => file.close());
  }
}
