import { checkEps, checkSize, checkTable } from '../checks/check.js';
import { RowwiseModule } from './rowwise-module.js';

/**
 * Options of the LayerNorm constructor.
 * @typedef {object} LayerNormOptions
 * @property {number} dim width of x
 * @property {number} [eps] default 1e-5; added to the variance
 */

const table = { dim: checkSize, eps: checkEps };

/** torch.nn.LayerNorm over the last dimension. State dict: weight [dim], bias [dim], initially ones and zeros. */
export class LayerNorm extends RowwiseModule {
  /**
   * @internal
   * @param {import('../engine/engine.js').Engine} engine
   * @param {LayerNormOptions} options
   */
  constructor(engine, options) {
    const config = checkTable(options, table, 'LayerNorm');
    const { dim } = config;
    super(engine, { kind: 'layerNorm', config, what: `a LayerNorm of ${dim}` }, dim, dim);
  }
}
