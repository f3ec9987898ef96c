import { checkSize, checkTable } from '../checks/check.js';
import { AttendingModule } from './attention-module.js';
import { blockOf, blockTable } from './transformer-block.js';

/**
 * What a TransformerStack is made with: a block's options, and how many blocks there are.
 * @typedef {import('./transformer-block.js').TransformerBlockOptions & StackDepth} TransformerStackOptions
 */

/**
 * How many blocks.
 * @typedef {object} StackDepth
 * @property {number} numLayers blocks
 */

const table = { numLayers: checkSize, ...blockTable };

/** numLayers Transformer blocks one after another, in one call. State dict: blocks.0.ln1.weight and so on. */
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
     * What the stack was made with, defaults filled in.
     * @type {Readonly<Required<TransformerStackOptions>>}
     */
    this.options = Object.freeze(checked);
  }

  /**
   * Runs all blocks.
   * @template {boolean} [NeedWeights=false]
   * @template {boolean} [WithTrace=false]
   * @param {import('../tensor/tensor.js').Tensor} x [batch, tokens, dModel] or [tokens, dModel]
   * @param {import('./attention-module.js').ForwardOptions<NeedWeights, WithTrace>} [options] for every layer
   * @returns {import('./attention-module.js').LayerResults<NeedWeights, WithTrace>} as a block's, but `weights` and `trace` are arrays: one for each
   *   layer
   * @throws {HeadwiseError} as a block's
   */
  forward(x, options) {
    return /** @type {any} */ (this.attend(x, options));
  }
}
