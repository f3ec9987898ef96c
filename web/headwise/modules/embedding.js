import { checkFloats, checkIndex, checkOptions, checkSize } from '../check.js';
import { describe } from '../describe.js';
import { aligned } from '../engine.js';
import { HeadwiseError } from '../error.js';
import { flatten, newArray, shapeOfNested, sizeOf, Tensor } from '../tensor.js';
import { arrayParameter, createModule, Module } from './module.js';

/** @typedef {import('../tensor.js').NumberArray} NumberArray */
/**
 * An id, or nested arrays of ids.
 * @typedef {number | NestedIds[]} NestedIds
 */
/**
 * Integers from 0 to numEmbeddings - 1: nested arrays, a typed array, or a float32 tensor.
 * @typedef {NestedIds | NumberArray | BigInt64Array | BigUint64Array | Tensor} Ids
 */

/**
 * What an Embedding is made with.
 * @typedef {object} EmbeddingOptions
 * @property {number} numEmbeddings how many ids there are
 * @property {number} embeddingDim width of the output
 */

/**
 * @param {unknown} ids
 * @returns {{ values: ArrayLike<unknown>, shape: readonly number[] }}
 */
function unpack(ids) {
  if (ids instanceof Tensor) {
    return { values: checkFloats(ids, 'ids').data, shape: ids.shape };
  }
  if (ArrayBuffer.isView(ids) && !(ids instanceof DataView)) {
    const values = /** @type {NumberArray} */ (/** @type {unknown} */ (ids));
    return { values, shape: [values.length] };
  }
  const shape = shapeOfNested(ids);
  return { values: flatten(ids, shape, 'ids'), shape };
}

/**
 * Where an element is, as one would write it: [0][3].
 * @param {readonly number[]} shape
 * @param {number} flat
 */
function place(shape, flat) {
  let text = '';
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    text = `[${flat % shape[axis]}]${text}`;
    flat = Math.floor(flat / shape[axis]);
  }
  return text;
}

/**
 * @param {unknown} ids
 * @param {number} count of embeddings
 */
export function checkIds(ids, count) {
  const { values, shape } = unpack(ids);
  if (values.length === 0) {
    throw new HeadwiseError(
      'ERR_SHAPE',
      `ids has shape ${describe(shape)}; expected an id or more`,
    );
  }
  const checked = newArray(Uint32Array, values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    const id = typeof value === 'bigint' ? Number(value) : value;
    const fits = typeof id === 'number' && Number.isInteger(id) && id >= 0 && id < count;
    checked[i] = fits ? id : checkIndex(value, `ids${place(shape, i)}`, count);
  }
  return { ids: checked, shape };
}

/** torch.nn.Embedding: a row of the weight for every id. State dict: weight [numEmbeddings, embeddingDim]. */
export class Embedding extends Module {
  #sizes;

  /**
   * @internal
   * @param {import('../engine.js').Engine} engine
   * @param {EmbeddingOptions} options
   */
  constructor(engine, options) {
    const given = checkOptions(options, ['numEmbeddings', 'embeddingDim'], 'Embedding');
    const count = checkSize(given.numEmbeddings, 'numEmbeddings');
    const dim = checkSize(given.embeddingDim, 'embeddingDim');
    const what = `an Embedding of ${count} × ${dim}`;
    const pointer = createModule(engine, 'embedding_create', [count, dim], what);
    const weight = engine.call.embedding_weight(pointer) >>> 0;
    const parameters = [arrayParameter('weight', weight, [count, dim])];
    super(engine, { pointer, destroy: 'embedding_destroy', parameters });
    this.#sizes = { count, dim };
  }

  /**
   * Looks ids up.
   * @param {Ids} ids integers from 0 to numEmbeddings - 1 of any shape: nested arrays, a typed array (whose shape is
   *   [length]; a Uint8Array holds ids, not truth values), or a float32 tensor
   * @returns {import('./rowwise-module.js').ModuleResult} output: […, embeddingDim]
   * @throws {HeadwiseError} ERR_VALUE: no integer or out of range; ERR_SHAPE: ragged or empty; ERR_MEMORY;
   *   ERR_DISPOSED
   */
  forward(ids) {
    const { pointer, engine } = this;
    const { count, dim } = this.#sizes;
    const checked = checkIds(ids, count);
    const shape = [...checked.shape, dim];
    const bytes = aligned(checked.ids.byteLength);
    const at = engine.stage(bytes + sizeOf(shape, 'the result') * 4);
    const out = at + bytes;
    engine.words.set(checked.ids, at / 4);
    engine.check(
      engine.call.embedding_forward(pointer, at, checked.ids.length, out),
      'Embedding.forward',
    );
    return { output: engine.read(out, shape) };
  }
}
