import { checkEps, checkOptions, checkSize } from '../check.js';
import { arrayParameter, createModule } from './module.js';
import { RowwiseModule } from './rowwise-module.js';

/** @typedef {import('../engine.js').Engine} Engine */

/**
 * What a LayerNorm is made with.
 * @typedef {object} LayerNormOptions
 * @property {number} dim width of x
 * @property {number} [eps] default 1e-5; added to the variance
 */

/**
 * @param {Engine} engine
 * @param {string} name such as ln1; empty for the module itself
 * @param {number} norm the address of an hw_layer_norm
 * @param {number} dim
 */
export function normParameters(engine, name, norm, dim) {
  const prefix = name === '' ? '' : `${name}.`;
  return [
    arrayParameter(`${prefix}weight`, engine.call.layer_norm_weight(norm) >>> 0, [dim]),
    arrayParameter(`${prefix}bias`, engine.call.layer_norm_bias(norm) >>> 0, [dim]),
  ];
}

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
    const pointer = createModule(engine, 'layer_norm_create', [dim, eps], `a LayerNorm of ${dim}`);
    const created = {
      pointer,
      parameters: normParameters(engine, '', pointer, dim),
      destroy: 'layer_norm_destroy',
      forward: 'layer_norm_forward',
    };
    super(engine, created, dim, dim);
  }
}
