import { checkFunction, checkOptions, checkSignal } from '../checks/check.js';
import { HeadwiseError } from '../checks/error.js';
import { baseOf } from '../engine/resolve.js';
import { checkEngine } from '../engine/given-engine.js';
import { readGpt2Config } from './gpt2-config.js';
import { openParts } from './open-model.js';
import { Gpt2 } from './gpt2.js';
import { fillModel } from './load-tensors.js';
import { gpt2Names } from './gpt2-names.js';
import { loaderThere } from '../worker/there.js';

/** @typedef {import('../formats/source.js').Source} Source */

/**
 * Options of `loadGpt2`: the place of a checkpoint.
 * @typedef {object} LoadGpt2Options
 * @property {Source | object} config Hugging Face's config.json: its source, or the parsed object
 * @property {Source | readonly Source[]} weights model.safetensors, or a list of its shards: float64, float32, float16 or
 *   bfloat16. If a server supports range requests, only the needed parts are fetched, and an interrupted download resumes
 * @property {(progress: { loaded: number, total: number }) => void} [onProgress] gets the bytes of the weights read so far
 * @property {AbortSignal} [signal] aborts the loading
 */

/**
 * Loads a GPT-2 checkpoint of Hugging Face's library. The weights are read piece by piece. The model keeps one copy, as
 * float32.
 *
 * @overload
 * @param {import('../engine/headwise.js').Headwise} hw the engine for the model
 * @param {LoadGpt2Options} options
 * @returns {Promise<Gpt2>} the model, in evaluation mode as Hugging Face's from_pretrained gives it
 * @throws {HeadwiseError} ERR_FORMAT: a file has another format, or config and weights do not fit each other; ERR_LOAD: a file
 *   cannot be loaded; ERR_MEMORY; ERR_VALUE: a bad option. An abort rejects with the signal's reason. After an error the
 *   engine keeps nothing of the model.
 */
/**
 * Loads a model into an engine of 'headwise/worker'. The Worker reads the files and runs the model. This thread reads sources
 * that cannot be posted, such as Responses and streams, piece by piece.
 *
 * @overload
 * @param {import('../worker.js').RemoteHeadwise} hw the engine for the model
 * @param {LoadGpt2Options} options
 * @returns {Promise<import('../worker.js').Remote<Gpt2>>} the model; its methods are awaited, and generate is an async iterator
 * @throws {HeadwiseError} as above
 */
/**
 * @param {import('../engine/headwise.js').Headwise | import('../worker.js').RemoteHeadwise} hw
 * @param {LoadGpt2Options} options
 * @param {unknown} [more] loadModel has its options there
 */
export async function loadGpt2(hw, options, more) {
  checkOptions(more, [], 'loadGpt2 after config and weights');
  const there = loaderThere(hw);
  if (there !== undefined) {
    return there('loadGpt2', options, baseOf());
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
    return await fillModel(model, files, gpt2Names, { onProgress: given.onProgress, signal });
  } finally {
    files.forEach((file) => file.close());
  }
}
