// The loss of a model. The engine computes it without storing the logits of all tokens.
import { lossInput } from '../engine/abi.js';
import { checkContext, checkSigned, or } from '../checks/check.js';
import { addressOf } from '../engine/owned.js';
import { writeStruct } from '../engine/struct.js';
import { checkAsIds, readLengths, withLengths } from '../tensor/ragged.js';
import { checkRows, checkTexts } from '../tensor/ids.js';
import { forgetFrozen, trains } from '../modules/module.js';
import { checkCurrent, Graph } from './modules.js';
import { attach } from './record.js';

/** @typedef {import('../modules/module.js').Module} Module */
/** @typedef {import('../tensor/ids.js').Ids} Ids */
/** @typedef {import('../tensor/make-tensor.js').NumberArray} NumberArray */
/** @typedef {import('../tensor/make-tensor.js').BigIntArray} BigIntArray */
/** @typedef {import('../tensor/operand.js').IdsOperand} IdsOperand */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * Options of a decoder's `loss`.
 * @typedef {object} LossOptions
 * @property {number} [ignoreIndex] default -100; targets of this value do not count
 * @property {readonly number[] | NumberArray | BigIntArray} [lengths] how many ids of each row count, at least 1: the others are
 *   padding, which no token attends to and whose targets do not count. Default: all
 * @property {Ids} [positionIds] as of `forward`
 */

/** What checks the options that the losses of decoders and encoders share. */
export const lossOptions = { ignoreIndex: or(checkSigned, -100), lengths: readLengths };

/** @type {readonly number[]} */
const scalar = [];

/**
 * The mean cross-entropy of a model's predictions and the targets that are not ignored.
 * @param {Module} module
 * @param {{ name: string, vocabSize: number, contextLength: number }} about name: the method's
 * @param {Ids} ids [batch, tokens] or [tokens]
 * @param {Ids | null | undefined} targets of the same shape; without them, each id's is the next id of its row
 * @param {import('../checks/check.js').Checked<typeof lossOptions>} asked
 * @param {{ tokenTypes?: IdsOperand, positionIds?: IdsOperand }} beside to be of the ids' shape
 * @returns {Tensor} of shape []
 */
export function modelLoss(module, { name, vocabSize, contextLength }, ids, targets, asked, beside) {
  const { ignoreIndex, lengths } = asked;
  const plain = checkTexts(ids, vocabSize);
  const { shape } = plain;
  const tokens = shape[shape.length - 1];
  checkContext(tokens, 'ids', contextLength);
  const given =
    (targets ?? null) === null ? undefined : checkRows(targets, 'targets', vocabSize, ignoreIndex);
  checkAsIds(given, 'targets', plain);
  const { tokenTypes, positionIds } = beside;
  checkAsIds(tokenTypes, 'tokenTypes', plain);
  checkAsIds(positionIds, 'positionIds', plain);
  const input = withLengths(plain, lengths);
  const { engine } = module;
  const pointer = addressOf(module);
  const isRecorded = engine.isRecording && trains(module);
  if (isRecorded) module.checkRecording(name);
  const laid = engine.lay([lossInput.bytes, 4, input, given, tokenTypes, positionIds]);
  const [struct, loss, idsAt] = laid;
  writeStruct(engine, struct, lossInput, {
    ids: idsAt,
    targets: laid[3],
    tokenTypes: laid[4],
    positionIds: laid[5],
    lengths: input.lengths ? idsAt + 4 * plain.size : 0,
    batch: plain.size / tokens,
    tokens,
    ignoreIndex,
  });
  engine.check(engine.call.model_loss(pointer, struct, loss, isRecorded), name);
  const graph = isRecorded ? new Graph(engine, engine.result) : undefined;
  const result = engine.read(loss, scalar, 1);
  if (graph !== undefined) {
    attach(engine, result, [], ({ data }) => passBack(module, graph, data[0]), {
      check: () => checkCurrent(module, graph),
      dispose: () => graph.dispose(),
    });
  }
  return result;
}

/**
 * @param {Module} module
 * @param {Graph} graph
 * @param {number} scale the loss's gradient
 * @returns {[]} it has no inputs but parameters
 */
function passBack(module, graph, scale) {
  const { engine } = module;
  const pointer = addressOf(module);
  engine.check(engine.call.model_loss_backward(pointer, addressOf(graph), scale), 'backward');
  forgetFrozen(module);
  return [];
}
