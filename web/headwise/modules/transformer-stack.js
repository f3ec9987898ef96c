import { moduleKind, transformerStackConfig } from '../engine/abi.js';
import { checkOptions, checkSize } from '../checks/check.js';
import { AttendingModule } from './attention-module.js';
import { createModule } from './module.js';
import { blockOf, blockOptions, checkBlockOptions } from './transformer-block.js';

/**
 * What a TransformerStack is made with: a block's options, and how many blocks there are.
 * @typedef {import('./transformer-block.js').TransformerBlockOptions & StackDepth} TransformerStackOptions
 */

/**
 * How many blocks.
 * @typedef {object} StackDepth
 * @property {number} numLayers blocks
 */

/** numLayers Transformer blocks one after another, in one call. State dict: blocks.0.ln1.weight and so on. */
export class TransformerStack extends AttendingModule {
  /**
   * @internal
   * @param {import('../engine/engine.js').Engine} engine
   * @param {TransformerStackOptions} options
   */
  constructor(engine, options) {
    const given = checkOptions(options, ['numLayers', ...blockOptions], 'TransformerStack');
    const numLayers = checkSize(given.numLayers, 'numLayers');
    const checked = checkBlockOptions(given);
    const { dModel, dFf } = checked;
    const what = `a TransformerStack of ${numLayers} × ${dModel} × ${dFf}`;
    const { config: block, sizes } = blockOf(checked);
    const kind = moduleKind.transformerStack;
    const config = { block, numLayers };
    const pointer = createModule(engine, kind, transformerStackConfig, config, { what });
    super(engine, pointer, { ...sizes, layers: numLayers });
    /**
     * What the stack was made with, defaults filled in.
     * @type {Readonly<Required<TransformerStackOptions>>}
     */
    this.options = Object.freeze({ numLayers, ...checked });
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
    return /** @type {any} */ (this.attend(x, this.checkForwardOptions(options)));
  }
}
