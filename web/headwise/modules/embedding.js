import { checkIndex, checkOptions, checkShape, checkSize, checkTable } from '../checks/check.js';
import { checkFloats, isTensor } from '../tensor/operand.js';
import { reading } from '../checks/foreign.js';
import { padRows } from '../models/ragged.js';
import { flatten, shapeOfNested } from '../tensor/make-tensor.js';
import { newArray } from '../tensor/shape.js';
import { runRows } from './forward.js';
import { Module } from './module.js';

/** @typedef {import('../tensor/make-tensor.js').NumberArray} NumberArray */
/** @typedef {import('../tensor/make-tensor.js').BigIntArray} BigIntArray */
/**
 * An id, which may be a bigint, or nested arrays of ids, whose rows may be typed arrays.
 * @typedef {number | bigint | NumberArray | BigIntArray | readonly NestedIds[]} NestedIds
 */
/**
 * Integers from 0 to numEmbeddings - 1: nested arrays, a typed array, or a float32 tensor.
 * @typedef {NestedIds | import('../tensor/tensor.js').Tensor} Ids
 */

/**
 * Options of the Embedding constructor.
 * @typedef {object} EmbeddingOptions
 * @property {number} numEmbeddings the number of ids
 * @property {number} embeddingDim width of the output
 */

/**
 * @param {unknown} ids
 * @param {string} name
 * @returns {{ values: ArrayLike<number>, shape: readonly number[], size: number }}
 */
function unpack(ids, name) {
  if (isTensor(ids)) {
    const { data, shape, size } = checkFloats(ids, name, 'integers');
    return { values: data, shape, size };
  }
  const shape = shapeOfNested(ids, name);
  const { values } = flatten(ids, shape, { name, Type: Float64Array, other: 'bigint' });
  return { values, shape, size: values.length };
}

/**
 * @param {unknown} id
 * @param {string} name
 * @param {number} count one more than the largest
 * @returns {number}
 */
export const checkId = (id, name, count) =>
  checkIndex(typeof id === 'bigint' ? Number(id) : id, name, count);

/**
 * The place of an element as an index expression: [0][3].
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
 * @param {string} name
 * @param {number} count one more than the largest
 * @param {number} [ignored] another value that is allowed
 * @param {readonly number[]} [lengths] of rows that were padded
 * @returns {import('../tensor/operand.js').IdsOperand}
 */
export function checkIntegers(ids, name, count, ignored, lengths) {
  const { values, shape, size } = reading(() => unpack(ids, name), name, 'integers');
  const data = newArray(Uint32Array, size);
  for (let i = 0; i < size; i++) {
    const id = values[i];
    // A negative one is as int32 has it.
    data[i] =
      (Number.isInteger(id) && id >= 0 && id < count) || id === ignored
        ? id
        : checkIndex(id, `${name}${place(shape, i)}`, count);
  }
  return { shape, dtype: 'uint32', data, size, lengths };
}

/**
 * Integers in rows, which may differ in length: they are padded at the right.
 * @param {unknown} given
 * @param {string} name
 * @param {number} count one more than the largest
 * @param {number} [ignored] another value that is allowed
 * @returns {import('../tensor/operand.js').IdsOperand}
 */
export function checkRows(given, name, count, ignored) {
  const { ids, lengths } = reading(() => padRows(given), name, 'integers');
  return checkIntegers(ids, name, count, ignored, lengths);
}

/**
 * Texts of a model, which may differ in length.
 * @param {unknown} given
 * @param {number} count of embeddings
 */
export function checkTexts(given, count) {
  const ids = checkRows(given, 'ids', count);
  const fits = ids.size > 0 && [1, 2].includes(ids.shape.length);
  checkShape(ids, 'ids', fits, () => '[tokens] or [batch, tokens] with at least one id');
  return ids;
}

/** Whether they are one text: [tokens] or [1, tokens]. @param {{ shape: readonly number[], size: number }} ids */
export const isOneText = ({ shape, size }) => size > 0 && shape.length < 3 && shape.at(-1) === size;

/**
 * @param {unknown} ids
 * @param {number} count of embeddings
 */
export const checkIds = (ids, count) => checkIntegers(ids, 'ids', count);

const table = { numEmbeddings: checkSize, embeddingDim: checkSize };

/** torch.nn.Embedding: looks up one row of the weight for each id. State dict: weight [numEmbeddings, embeddingDim]. */
export class Embedding extends Module {
  #sizes;

  /**
   * @internal
   * @param {import('../engine/engine.js').Engine} engine
   * @param {EmbeddingOptions} options
   */
  constructor(engine, options) {
    const config = checkTable(options, table, 'Embedding');
    const { numEmbeddings, embeddingDim } = config;
    super(engine, {
      ...{ kind: 'embedding', config },
      what: `an Embedding of ${numEmbeddings} × ${embeddingDim}`,
    });
    this.#sizes = config;
  }

  /**
   * Looks ids up.
   * @param {Ids} ids integers from 0 to numEmbeddings - 1, of any shape: nested arrays, a typed array (its shape is
   *   [length]; a Uint8Array holds ids, not truth values), or a float32 tensor
   * @param {Record<string, never>} [options] none are supported; `trace`, for example, throws
   * @returns {import('./rowwise-module.js').ModuleResult} output: […, embeddingDim]
   * @throws {HeadwiseError} ERR_VALUE: not an integer, out of range, or an option; ERR_SHAPE: ragged; ERR_MEMORY;
   *   ERR_DISPOSED
   */
  forward(ids, options) {
    checkOptions(options, [], 'Embedding.forward');
    const { numEmbeddings, embeddingDim } = this.#sizes;
    const checked = checkIds(ids, numEmbeddings);
    const shape = [...checked.shape, embeddingDim];
    return { output: runRows(this, 'Embedding.forward', checked, checked.size, shape, ids) };
  }
}
