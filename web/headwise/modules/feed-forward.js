import { checkProbability, checkSize, checkTable, or } from '../checks/check.js';
import { RowwiseModule } from './rowwise-module.js';

/**
 * Options of the FeedForward constructor.
 * @typedef {object} FeedForwardOptions
 * @property {number} dModel width of x and of the output
 * @property {number} dFf width of the hidden activations
 * @property {number} [dropout] default 0; applied to the hidden activations in training mode
 */

const table = { dModel: checkSize, dFf: checkSize, dropout: or(checkProbability, 0) };

/**
 * fc2(dropout(gelu(fc1(x)))) with the exact GELU, for each row separately. State dict: fc1.weight [dFf, dModel], fc1.bias,
 * fc2.weight [dModel, dFf], fc2.bias.
 */
export class FeedForward extends RowwiseModule {
  /**
   * @internal
   * @param {import('../engine/engine.js').Engine} engine
   * @param {FeedForwardOptions} options
   */
  constructor(engine, options) {
    const config = checkTable(options, table, 'FeedForward');
    const { dModel, dFf } = config;
    const what = `a FeedForward of ${dModel} × ${dFf}`;
    super(engine, { kind: 'feedForward', config, what }, dModel, dModel);
  }
}
