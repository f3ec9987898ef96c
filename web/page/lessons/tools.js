/**
 * What the lessons have besides the package: showing, drawing, checking, GPT-2's tokens, a trained model, and a few of
 * torch's words.
 *
 * @import { TensorPart, ValueItem } from './audience.js'
 */

import { Tensor, tensor } from '../../headwise/index.js';
import { tell } from './audience.js';
import { cornerOf } from './corner.js';
import { inspect } from './inspect.js';

export { tokenize } from '../shared/tokenize.js';
export { showBars, showChain, showFlow, showLines, showStrip } from './pictures.js';
export { loadInductionModel } from './trained.js';
export {
  add,
  largestDifference,
  meanDifference,
  partOf,
  permute,
  pick,
  reshape,
  tensorFrom,
} from './tensors.js';

/** Of larger tensors a corner is shown, of longer texts the beginning. */
const MOST = { parts: 6, rows: 16, cols: 8, text: 60 };

/** @param {unknown} value */
const isNumbers = (value) => Array.isArray(value) && value.every((one) => typeof one === 'number');

/** Arrays that a typed array or a matrix stands for. @param {unknown} value */
function plainOf(value) {
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return Array.from(/** @type {Float32Array} */ (value), Number);
  }
  if (!Array.isArray(value) || isNumbers(value)) return value;
  try {
    return tensor(value);
  } catch {
    return value;
  }
}

/** A value in few words. @param {unknown} value */
function written(value) {
  const text = inspect([value]);
  return text.length > MOST.text ? `${text.slice(0, MOST.text)}…` : text;
}

/** What cannot be shown. @param {string} name @param {unknown} value */
function refusal(name, value) {
  if (value instanceof Promise) return `"${name}" is a Promise: write await before it`;
  const what = typeof value === 'object' ? written(value) : typeof value;
  const takes = 'show takes a tensor, numbers, rows of equal length, true, false or a text';
  return `${takes}; "${name}" is ${what}`;
}

/**
 * Shows a value under a name.
 *
 * @param {string} name
 * @param {Tensor | Float32Array | readonly any[] | number | boolean | string} given an array: numbers, or nested as a tensor
 * @param {{ rows?: string[], cols?: string[] }} [options] a label for every row and column of a tensor
 */
export function show(name, given, { rows = [], cols = [] } = {}) {
  if (typeof name === 'object') {
    throw new TypeError(`show takes a name first: show('a name', value); it is ${written(name)}`);
  }
  const value = plainOf(given);
  if (value instanceof Tensor) {
    const { shape, dtype } = value;
    const parts = partsOf(value);
    const labels = { rows: rows.map(String), cols: cols.map(String) };
    tell({ kind: 'tensor', name, shape: [...shape], dtype, ...labels, parts });
  } else if (isNumbers(value) || ['number', 'boolean', 'string'].includes(typeof value)) {
    tell({ kind: 'value', name, value: /** @type {ValueItem['value']} */ (value) });
  } else {
    throw new TypeError(refusal(name, value));
  }
}

/**
 * @param {Tensor} value
 * @returns {TensorPart[]}
 */
function partsOf(value) {
  const leading = value.shape.slice(0, -2);
  const count = leading.reduce((product, size) => product * size, 1);
  return Array.from({ length: Math.min(count, MOST.parts) }, (_, part) => {
    /** @type {number[]} */
    const index = [];
    let rest = part;
    for (const size of [...leading].reverse()) {
      index.unshift(rest % size);
      rest = Math.floor(rest / size);
    }
    return { index, ...cornerOf(value, part, MOST) };
  });
}

/**
 * Draws the attention weights of some heads.
 *
 * @param {string} name
 * @param {Tensor | undefined} weights [heads, n, n], or of a batch, whose first is drawn
 * @param {{ heads: number[], tokens: string[], isCausal?: boolean }} options heads: counted from 0; isCausal: what lies
 *   above the diagonal is drawn as masked
 */
export function showMaps(name, weights, { heads, tokens, isCausal = false }) {
  const n = tokens.length;
  const shape = weights?.shape.slice(-3) ?? [];
  if (!weights || shape.length !== 3 || shape[1] !== n || shape[2] !== n) {
    const what = weights ? `[${weights.shape.join(', ')}]` : 'not there';
    throw new TypeError(`showMaps takes weights […, heads, ${n}, ${n}]; "${name}" is ${what}`);
  }
  const maps = heads.map((head) => {
    if (!Number.isInteger(head) || head < 0 || head >= shape[0]) {
      throw new RangeError(`"${name}" has ${shape[0]} heads, from 0; there is no head ${head}`);
    }
    const values = Float32Array.from(weights.data.subarray(head * n * n, (head + 1) * n * n));
    return { head, values };
  });
  tell({ kind: 'maps', name, tokens: tokens.map(String), causal: isCausal, maps });
}

/**
 * One thing that an exercise asks for.
 *
 * @param {string} name what is right if it passes
 * @param {boolean} passed
 * @param {string} wrong what is still wrong if it does not
 */
export function check(name, passed, wrong) {
  // Numbers have the minus that tables have.
  const words = passed ? '' : String(wrong).replace(/(?<!\w)-(?=[\d.])/g, '−');
  tell({ kind: 'check', name, passed: Boolean(passed), words });
}
