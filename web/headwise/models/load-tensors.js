// Loads weights from one file or several into a model.
import { describe } from '../checks/describe.js';
import { HeadwiseError } from '../checks/error.js';
import { matrixType } from '../engine/abi.js';
import { addressOf } from '../engine/owned.js';
import { dtypes } from '../formats/convert.js';
import { engineParameters } from '../modules/module.js';
import { writeRows } from '../modules/parameters.js';
import { newArray, sameShape } from '../tensor/shape.js';

/** @typedef {import('../formats/safetensors.js').SafetensorsFile} SafetensorsFile */
/** @typedef {import('../modules/module.js').Module} Module */
/** @typedef {import('../modules/parameters.js').Parameter} Parameter */
/** @typedef {import('./names.js').Names} Names */

/**
 * The types of weights in files, and in which the engine gets them.
 * @type {Readonly<Record<string, import('./lay-model.js').MatrixType>>}
 */
export const weightTypes = { F32: 'float32', F16: 'float16', BF16: 'bfloat16', F64: 'float32' };

/** A piece as the engine reads it: of float64, each value rounded to float32. @param {import('../formats/convert.js').Dtype} dtype @param {Uint8Array} bytes */
function readable(dtype, bytes) {
  if (dtype !== 'F64') {
    return bytes;
  }
  const floats = newArray(Float32Array, bytes.length / dtypes.F64.size);
  dtypes.F64.toFloats(bytes, floats);
  return new Uint8Array(floats.buffer);
}

/** Bytes of float32 that a piece would have. */
const pieceBytes = 2 ** 22;

/** How many tensors of a kind messages name, and of how many they say what does not fit. */
const shown = 8;
const shownUnfit = 2;

/**
 * A file of another model can miss hundreds.
 * @param {string} what
 * @param {readonly string[]} names
 * @param {number} [most]
 */
function listed(what, names, most = shown) {
  const more = names.length > most ? `, and ${names.length - most} more` : '';
  return names.length > 0 ? [`${what}: ${names.slice(0, most).join(', ')}${more}`] : [];
}

/**
 * Checks that the files have every parameter once, in its shape and of floats, and no others.
 * @param {readonly SafetensorsFile[]} files
 * @param {ReadonlyMap<string, readonly number[]>} shapes
 * @param {Names} names
 */
function checkTensors(files, shapes, { prefix, canonical, isUnused }) {
  const entries = files.flatMap(({ tensors }) => [...tensors]);
  const found = new Map(entries.map(([name, info]) => [canonical(name), info]));
  const missing = [...shapes.keys()].filter((name) => !found.has(name));
  const unexpected = [...found.keys()].filter((name) => !shapes.has(name) && !isUnused(name));
  const wanted = entries.map(([name]) => canonical(name)).filter((name) => shapes.has(name));
  const repeated = wanted.filter((name, i) => wanted.indexOf(name) !== i);
  const unfit = [...shapes].flatMap(([name, shape]) => {
    const own = found.get(name);
    if (own !== undefined && !sameShape(own.shape, shape)) {
      return [`${name} has shape ${describe(own.shape)}, expected ${describe(shape)}`];
    }
    // Integers under these names are quantized: without their scales they are no weights.
    return own === undefined || own.dtype in weightTypes
      ? []
      : [`${name} has dtype ${own.dtype}, expected ${Object.keys(weightTypes).join(' or ')}`];
  });
  const problems = [
    ...listed('missing', missing),
    ...listed('unexpected', unexpected),
    ...listed(`there ${files.length > 1 ? 'twice, or ' : ''}with and without ${prefix}`, repeated),
    ...listed('unfit', unfit, shownUnfit),
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

/** @param {readonly Parameter[]} parameters @returns {number} so that those which must come whole do */
const pieceBytesFor = (parameters) =>
  parameters
    .filter(({ loadsWhole }) => loadsWhole)
    .reduce((most, { size }) => Math.max(most, 4 * size), pieceBytes);

/**
 * Copies the files' weights into a model, piece by piece, which the engine converts and packs.
 * @param {Module} model whose parameters have canonical names
 * @param {readonly SafetensorsFile[]} files one, or shards
 * @param {Names} names
 * @param {((progress: { loaded: number, total: number }) => void) | undefined} onProgress
 * @throws {HeadwiseError} ERR_FORMAT: the files are not those of such a model; else as `pieces`
 */
async function loadTensors(model, files, names, onProgress) {
  const parameters = new Map(
    engineParameters(model).map((parameter) => [parameter.key, parameter]),
  );
  checkTensors(files, new Map(Array.from(parameters, ([key, { shape }]) => [key, shape])), names);
  const parameterOf = (/** @type {string} */ name) => parameters.get(names.canonical(name));
  const wants = (/** @type {string} */ name) => parameterOf(name) !== undefined;
  const total = files.reduce((sum, { byteLength }) => sum + byteLength, 0);
  let before = 0;
  const told = ({ loaded = 0 }) => onProgress?.({ loaded: before + loaded, total });
  const how = { wants, onProgress: told, pieceBytes: pieceBytesFor([...parameters.values()]) };
  for (const file of files) {
    for await (const { name, dtype, firstRow, rows, bytes } of file.bytePieces(how)) {
      const parameter = parameterOf(name);
      if (parameter !== undefined) {
        const type = matrixType[weightTypes[dtype]];
        const given = readable(dtype, bytes);
        writeRows(model.engine, addressOf(model), parameter, type, given, firstRow, rows);
      }
    }
    before += file.byteLength;
  }
}

/**
 * Fills a new model from files. After an error it is disposed.
 * @template {Module} Model
 * @param {Model} model whose parameters have canonical names
 * @param {readonly SafetensorsFile[]} files one, or shards
 * @param {(keys: string[]) => Names} namesAmong those keys
 * @param {{ onProgress?: (progress: { loaded: number, total: number }) => void, signal?: AbortSignal }} how
 * @returns {Promise<Model>} in evaluation mode, as Hugging Face's from_pretrained gives it
 * @throws {HeadwiseError} ERR_FORMAT: the files are not those of such a model; else as `pieces`
 */
export async function fillModel(model, files, namesAmong, { onProgress, signal }) {
  const names = namesAmong(files.flatMap(({ tensors }) => [...tensors.keys()]));
  try {
    await loadTensors(model, files, names, onProgress);
    // The last pieces may have been there at once.
    signal?.throwIfAborted();
    return model.eval();
  } catch (error) {
    model.dispose();
    throw error;
  }
}
