import { layerNormConfig, moduleKind } from '../engine/abi.js';
import { checkEps, checkOptions, checkSize } from '../checks/check.js';
import { createModule } from './module.js';
import { RowwiseModule } from './rowwise-module.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */

/**
 * What a LayerNorm is made with.
 * @typedef {object} LayerNormOptions
 * @property {number} dim width of x
 * @property {number} [eps] default 1e-5; added to the variance
 */

/** torch.nn.LayerNorm over the last dimension. State dict: weight [dim], bias [dim], ones and zeros at first. */
export class LayerNorm extends RowwiseModule {
  /**
   * @internal
   * @param {Engine} engine
   * @param {LayerNormOptions} options
   */
  constructor(engine, options) {
    const given = checkOptions(options, ['dim', 'eps'], 'LayerNorm');
    const dim = checkSize(given.dim, 'dim');
    const eps = checkEps(given.eps);
    const what = `a LayerNorm of ${dim}`;
    const pointer = createModule(
      engine,
      moduleKind.layerNorm,
      layerNormConfig,
      { dim, eps },
      { what },
    );
    super(engine, pointer, dim, dim);
  }
}
