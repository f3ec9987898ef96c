// Ids of tokens, and other integers below a number: how they are read and checked.
import { checkIndex, checkShape } from '../checks/check.js';
import { reading } from '../checks/foreign.js';
import { flatten, shapeOfNested } from './make-tensor.js';
import { checkFloats, isTensor } from './operand.js';
import { padRows } from './ragged.js';
import { newArray } from './shape.js';

/** @typedef {import('./make-tensor.js').NumberArray} NumberArray */
/** @typedef {import('./make-tensor.js').BigIntArray} BigIntArray */
/**
 * An id, which may be a bigint, or nested arrays of ids, whose rows may be typed arrays.
 * @typedef {number | bigint | NumberArray | BigIntArray | readonly NestedIds[]} NestedIds
 */
/**
 * Integers from 0 to numEmbeddings - 1: nested arrays, a typed array, or a float32 tensor.
 * @typedef {NestedIds | import('./tensor.js').Tensor} Ids
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
 * @returns {import('./operand.js').IdsOperand}
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
 * @returns {import('./operand.js').IdsOperand}
 */
export function checkRows(given, name, count, ignored) {
  const { ids, lengths } = reading(() => padRows(given, name), name, 'integers');
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
