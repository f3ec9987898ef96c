import { checkSize, checkTable } from '../checks/check.js';
import { AttendingModule } from './attention-module.js';
import { blockOf, blockTable } from './transformer-block.js';

/**
 * Options of the TransformerStack constructor: a block's options and the number of blocks.
 * @typedef {import('./transformer-block.js').TransformerBlockOptions & StackDepth} TransformerStackOptions
 */

/**
 * The number of blocks.
 * @typedef {object} StackDepth
 * @property {number} numLayers the number of blocks
 */

const table = { numLayers: checkSize, ...blockTable };

/** A sequence of numLayers Transformer blocks, run in one call. State dict: blocks.0.ln1.weight and so on. */
export class TransformerStack extends AttendingModule {
  /**
   * @internal
   * @param {import('../engine/engine.js').Engine} engine
   * @param {TransformerStackOptions} options
   */
  constructor(engine, options) {
    const checked = checkTable(options, table, 'TransformerStack');
    const { numLayers, ...each } = checked;
    const { dModel, dFf } = checked;
    const { config: block, sizes } = blockOf(each);
    const what = `a TransformerStack of ${numLayers} × ${dModel} × ${dFf}`;
    const config = { block, numLayers };
    super(engine, { kind: 'transformerStack', config, what }, { ...sizes, layers: numLayers });
    /**
     * The options of the stack, with defaults filled in.
     * @type {Readonly<Required<TransformerStackOptions>>}
     * @readonly
     */
    this.options = Object.freeze(checked);
  }

  /**
   * Runs all blocks.
   * @template {boolean} [NeedWeights=false]
   * @template {boolean} [WithTrace=false]
   * @param {import('../tensor/tensor.js').Tensor} x [batch, tokens, dModel] or [tokens, dModel]
   * @param {import('./attention-module.js').ForwardOptions<NeedWeights, WithTrace>} [options] for every layer
   * @returns {import('./attention-module.js').LayerResults<NeedWeights, WithTrace>} like a block's result, but `weights` and `trace` are arrays, one for
   *   each layer
   * @throws {HeadwiseError} as in a block's `forward`
   */
  forward(x, options) {
    return /** @type {any} */ (this.attend(x, options));
  }
}
