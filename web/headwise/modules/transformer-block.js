import { moduleKind, transformerBlockConfig } from '../engine/abi.js';
import {
  checkBoolean,
  checkChoice,
  checkOptions,
  checkProbability,
  checkSize,
} from '../checks/check.js';
import { HeadwiseError } from '../checks/error.js';
import { AttentionModule } from './attention-module.js';
import { createModule } from './module.js';

/**
 * What a TransformerBlock is made with.
 * @typedef {object} TransformerBlockOptions
 * @property {number} dModel width of x and of the output
 * @property {number} numHeads a divisor of dModel
 * @property {number} dFf of the feed-forward's hidden activations
 * @property {number} [dropout] default 0; of the attention weights, the hidden activations and both branches, in training
 *   mode
 * @property {'pre' | 'post'} [norm] default 'pre': layer norms before the sublayers, as GPT-2; 'post': after the residual
 *   sums, as the first Transformer
 * @property {boolean} [isCausal] default true
 */

export const blockOptions = ['dModel', 'numHeads', 'dFf', 'dropout', 'norm', 'isCausal'];

/** @param {Record<string, any>} given */
export function checkBlockOptions(given) {
  const checked = {
    dModel: checkSize(given.dModel, 'dModel'),
    numHeads: checkSize(given.numHeads, 'numHeads'),
    dFf: checkSize(given.dFf, 'dFf'),
    dropout: checkProbability(given.dropout ?? 0, 'dropout'),
    norm: checkChoice(given.norm ?? 'pre', 'norm', ['pre', 'post']),
    isCausal: checkBoolean(given.isCausal ?? true, 'isCausal'),
  };
  if (checked.dModel % checked.numHeads !== 0) {
    throw new HeadwiseError(
      'ERR_SHAPE',
      `dModel is ${checked.dModel}; expected a multiple of numHeads, ${checked.numHeads}`,
    );
  }
  return checked;
}

/**
 * The engine's config of a block, and what an AttendingModule is made with.
 * @param {ReturnType<typeof checkBlockOptions>} options
 */
export const blockOf = ({ norm, ...block }) => ({
  config: { ...block, normFirst: norm === 'pre' },
  sizes: {
    dIn: block.dModel,
    width: block.dModel,
    heads: block.numHeads,
    contextLength: Infinity,
  },
});

/**
 * Attention and feed-forward, each with its layer norm and residual connection: [batch, tokens, dModel] to the same, as
 * many tokens as memory holds. State dict: ln1.weight, ln1.bias, ln2.*, attn.qkv_proj.weight [3 · dModel, dModel],
 * attn.out_proj.weight, ffn.fc1.weight [dFf, dModel], ffn.fc1.bias, ffn.fc2.*.
 */
export class TransformerBlock extends AttentionModule {
  /**
   * @internal
   * @param {import('../engine/engine.js').Engine} engine
   * @param {TransformerBlockOptions} options
   */
  constructor(engine, options) {
    const checked = checkBlockOptions(checkOptions(options, blockOptions, 'TransformerBlock'));
    const what = `a TransformerBlock of ${checked.dModel} × ${checked.dFf}`;
    const { config, sizes } = blockOf(checked);
    const kind = moduleKind.transformerBlock;
    super(engine, createModule(engine, kind, transformerBlockConfig, config, { what }), sizes);
    /**
     * What the block was made with, defaults filled in.
     * @type {Readonly<Required<TransformerBlockOptions>>}
     */
    this.options = Object.freeze(checked);
  }
}
