// Loads weights from one file or several into a model.
import { describe } from '../checks/describe.js';
import { HeadwiseError } from '../checks/error.js';
import { sameShape } from '../tensor/shape.js';

/** @typedef {import('../formats/safetensors.js').SafetensorsFile} SafetensorsFile */
/** @typedef {import('../modules/module.js').Module} Module */
/** @typedef {import('./names.js').Names} Names */

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
    return own === undefined || floats.includes(own.dtype)
      ? []
      : [`${name} has dtype ${own.dtype}, expected ${floats.join(' or ')}`];
  });
  const problems = [
    ...listed('missing', missing),
    ...listed('unexpected', unexpected),
    ...listed(`there ${files.length > 1 ? 'twice, or ' : ''}with and without ${prefix}`, repeated),
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
 * Copies the files' weights into a model, piece by piece.
 * @param {Module} model whose parameters have canonical names
 * @param {readonly SafetensorsFile[]} files one, or shards
 * @param {Names} names
 * @param {((progress: { loaded: number, total: number }) => void) | undefined} onProgress
 * @throws {HeadwiseError} ERR_FORMAT: the files are not those of such a model; else as `pieces`
 */
export async function loadTensors(model, files, names, onProgress) {
  const parameters = new Map(model.parameterList.map((parameter) => [parameter.key, parameter]));
  checkTensors(files, new Map(Array.from(parameters, ([key, { shape }]) => [key, shape])), names);
  const parameterOf = (/** @type {string} */ name) => parameters.get(names.canonical(name));
  const wants = (/** @type {string} */ name) => parameterOf(name) !== undefined;
  const total = files.reduce((sum, { byteLength }) => sum + byteLength, 0);
  let before = 0;
  const told = ({ loaded = 0 }) => onProgress?.({ loaded: before + loaded, total });
  for (const file of files) {
    for await (const { name, firstRow, rows, data } of file.pieces({ wants, onProgress: told })) {
      const parameter = parameterOf(name);
      if (parameter !== undefined) {
        model.loadRows(parameter, data, firstRow, rows);
      }
    }
    before += file.byteLength;
  }
}
