import { checkOptions } from '../check.js';
import { AttentionModule, checkCommonOptions, createModule } from './attention-module.js';
import { linearParameters } from './module.js';

export const projectionNames = /** @type {const} */ (['W_query', 'W_key', 'W_value']);

/**
 * @typedef {object} CausalAttentionOptions
 * @property {number} dIn
 * @property {number} dOut
 * @property {number} contextLength the most tokens
 * @property {number} [dropout] default 0; of the weights, in training mode
 * @property {boolean} [qkvBias] default false
 */

/** One causal head. State dict: W_query.weight [dOut, dIn], W_key.weight, W_value.weight, and biases with qkvBias; a causal
 * `mask` is accepted on loading. */
export class CausalAttention extends AttentionModule {
  /**
   * @param {import('../engine.js').Engine} engine
   * @param {CausalAttentionOptions} options
   */
  constructor(engine, options) {
    const known = ['dIn', 'dOut', 'contextLength', 'dropout', 'qkvBias'];
    const { dIn, dOut, contextLength, dropout, qkvBias } = checkCommonOptions(
      checkOptions(options, known, 'CausalAttention'),
    );
    const values = [true, dIn, dOut, contextLength, dropout, qkvBias];
    const pointer = createModule(
      engine,
      'causal_attention_create',
      values,
      `a CausalAttention of ${dIn} × ${dOut}`,
    );
    const parameters = projectionNames.flatMap((name, i) => {
      const linear = engine.call.causal_attention_linear(pointer, i) >>> 0;
      return linearParameters(name, { linear, rows: dOut, inFeatures: dIn, bias: qkvBias });
    });
    const created = {
      pointer,
      parameters,
      savedMasks: ['mask'],
      destroy: 'causal_attention_destroy',
      train: 'causal_attention_train',
      forward: 'causal_attention_forward',
    };
    super(engine, created, { dIn, width: dOut, heads: 1, contextLength });
  }
}
