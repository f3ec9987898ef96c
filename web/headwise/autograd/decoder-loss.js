// The loss of a language model. The engine computes it without storing the logits of all tokens.
import { lossInput } from '../engine/abi.js';
import { checkShape, checkTable, or } from '../checks/check.js';
import { describe } from '../checks/describe.js';
import { addressOf } from '../engine/owned.js';
import { writeStruct } from '../engine/struct.js';
import { checkIds, checkTargets } from '../modules/embedding.js';
import { checkIgnored } from '../tensor/losses.js';
import { sameShape } from '../tensor/shape.js';
import { checkCurrent, Graph } from './modules.js';
import { attach } from './record.js';

/** @typedef {import('../modules/module.js').Module} Module */
/** @typedef {import('../modules/embedding.js').Ids} Ids */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * Options of `loss`.
 * @typedef {object} LossOptions
 * @property {number} [ignoreIndex] default -100; targets of this value do not count
 */

const table = { ignoreIndex: or(checkIgnored, -100) };

/**
 * The mean cross-entropy of a model's predictions and the targets that are not ignored.
 * @param {Module} module
 * @param {{ name: string, vocabSize: number, contextLength: number }} about name: the method's
 * @param {Ids} ids [batch, tokens] or [tokens]
 * @param {Ids | undefined} targets of the same shape; undefined: each id's is the next id of its row
 * @param {LossOptions | undefined} options
 * @returns {Tensor} of shape []
 */
export function decoderLoss(module, { name, vocabSize, contextLength }, ids, targets, options) {
  const { ignoreIndex } = checkTable(options, table, name);
  const input = checkIds(ids, vocabSize);
  const { shape } = input;
  const tokens = shape[shape.length - 1];
  const fits = (shape.length === 1 || shape.length === 2) && tokens <= contextLength;
  const expected = () => `[batch, tokens] or [tokens], at most contextLength, ${contextLength}`;
  checkShape(input, 'ids', fits, expected);
  const given = targets === undefined ? undefined : checkTargets(targets, vocabSize, ignoreIndex);
  if (given !== undefined) {
    checkShape(given, 'targets', sameShape(given.shape, shape), () => `${describe(shape)}, as ids`);
  }
  const { engine, pointer } = module;
  const isRecorded = engine.isRecording && module.trains;
  const [struct, loss, idsAt, targetsAt] = engine.lay([lossInput.bytes, 4, input, given]);
  const batch = input.size / tokens;
  const fields = { ids: idsAt, targets: targetsAt, batch, tokens, ignoreIndex };
  writeStruct(engine, struct, lossInput, fields);
  engine.check(engine.call.decoder_loss(pointer, struct, loss, isRecorded), name);
  const graph = isRecorded ? new Graph(engine, engine.result) : undefined;
  const result = engine.read(loss, []);
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
  const { engine, pointer } = module;
  engine.check(engine.call.decoder_loss_backward(pointer, addressOf(graph), scale), 'backward');
  module.forgetFrozen();
  return [];
}
