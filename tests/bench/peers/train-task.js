/**
 * A step of training a GPT-2, the same for all contestants: forward, backward, clipping by the global norm, AdamW.
 *
 * @import { Expected } from '../../../web/page/bench/check.js'
 * @import { TrainShape } from '../../../web/page/bench/work.js'
 */

import { numbers } from '../../../web/page/bench/data.js';
import { modelLoss } from '../../../web/page/bench/reference-model.js';

/** Of AdamW and of clipping. Weights and biases alike decay. */
export const TRAINING = /** @type {const} */ ({
  lr: 1e-3,
  betas: [0.9, 0.999],
  eps: 1e-8,
  weightDecay: 1e-2,
  maxNorm: 1,
});

/** Tokens of the text whose loss and gradient are compared with float64. */
const SHORT = 12;
/** Of the difference quotient. */
const STEP = 1e-6;

/** @typedef {{ data: Float32Array, shape: number[] }} Values */
/** @typedef {Record<string, Values>} State names and shapes are Hugging Face's: weights are [in, out] */

/**
 * @typedef {TrainShape & { state: State, rows: number[][], short: number[], direction: Record<string, Float32Array> }} TrainTask
 *   direction: in which the slope of the loss is compared
 */

/** @param {TrainShape} shape @returns {Record<string, number[]>} */
function shapesOf({ layers, width, hidden, vocabulary, tokens }) {
  /** @type {Record<string, number[]>} */
  const shapes = { 'wte.weight': [vocabulary, width], 'wpe.weight': [tokens, width] };
  const add = (/** @type {string} */ name, /** @type {number[]} */ ...shape) => {
    shapes[`${name}.weight`] = shape;
    shapes[`${name}.bias`] = shape.slice(-1);
  };
  for (let layer = 0; layer < layers; layer++) {
    const block = `h.${layer}.`;
    add(`${block}ln_1`, width);
    add(`${block}attn.c_attn`, width, 3 * width);
    add(`${block}attn.c_proj`, width, width);
    if (hidden === 0) continue;
    add(`${block}ln_2`, width);
    add(`${block}mlp.c_fc`, width, hidden);
    add(`${block}mlp.c_proj`, hidden, width);
  }
  add('ln_f', width);
  return shapes;
}

const sizeOf = (/** @type {number[]} */ shape) => shape.reduce((product, side) => product * side);

/** Norms near 1, matrices as wide as their input asks, biases small. @param {string} name @param {number[]} shape @param {number} seed */
function draw(name, shape, seed) {
  const isNorm = /ln_.*weight$/.test(name);
  const scale = shape.length === 2 ? 1 / Math.sqrt(shape[0]) : 0.1;
  return numbers(seed, sizeOf(shape)).map((value) => value * scale + Number(isNorm));
}

/** @param {TrainShape} shape @returns {TrainTask} */
export function trainTaskOf(shape) {
  const { vocabulary, tokens, batch } = shape;
  const named = Object.entries(shapesOf(shape));
  const state = named.map(([name, sides], i) => {
    const values = { data: draw(name, sides, 100 + i), shape: sides };
    return /** @type {const} */ ([name, values]);
  });
  const direction = named.map(([name, sides], i) => [name, numbers(1000 + i, sizeOf(sides))]);
  const rows = Array.from({ length: batch }, (_, row) =>
    Array.from(numbers(row + 1, tokens), (x) => Math.floor(((x + 1) / 2) * vocabulary)),
  );
  return {
    ...shape,
    ...{ state: Object.fromEntries(state), direction: Object.fromEntries(direction) },
    ...{ rows, short: rows[0].slice(0, SHORT) },
  };
}

/**
 * The loss of the short text, and its slope along the direction: a wrong gradient of any parameter changes it.
 * @param {TrainTask} task
 * @returns {Expected}
 */
export function expectedOfTraining(task) {
  const lossAt = (/** @type {number} */ step) => {
    const moved = Object.entries(task.state).map(([name, { data, shape }]) => {
      const along = task.direction[name];
      return [name, { data: Float64Array.from(data, (x, i) => x + step * along[i]), shape }];
    });
    return modelLoss(Object.fromEntries(moved), task, task.short);
  };
  const slope = (lossAt(STEP) - lossAt(-STEP)) / (2 * STEP);
  return { rows: [0], columns: 2, values: Float64Array.of(lossAt(0), slope) };
}

/**
 * A contestant's numbers for `expectedOfTraining`.
 * @param {TrainTask} task
 * @param {number} loss
 * @param {(name: string) => ArrayLike<number>} gradientOf
 */
export function lossAndSlope({ state, direction }, loss, gradientOf) {
  let slope = 0;
  for (const name of Object.keys(state)) {
    const gradient = gradientOf(name);
    direction[name].forEach((value, i) => (slope += value * gradient[i]));
  }
  return Float32Array.of(loss, slope);
}

/**
 * The target of each token but the last of a row: the next.
 * @param {readonly (readonly number[])[]} rows
 */
export const targetsOf = (rows) => rows.map((row) => row.slice(1));

/**
 * One row a token, with a 1 at its id: no peer has a gradient of looking rows up.
 * @param {readonly (readonly number[])[]} rows
 * @param {number} vocabulary
 */
export function oneHot(rows, vocabulary) {
  const ids = rows.flat();
  const result = new Float32Array(ids.length * vocabulary);
  ids.forEach((id, at) => (result[at * vocabulary + id] = 1));
  return result;
}
