// Batches of sequences that differ in length.
import { maybe } from '../checks/check.js';
import { describe } from '../checks/describe.js';
import { HeadwiseError, misfit, misshapen } from '../checks/error.js';
import { copyArray, copyList } from '../checks/foreign.js';
import { lengthIn } from './make-tensor.js';
import { sameShape } from './shape.js';

/** @typedef {import('./operand.js').IdsOperand} IdsOperand */

/** The most ids that rows of different lengths are padded to. */
const most = 2 ** 20;

/** @param {unknown} value of the option @returns {unknown} a copy if it is an array */
export const readLengths = maybe((value) => copyList(value) ?? value);

/**
 * Pads rows of unequal length at the right.
 * @param {unknown} ids
 * @param {string} name
 * @returns {{ ids: any, lengths?: number[] }} the lengths of such rows
 * @throws {HeadwiseError} ERR_SHAPE: they would be padded to more than 2^20 ids
 */
export function padRows(ids, name) {
  const list = copyArray(ids, most);
  const first = lengthIn(list?.[0]);
  // Rows of one length, as nearly all are, need no copies. An id has no length.
  if (list === undefined || first === undefined || list.every((row) => lengthIn(row) === first)) {
    return { ids: list ?? ids };
  }
  /** @type {any[][]} */
  const rows = [];
  let tokens = 0;
  for (const row of list) {
    const copy = copyList(row);
    if (copy === undefined) {
      return { ids: [...rows, row, ...list.slice(rows.length + 1)] };
    }
    tokens = Math.max(tokens, copy.length);
    if (tokens * list.length > most) {
      throw misfit(
        list,
        name,
        `rows of one length, or at most ${most} ids with padding`,
        'ERR_SHAPE',
      );
    }
    rows.push(copy);
  }
  const lengths = rows.map((row) => row.length);
  const padded = rows.map((row) => [...row, ...new Array(tokens - row.length).fill(0)]);
  return { ids: padded, lengths };
}

/** @param {IdsOperand} ids */
const rowsOf = ({ lengths }) => (lengths ? `, rows of ${describe(lengths)}` : '');

/**
 * @param {IdsOperand | undefined} x what stands beside ids
 * @param {string} name
 * @param {IdsOperand} ids
 * @throws {HeadwiseError} ERR_SHAPE: it has another shape, or rows of other lengths
 */
export function checkAsIds(x, name, ids) {
  const { shape, lengths } = ids;
  if (x !== undefined && !(sameShape(x.shape, shape) && `${x.lengths}` === `${lengths}`)) {
    throw misshapen(x.shape, name, `${describe(shape)}${rowsOf(ids)}, as ids`, rowsOf(x));
  }
}

/**
 * Ids with the lengths of their rows after them, as the engine takes them.
 * @param {IdsOperand} input [batch, tokens] or [tokens]
 * @param {unknown} given the option
 * @param {number} [least] of ids in a row
 * @returns {IdsOperand}
 */
export function withLengths(input, given, least = 1) {
  const { shape, size, lengths: own } = input;
  const lengths = /** @type {number[] | undefined} */ (given ?? own);
  if (lengths === undefined) {
    return input;
  }
  const tokens = shape[shape.length - 1];
  const batch = size / tokens;
  const room = (/** @type {number} */ row) => own?.[row] ?? tokens;
  const empty = given === undefined && least > 0 ? lengths.indexOf(0) : -1;
  if (empty >= 0) {
    const expected = 'rows of at least one id';
    throw new HeadwiseError('ERR_SHAPE', `ids[${empty}] has no ids; expected ${expected}`);
  }
  const counts = copyArray(lengths, batch);
  const fits =
    counts?.length === batch &&
    counts.every((n, row) => Number.isInteger(n) && n >= least && n <= room(row));
  if (!fits) {
    const mosts = own === undefined ? tokens : `the rows' own, ${describe(own)}`;
    throw misfit(
      lengths,
      'lengths',
      `an array of ${batch}: how many ids of each row count, from ${least} to ${mosts}`,
    );
  }
  const data = new Uint32Array(size + batch);
  data.set(input.data);
  data.set(lengths, size);
  return { ...input, data, size: size + batch, lengths };
}
