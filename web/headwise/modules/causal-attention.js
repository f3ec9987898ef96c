import { checkTable, off } from '../checks/check.js';
import { sizeChecks } from './attention-module.js';
import { SingleHead } from './single-head.js';

/**
 * Options of the CausalAttention constructor.
 * @typedef {object} CausalAttentionOptions
 * @property {number} dIn width of x
 * @property {number} dOut width of the output
 * @property {number} contextLength the largest number of tokens
 * @property {number} [dropout] default 0; applied to the weights in training mode
 * @property {boolean} [qkvBias] default false
 */

const table = { ...sizeChecks, qkvBias: off };

/** One causal head. State dict: W_query.weight [dOut, dIn], W_key.weight, W_value.weight, and biases with qkvBias. Loading
 * also accepts a causal `mask`. */
export class CausalAttention extends SingleHead {
  /**
   * @internal
   * @param {import('../engine/engine.js').Engine} engine
   * @param {CausalAttentionOptions} options
   */
  constructor(engine, options) {
    super(engine, { ...checkTable(options, table, 'CausalAttention'), isCausal: true });
  }
}
