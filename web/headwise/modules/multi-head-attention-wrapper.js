import { checkBoolean, checkOptions, checkSize } from '../check.js';
import { AttentionModule, checkCommonOptions } from './attention-module.js';
import { createModule, linearParameters } from './module.js';
import { projectionNames } from './single-head.js';

/**
 * What a MultiHeadAttentionWrapper is made with.
 * @typedef {object} MultiHeadAttentionWrapperOptions
 * @property {number} dIn width of x
 * @property {number} dOut per head
 * @property {number} contextLength the most tokens
 * @property {number} numHeads how many modules
 * @property {number} [dropout] default 0; of the weights, in training mode
 * @property {boolean} [qkvBias] default false
 * @property {boolean} [isCausal] default true
 */

/**
 * One CausalAttention per head, run one after another, outputs side by side: [batch, tokens, numHeads · dOut]. State dict:
 * heads.0.W_query.weight [dOut, dIn] and so on; a causal heads.0.mask … is accepted on loading.
 */
export class MultiHeadAttentionWrapper extends AttentionModule {
  /**
   * @internal
   * @param {import('../engine.js').Engine} engine
   * @param {MultiHeadAttentionWrapperOptions} options
   */
  constructor(engine, options) {
    const known = ['dIn', 'dOut', 'contextLength', 'dropout', 'numHeads', 'qkvBias', 'isCausal'];
    const given = checkOptions(options, known, 'MultiHeadAttentionWrapper');
    const { dIn, dOut, contextLength, dropout, qkvBias } = checkCommonOptions(given);
    const numHeads = checkSize(given.numHeads, 'numHeads');
    const isCausal = checkBoolean(given.isCausal ?? true, 'isCausal');
    const values = [true, dIn, dOut, contextLength, dropout, numHeads, qkvBias, isCausal];
    const what = `a MultiHeadAttentionWrapper of ${numHeads} heads of ${dIn} × ${dOut}`;
    const pointer = createModule(engine, 'wrapper_create', values, what);
    const parameters = Array.from({ length: numHeads }, (_, head) =>
      projectionNames.flatMap((name, i) => {
        const linear = engine.call.wrapper_linear(pointer, head, i) >>> 0;
        return linearParameters(`heads.${head}.${name}`, {
          linear,
          rows: dOut,
          inFeatures: dIn,
          bias: qkvBias,
        });
      }),
    ).flat();
    const created = {
      pointer,
      parameters,
      savedMasks: isCausal
        ? Array.from({ length: numHeads }, (_, head) => `heads.${head}.mask`)
        : [],
      destroy: 'wrapper_destroy',
      train: 'wrapper_train',
      forward: 'wrapper_forward',
    };
    super(engine, created, { dIn, width: numHeads * dOut, heads: numHeads, contextLength });
    /**
     * What the wrapper was made with, defaults filled in.
     * @type {Readonly<Required<MultiHeadAttentionWrapperOptions>>}
     */
    this.options = Object.freeze({
      dIn,
      dOut,
      contextLength,
      dropout,
      numHeads,
      qkvBias,
      isCausal,
    });
  }
}
