import { checkProbability, checkSize, checkTable, on, oneOf, or } from '../checks/check.js';
import { AttentionModule, checkHeads } from './attention-module.js';

/**
 * Options of the TransformerBlock constructor.
 * @typedef {object} TransformerBlockOptions
 * @property {number} dModel width of x and of the output
 * @property {number} numHeads a divisor of dModel
 * @property {number} dFf width of the feed-forward's hidden activations
 * @property {number} [dropout] default 0; applied to the attention weights, the hidden activations and both branches in
 *   training mode
 * @property {'pre' | 'post'} [norm] default 'pre': layer norms before the sublayers, as in GPT-2; 'post': after the residual
 *   sums, as in the first Transformer
 * @property {boolean} [isCausal] default true
 */

export const blockTable = {
  ...{ dModel: checkSize, numHeads: checkSize, dFf: checkSize },
  dropout: or(checkProbability, 0),
  norm: or(oneOf(/** @type {const} */ (['pre', 'post'])), 'pre'),
  isCausal: on,
};

/**
 * The engine's config of a block, and what an AttendingModule is made with.
 * @param {Required<TransformerBlockOptions>} options
 */
export function blockOf({ norm, ...block }) {
  const { dModel, numHeads } = block;
  checkHeads(dModel, 'dModel', numHeads);
  return {
    config: { ...block, normFirst: norm === 'pre' },
    sizes: { dIn: dModel, width: dModel, heads: numHeads, contextLength: Infinity },
  };
}

/**
 * Attention and feed-forward, each with its layer norm and residual connection. Input and output: [batch, tokens, dModel].
 * Only memory limits the number of tokens. State dict: ln1.weight, ln1.bias, ln2.*, attn.qkv_proj.weight [3 · dModel, dModel],
 * attn.out_proj.weight, ffn.fc1.weight [dFf, dModel], ffn.fc1.bias, ffn.fc2.*.
 */
export class TransformerBlock extends AttentionModule {
  /**
   * @internal
   * @param {import('../engine/engine.js').Engine} engine
   * @param {TransformerBlockOptions} options
   */
  constructor(engine, options) {
    const checked = checkTable(options, blockTable, 'TransformerBlock');
    const { config, sizes } = blockOf(checked);
    const what = `a TransformerBlock of ${checked.dModel} × ${checked.dFf}`;
    super(engine, { kind: 'transformerBlock', config, what }, sizes);
    /**
     * The options of the block, with defaults filled in.
     * @type {Readonly<Required<TransformerBlockOptions>>}
     * @readonly
     */
    this.options = Object.freeze(checked);
  }
}
