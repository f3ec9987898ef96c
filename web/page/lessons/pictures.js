/**
 * What a lesson draws: matrices in a row, boxes with arrows, curves, bars, a vector cut into heads. Every picture is made
 * from the numbers of the run, so that it changes with the code.
 *
 * @import { GridsPart, FlowNode, FlowRow } from './audience.js'
 */

import { Tensor, tensor } from '../../headwise/index.js';
import { tell } from './audience.js';
import { cornerOf } from './corner.js';

/** Of larger matrices a corner is drawn. */
const MOST = { heads: 4, rows: 64, cols: 64 };

/**
 * @typedef {object} GridOptions
 * @property {number} [heads] how many heads share the columns (or rows), or stand one after another in front of the last
 *   two dimensions
 * @property {'cols' | 'rows'} [by] what the heads share; columns unless it says rows
 * @property {boolean} [weights] numbers between 0 and 1, in the colours of the attention maps
 * @property {string[]} [rows] a label for each row
 * @property {string[]} [cols] a label for each column
 * @property {number} [head] the head that all of it belongs to
 */

/**
 * @param {string} label
 * @param {Tensor | readonly any[]} given
 * @param {GridOptions} [options]
 * @returns {GridsPart}
 */
function gridsOf(label, given, { heads = 0, by = 'cols', weights = false, head, ...names } = {}) {
  const value = given instanceof Tensor ? given : tensor(/** @type {any} */ (given));
  const { shape } = value;
  const [height, width] = shape.length > 1 ? shape.slice(-2) : [1, shape[0] ?? 1];
  const isSplit = heads > 0 && shape.length > 2 && shape.at(-3) === heads;
  const drawn = isSplit ? Math.min(heads, MOST.heads) : 1;
  return {
    kind: 'grids',
    label,
    shape: [...shape],
    height,
    width,
    heads,
    by: isSplit ? 'part' : by,
    head,
    isWeights: weights,
    rows: (names.rows ?? []).map(String),
    cols: (names.cols ?? []).map(String),
    grids: Array.from({ length: drawn }, (_, part) => cornerOf(value, part, MOST)),
  };
}

/**
 * Draws matrices in a row with signs between them.
 *
 * @param {string} name
 * @param {(string | [label: string, value: Tensor | any[], options?: GridOptions])[]} parts a text is a sign, such as ×
 */
export function showChain(name, parts) {
  const drawn = parts.map((part) => (typeof part === 'string' ? part : gridsOf(...part)));
  tell({ kind: 'chain', name, parts: drawn });
}

/**
 * @typedef {GridOptions & { label: string, note?: string, value?: Tensor | any[] }} Box
 * @typedef {Box | Box[] | { adds: string, around: FlowStep[] }} FlowStep boxes side by side; or steps whose input is added
 *   to what they give
 */

/**
 * @param {Box} box
 * @returns {FlowNode}
 */
const nodeOf = ({ label, note = '', value, ...options }) => ({
  label,
  note,
  part: value === undefined ? undefined : gridsOf(label, value, options),
  head: options.head,
});

/** @param {FlowStep} step @returns {FlowRow} */
function rowOf(step) {
  if (Array.isArray(step)) return { nodes: step.map(nodeOf) };
  if ('around' in step) return { adds: step.adds, around: step.around.map(rowOf) };
  return { nodes: [nodeOf(step)] };
}

/**
 * Draws boxes from top to bottom with arrows between them.
 *
 * @param {string} name
 * @param {FlowStep[]} steps
 */
export function showFlow(name, steps) {
  tell({ kind: 'flow', name, rows: steps.map(rowOf) });
}

/**
 * Draws a vector cut into heads.
 *
 * @param {string} name
 * @param {Tensor | number[]} vector
 * @param {{ heads: number }} options
 */
export function showStrip(name, vector, { heads }) {
  const values = Float32Array.from(vector instanceof Tensor ? vector.data : vector);
  tell({ kind: 'strip', name, heads, values });
}

/**
 * Draws curves over a common axis.
 *
 * @param {string} name
 * @param {{ x: number[], lines: Record<string, number[]>, xLabel?: string, yLabel?: string }} options
 */
export function showLines(name, { x, lines, xLabel = '', yLabel = '' }) {
  const series = Object.entries(lines).map(([label, values]) => ({ label, values: [...values] }));
  for (const { label, values } of series) {
    if (values.length !== x.length) {
      throw new RangeError(`the line "${label}" has ${values.length} points; x has ${x.length}`);
    }
  }
  tell({ kind: 'lines', name, x: x.map(Number), series, xLabel, yLabel });
}

/**
 * Draws numbers as bars from 0.
 *
 * @param {string} name
 * @param {Record<string, number>} values
 */
export function showBars(name, values) {
  const bars = Object.entries(values).map(([label, value]) => ({ label, value: Number(value) }));
  tell({ kind: 'bars', name, bars });
}
