// What all functions of headwise/understanding share: the model, its texts, forwards, and pauses between these.
import { checkFunction, checkIndex, checkShape, checkSignal } from '../checks/check.js';
import { checkId, checkIntegers, isOneText } from '../tensor/ids.js';
import { fitHeadMask } from '../modules/extras.js';
import { checkHeadMask } from '../modules/forward-options.js';
import { Tensor } from '../tensor/tensor.js';
import { decoderConfig, unrecordedForward } from './source.js';

/** @typedef {import('../models/language-model.js').LanguageModel} LanguageModel */
/** @typedef {import('../tensor/ids.js').Ids} Ids */
/** @typedef {import('../tensor/make-tensor.js').NestedNumbers} NestedNumbers */

/**
 * A model with its sizes.
 * @typedef {object} Subject
 * @property {LanguageModel} model
 * @property {number} numLayers
 * @property {number} numHeads
 * @property {number} headDim
 * @property {number} dModel
 * @property {number} vocabSize
 * @property {number} contextLength
 */

/** @param {unknown} model @returns {Subject} */
export function subjectOf(model) {
  const { numLayers, numHeads, headDim, dModel, vocabSize, contextLength } = decoderConfig(model);
  const subject = { numLayers, numHeads, headDim, dModel, vocabSize, contextLength };
  return { model: /** @type {LanguageModel} */ (model), ...subject };
}

/**
 * One text.
 * @param {Subject} subject
 * @param {unknown} value
 * @param {string} name the argument's
 * @returns {number[]} its ids, a copy
 */
export function checkText({ vocabSize, contextLength }, value, name) {
  const text = checkIntegers(value, name, vocabSize);
  const expected = () => `[tokens] of at most contextLength, ${contextLength}`;
  checkShape(text, name, isOneText(text) && text.size <= contextLength, expected);
  return Array.from(text.data);
}

/**
 * What is asked about.
 * @typedef {object} Question
 * @property {number} position
 * @property {number} target
 * @property {number | undefined} against
 */

/**
 * @param {Subject} subject
 * @param {Record<string, unknown>} given
 * @param {number} tokens of the text
 * @returns {Question}
 */
export function checkQuestion({ vocabSize }, given, tokens) {
  const { position = tokens - 1, target, against } = given;
  return {
    position: checkIndex(position, 'position', tokens),
    target: checkId(target, 'target', vocabSize),
    against: against === undefined ? undefined : checkId(against, 'against', vocabSize),
  };
}

/**
 * @param {Subject} subject
 * @param {any} value of the option headMask
 * @returns {Tensor | undefined} a copy
 */
export function checkMask({ numLayers, numHeads }, value) {
  if (value === undefined) {
    return undefined;
  }
  const given = checkHeadMask(value, 'headMask');
  fitHeadMask(given, numLayers, numHeads);
  return new Tensor(Float32Array.from(given.data), [numLayers, numHeads]);
}

/**
 * A forward whose gradients are not recorded.
 * @param {Subject} subject
 * @param {readonly number[]} text
 * @param {import('../models/language-model.js').DecoderForwardOptions} options
 * @returns {any}
 */
export const forward = ({ model }, text, options) => unrecordedForward(model, text, options);

/**
 * One of the tensors along the first axis.
 * @param {Tensor} all
 * @param {number} at
 */
export const entryOf = (all, at) =>
  all.slice([at, at + 1]).reshape(/** @type {number[]} */ (all.shape.slice(1)));

/**
 * How far the model prefers a token: its logit minus that of another, or its log-probability.
 * @param {Float32Array} logits
 * @param {Pick<Question, 'target' | 'against'>} question
 */
export function scoreOf(logits, { target, against }) {
  return against === undefined
    ? logits[target] - logSumOf(logits)
    : logits[target] - logits[against];
}

/**
 * A text's score with nothing changed.
 * @param {Subject} subject
 * @param {readonly number[]} text
 * @param {Question} question
 * @param {Tensor | undefined} headMask
 * @returns {{ score: number, residuals: Tensor }} residuals: the streams before each layer and after the last
 */
export function scoreText(subject, text, question, headMask) {
  const { logits, residuals } = forward(subject, text, { residuals: true, headMask });
  return { score: scoreOf(logits.data, question), residuals };
}

/** log Σ exp of logits. @param {Float32Array} logits */
export function logSumOf(logits) {
  let most = -Infinity;
  for (const logit of logits) {
    most = Math.max(most, logit);
  }
  let sum = 0;
  for (const logit of logits) {
    sum += Math.exp(logit - most);
  }
  return most + Math.log(sum);
}

/** How long events may wait. */
const mostMsWithoutEvents = 8;

/**
 * What a function of many forwards calls between two: it lets events be heard and stops at an abort.
 * @param {unknown} given the option signal
 * @returns {() => Promise<void>}
 */
export function pauses(given) {
  const signal = checkSignal(given);
  signal?.throwIfAborted();
  let last = performance.now();
  return async () => {
    signal?.throwIfAborted();
    if (performance.now() - last > mostMsWithoutEvents) {
      await new Promise((resolve) => setTimeout(resolve));
      last = performance.now();
      signal?.throwIfAborted();
    }
  };
}

/**
 * Goes through all heads (or other pairs), with a word to the caller and a pause after each.
 * @param {readonly [rows: number, columns: number]} shape
 * @param {Function | undefined} onProgress
 * @param {() => Promise<void>} pause
 * @param {(row: number, column: number) => number} compute
 * @param {(row: number, column: number, value: number) => object} tell what onProgress gets besides done and total
 * @returns {Promise<Tensor>} of the shape
 */
export async function sweep([rows, columns], onProgress, pause, compute, tell) {
  const total = rows * columns;
  const values = new Float32Array(total);
  for (let i = 0; i < total; i++) {
    const [row, column] = [Math.floor(i / columns), i % columns];
    values[i] = compute(row, column) + 0; // never -0
    await onProgress?.({ done: i + 1, total, ...tell(row, column, values[i]) });
    await pause();
  }
  return new Tensor(values, [rows, columns]);
}

/** @param {unknown} value of the option onProgress */
export const checkProgress = (value) => checkFunction(value, 'onProgress');
