import { checkFunction, checkOptions, checkSignal } from '../checks/check.js';
import { HeadwiseError } from '../checks/error.js';
import { readGpt2Config } from './gpt2-config.js';
import { openParts } from './open-model.js';
import { describe } from '../checks/describe.js';
import { checkEngine, Gpt2 } from './gpt2.js';
import { canonicalName, isImplied } from './parameters.js';
import { sameShape } from '../tensor/shape.js';
import { loaderThere } from '../worker/there.js';

/** @typedef {import('../formats/source.js').Source} Source */
/** @typedef {import('../formats/safetensors.js').SafetensorsFile} SafetensorsFile */

/**
 * Where a checkpoint is.
 * @typedef {object} LoadGpt2Options
 * @property {Source | object} config Hugging Face's config.json: where it is, or what it holds
 * @property {Source | readonly Source[]} weights model.safetensors, or a list of its shards: float32, float16 or bfloat16. Of a
 *   file on a server that gives parts only what is needed is fetched, and a download that is cut goes on
 * @property {(progress: { loaded: number, total: number }) => void} [onProgress] bytes of the weights that are read
 * @property {AbortSignal} [signal] ends the loading
 */

/** @type {readonly string[]} */
const floats = ['F32', 'F16', 'BF16'];

/** How many tensors of a kind messages name. */
const shown = 8;

/**
 * A file of another model can miss hundreds.
 * @param {string} what
 * @param {readonly string[]} names
 */
function listed(what, names) {
  const more = names.length > shown ? ` and ${names.length - shown} more` : '';
  return names.length > 0 ? [`${what}: ${names.slice(0, shown).join(', ')}${more}`] : [];
}

/**
 * Checks that the files have every parameter once, in its shape and of floats, and no others.
 * @param {readonly SafetensorsFile[]} files
 * @param {ReadonlyMap<string, readonly number[]>} shapes
 */
function checkTensors(files, shapes) {
  const entries = files.flatMap(({ tensors }) => [...tensors]);
  const found = new Map(entries.map(([name, info]) => [canonicalName(name), info]));
  const missing = [...shapes.keys()].filter((name) => !found.has(name));
  const unexpected = [...found.keys()].filter((name) => !shapes.has(name) && !isImplied(name));
  const wanted = entries.map(([name]) => canonicalName(name)).filter((name) => shapes.has(name));
  const repeated = wanted.filter((name, i) => wanted.indexOf(name) !== i);
  const unfit = [...shapes].flatMap(([name, shape]) => {
    const own = found.get(name);
    if (own !== undefined && !sameShape(own.shape, shape)) {
      return [`${name} has shape ${describe(own.shape)}, expected ${describe(shape)}`];
    }
    // Integers under these names are quantized: without their scales they are no weights.
    return own === undefined || floats.includes(own.dtype)
      ? []
      : [`${name} has dtype ${own.dtype}, expected ${floats.join(' or ')}`];
  });
  const problems = [
    ...listed('missing', missing),
    ...listed('unexpected', unexpected),
    ...listed(
      `there ${files.length > 1 ? 'twice, or ' : ''}with and without transformer.`,
      repeated,
    ),
    ...listed('unfit', unfit),
  ];
  if (problems.length > 0) {
    const [{ name }] = files;
    const more = files.length > 1 ? ` and ${files.length - 1} more do` : ' does';
    throw new HeadwiseError(
      'ERR_FORMAT',
      `${name}${more} not fit the config: ${problems.join('; ')}`,
    );
  }
}

/**
 * @param {Gpt2} model
 * @param {readonly SafetensorsFile[]} files
 * @param {Pick<LoadGpt2Options, 'onProgress'>} options
 */
async function loadTensors(model, files, { onProgress }) {
  const parameters = new Map(model.parameterList.map((parameter) => [parameter.key, parameter]));
  checkTensors(files, new Map(Array.from(parameters, ([key, { shape }]) => [key, shape])));
  const wants = (/** @type {string} */ name) => parameters.has(canonicalName(name));
  const total = files.reduce((sum, { byteLength }) => sum + byteLength, 0);
  let before = 0;
  const told = ({ loaded = 0 }) => onProgress?.({ loaded: before + loaded, total });
  for (const file of files) {
    for await (const { name, firstRow, rows, data } of file.pieces({ wants, onProgress: told })) {
      const parameter = parameters.get(canonicalName(name));
      if (parameter !== undefined) {
        model.loadRows(parameter, data, firstRow, rows);
      }
    }
    before += file.byteLength;
  }
}

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
      await loadTensors(model, files, given);
      return model;
    } catch (error) {
      model.dispose();
      throw error;
    }
  } finally {
    files.forEach((file) => file.close());
  }
}
