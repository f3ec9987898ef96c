import { recordCrossEntropy } from '../autograd/losses.js';
import {
  checkProbability,
  checkShape,
  checkSigned,
  checkTable,
  oneOf,
  or,
} from '../checks/check.js';
import { checkIntegers } from './ids.js';
import { binary, sumAlong } from './broadcast.js';
import { checkFloats } from './operand.js';
import { entropies } from './entropies.js';
import { checkSame } from './shape.js';
import { tensorOf } from './tensor.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('./tensor.js').Tensor} Tensor */

/**
 * How the losses of all elements are reduced: to their mean, to their sum, or not at all.
 * @typedef {'mean' | 'sum' | 'none'} Reduction
 */

const reduction = or(oneOf(/** @type {const} */ (['mean', 'sum', 'none'])), 'mean');

/**
 * Options of `mseLoss`.
 * @typedef {object} MseLossOptions
 * @property {Reduction} [reduction] default 'mean'
 */

const mseTable = { reduction };

/**
 * @param {Engine} engine
 * @param {Tensor} input
 * @param {Tensor} target
 * @param {MseLossOptions} [options]
 * @returns {Tensor}
 */
export function mseLoss(engine, input, target, options) {
  const { reduction: how } = checkTable(options, mseTable, 'mseLoss');
  const x = checkFloats(input, 'input');
  const y = checkFloats(target, 'target');
  checkSame(y, 'target', x.shape, ', as input');
  const difference = binary(engine, 'subtract', input, target);
  const squares = binary(engine, 'multiply', difference, difference);
  return how === 'none' ? squares : sumAlong(engine, how, squares);
}

/**
 * Options of `crossEntropy`.
 * @typedef {object} CrossEntropyOptions
 * @property {number} [ignoreIndex] default -100; targets of this value do not count
 * @property {Reduction} [reduction] default 'mean', over all targets but the ignored ones
 * @property {number} [labelSmoothing] default 0, at most 1; the share of each target's probability that is spread over all classes
 */

const entropyTable = {
  ...{ ignoreIndex: or(checkSigned, -100), reduction },
  labelSmoothing: or(checkProbability, 0),
};

/**
 * @param {Engine} engine
 * @param {Tensor} logits
 * @param {import('./ids.js').Ids} targets
 * @param {CrossEntropyOptions} [options]
 * @returns {Tensor}
 */
export function crossEntropy(engine, logits, targets, options) {
  const asked = checkTable(options, entropyTable, 'crossEntropy');
  const { reduction: how, ignoreIndex } = asked;
  const x = checkFloats(logits, 'logits');
  const lead = x.shape.slice(0, -1);
  const classes = x.shape[lead.length];
  checkShape(x, 'logits', classes > 0, () => '[…, classes], classes > 0');
  const given = checkIntegers(targets, 'targets', classes, ignoreIndex);
  checkSame(given, 'targets', lead, ', as logits');
  const call = { x, targets: given, ...asked };
  const losses = entropies(engine, call);
  const { data } = losses;
  const counted = given.data.reduce((sum, target) => sum + Number((target | 0) !== ignoreIndex), 0);
  const scale = how === 'mean' ? 1 / counted : 1;
  const y =
    how === 'none'
      ? losses
      : tensorOf(Float32Array.of(data.reduce((sum, loss) => sum + loss, 0) * scale), []);
  return engine.isRecording ? recordCrossEntropy(engine, y, logits, call, scale) : y;
}
