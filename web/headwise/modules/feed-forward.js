import { feedForwardConfig, moduleKind } from '../engine/abi.js';
import { checkOptions, checkProbability, checkSize } from '../checks/check.js';
import { createModule } from './module.js';
import { RowwiseModule } from './rowwise-module.js';

/**
 * What a FeedForward is made with.
 * @typedef {object} FeedForwardOptions
 * @property {number} dModel width of x and of the output
 * @property {number} dFf of the hidden activations
 * @property {number} [dropout] default 0; of the hidden activations, in training mode
 */

/**
 * fc2(dropout(gelu(fc1(x)))) with the exact GELU, for every row alone. State dict: fc1.weight [dFf, dModel], fc1.bias,
 * fc2.weight [dModel, dFf], fc2.bias.
 */
export class FeedForward extends RowwiseModule {
  /**
   * @internal
   * @param {import('../engine/engine.js').Engine} engine
   * @param {FeedForwardOptions} options
   */
  constructor(engine, options) {
    const given = checkOptions(options, ['dModel', 'dFf', 'dropout'], 'FeedForward');
    const dModel = checkSize(given.dModel, 'dModel');
    const dFf = checkSize(given.dFf, 'dFf');
    const dropout = checkProbability(given.dropout ?? 0, 'dropout');
    const what = `a FeedForward of ${dModel} × ${dFf}`;
    const config = { dModel, dFf, dropout };
    const pointer = createModule(engine, moduleKind.feedForward, feedForwardConfig, config, {
      what,
    });
    super(engine, pointer, dModel, dModel);
  }
}
