/** A float32 sum of this benchmark's lengths errs by less than a hundredth of this. */
const TOLERANCE = 2e-5;

/**
 * Rows of a result, viewed as a matrix.
 * @typedef {object} Expected
 * @property {readonly number[]} rows
 * @property {number} columns
 * @property {Float64Array} values [rows.length, columns]
 */

/**
 * Compares with the right rows, and looks for what is not finite everywhere.
 * @param {ArrayLike<number>} actual
 * @param {Expected} expected
 * @returns {{ maxError: number, problem?: string }} maxError relative to 1 + |right|
 */
export function check(actual, { rows, columns, values }) {
  let maxError = 0;
  /** @type {string | undefined} */
  let problem;
  for (let i = 0; i < values.length; i++) {
    const row = rows[Math.floor(i / columns)];
    const value = actual[row * columns + (i % columns)];
    const error = Math.abs(value - values[i]) / (1 + Math.abs(values[i]));
    // Written so that NaN is a problem too; the first is named.
    if (!(error <= TOLERANCE))
      problem ??= `row ${row}, column ${i % columns} is ${value}, float64 gives ${values[i]}`;
    maxError = Math.max(maxError, error);
  }
  for (let i = 0; i < actual.length && !problem; i++)
    if (!Number.isFinite(actual[i])) problem = `element ${i} is ${actual[i]}`;
  return problem === undefined ? { maxError } : { maxError, problem };
}
