import { checkOptions, checkProbability, checkSize } from '../check.js';
import { createModule, linearParameters } from './module.js';
import { RowwiseModule } from './rowwise-module.js';

/**
 * What a FeedForward is made with.
 * @typedef {object} FeedForwardOptions
 * @property {number} dModel width of x and of the output
 * @property {number} dFf of the hidden activations
 * @property {number} [dropout] default 0; of the hidden activations, in training mode
 */

/**
 * The parameters of fc1 and fc2.
 * @param {string} prefix
 * @param {(index: 0 | 1) => number} linear addresses
 * @param {{ dModel: number, dFf: number }} sizes
 */
export const feedForwardParameters = (prefix, linear, { dModel, dFf }) => [
  ...linearParameters(`${prefix}fc1`, {
    linear: linear(0) >>> 0,
    rows: dFf,
    inFeatures: dModel,
    bias: true,
  }),
  ...linearParameters(`${prefix}fc2`, {
    linear: linear(1) >>> 0,
    rows: dModel,
    inFeatures: dFf,
    bias: true,
  }),
];

/**
 * fc2(dropout(gelu(fc1(x)))) with the exact GELU, for every row alone. State dict: fc1.weight [dFf, dModel], fc1.bias,
 * fc2.weight [dModel, dFf], fc2.bias.
 */
export class FeedForward extends RowwiseModule {
  /**
   * @internal
   * @param {import('../engine.js').Engine} engine
   * @param {FeedForwardOptions} options
   */
  constructor(engine, options) {
    const given = checkOptions(options, ['dModel', 'dFf', 'dropout'], 'FeedForward');
    const dModel = checkSize(given.dModel, 'dModel');
    const dFf = checkSize(given.dFf, 'dFf');
    const dropout = checkProbability(given.dropout ?? 0, 'dropout');
    const what = `a FeedForward of ${dModel} × ${dFf}`;
    const pointer = createModule(engine, 'feed_forward_create', [dModel, dFf, dropout], what);
    const linear = (/** @type {number} */ index) => engine.call.feed_forward_linear(pointer, index);
    const created = {
      pointer,
      parameters: feedForwardParameters('', linear, { dModel, dFf }),
      destroy: 'feed_forward_destroy',
      train: 'feed_forward_train',
      forward: 'feed_forward_forward',
    };
    super(engine, created, dModel, dModel);
  }
}
