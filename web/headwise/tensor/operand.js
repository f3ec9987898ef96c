import { describe } from '../checks/describe.js';
import { HeadwiseError, misshapen } from '../checks/error.js';
import { bytesOf, checkUnchanged, isArray, kindOf, lengthOf, tagOf } from '../checks/foreign.js';
import { newArray, readShape } from './shape.js';

/** @typedef {import('./tensor.js').DType} DType */

/**
 * The fields of a tensor, read once at the start of a call.
 * @template {DType} [D=DType]
 * @typedef {object} Operand
 * @property {readonly number[]} shape
 * @property {D} dtype
 * @property {import('./tensor.js').DataOf<D>} data the caller's array, not a copy; it may still be transferred, shrink or grow
 * @property {number} size the number of elements, equal for shape and data when they were read
 */
/** @typedef {Operand<'float32'>} FloatOperand */
/** @typedef {Omit<Operand, 'dtype' | 'data'> & { dtype: 'uint32', data: Uint32Array, lengths?: readonly number[] }} IdsOperand ids, copied for the call; lengths: those of rows that are padded, after the ids once the engine is to have them */

/** @param {string | undefined} kind of what holds a tensor's elements. @returns {DType | undefined} */
const dtypeOf = (kind) =>
  kind === 'Float32Array' ? 'float32' : kind === 'Uint8Array' ? 'bool' : undefined;

/**
 * Whether a value is a tensor of this package, or of a copy of the package in another realm.
 * @param {unknown} value
 * @returns {value is import('./tensor.js').AnyTensor}
 */
export const isTensor = (value) => tagOf(value) === 'Tensor';

/** @param {unknown} value @param {string} name @param {boolean} isClone has the fields of one @param {unknown} cause */
function notTensor(value, name, isClone, cause) {
  const hint = isTensor(value)
    ? ', its shape and data as they were made'
    : isArray(value)
      ? ' (tensor(…) makes one of nested arrays)'
      : isClone
        ? ' (new Tensor(data, shape) makes one)'
        : '';
  const problem = `${name} is ${describe(value)}; expected a Tensor${hint}`;
  return new HeadwiseError('ERR_VALUE', problem, cause === undefined ? undefined : { cause });
}

/**
 * Reads the fields of a tensor. Only the data is not copied.
 * @param {unknown} value
 * @param {string} name
 * @returns {Operand}
 */
export function checkTensor(value, name) {
  let shape, data, cause;
  try {
    ({ shape, data } = /** @type {any} */ (value ?? {}));
  } catch (error) {
    cause = error;
  }
  const dtype = dtypeOf(kindOf(data));
  const isWhole = shape !== undefined && dtype !== undefined;
  if (!isWhole || !isTensor(value)) {
    throw notTensor(value, name, isWhole, cause);
  }
  const { sizes, size } = readShape(shape, `the shape of ${name}`);
  const length = lengthOf(data);
  // Data that was transferred to a Worker is empty. Data longer than its shape would overwrite other memory.
  if (length !== size) {
    const expected = `${size} (was its data transferred or replaced?)`;
    throw misshapen(sizes, name, expected, ` and ${length} values`);
  }
  return { shape: sizes, dtype, data, size };
}

/** @param {unknown} value @param {string} name @param {string} [expected] @returns {FloatOperand} */
export function checkFloats(value, name, expected = 'float32') {
  const checked = checkTensor(value, name);
  if (checked.dtype !== 'float32') {
    throw new HeadwiseError(
      'ERR_VALUE',
      `${name} has dtype ${checked.dtype}; expected ${expected}`,
    );
  }
  return /** @type {FloatOperand} */ (checked);
}

/**
 * The operand of a tensor of the package's own.
 * @param {Pick<import('./tensor.js').Tensor, 'data' | 'shape'>} tensor
 * @returns {FloatOperand}
 */
export const operandOf = ({ data, shape }) => ({
  data,
  shape,
  size: data.length,
  dtype: 'float32',
});

/**
 * A view of an operand's data: an array without properties that the caller added.
 * @param {FloatOperand} operand
 * @throws {HeadwiseError} ERR_SHAPE: the data was transferred or resized since it was read
 */
export function viewOf({ data, size }) {
  checkUnchanged(data, size);
  const { buffer, byteOffset } = bytesOf(data);
  return new Float32Array(buffer, byteOffset, size);
}

/**
 * A copy of an operand's data, never of a subclass.
 * @template {Operand} T
 * @param {T} operand
 * @returns {T['data']}
 * @throws {HeadwiseError} ERR_MEMORY; ERR_SHAPE: the data was transferred or resized since it was read
 */
export function copyData({ dtype, data, size }) {
  checkUnchanged(data, size);
  const copy = dtype === 'bool' ? newArray(Uint8Array, size) : newArray(Float32Array, size);
  copy.set(data);
  return copy;
}

/**
 * A copy of an operand with its own data.
 * @param {FloatOperand} operand
 * @returns {FloatOperand}
 */
export const copyOf = (operand) => ({ ...operand, data: copyData(operand) });

/**
 * An operand of integers for the engine.
 * @param {ArrayLike<number>} values copied
 * @returns {IdsOperand}
 */
export const wordsOperand = (values) => ({
  shape: [values.length],
  dtype: 'uint32',
  data: new Uint32Array(values),
  size: values.length,
});
