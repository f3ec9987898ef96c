import { checkBoolean, checkOptions, checkSize } from '../check.js';
import { createModule, linearParameters } from './module.js';
import { RowwiseModule } from './rowwise-module.js';

/**
 * What a Linear is made with.
 * @typedef {object} LinearOptions
 * @property {number} inFeatures width of x
 * @property {number} outFeatures width of the output
 * @property {boolean} [bias] default true
 */

/** torch.nn.Linear: y = x·Wᵀ + b. State dict: weight [outFeatures, inFeatures], bias [outFeatures]. */
export class Linear extends RowwiseModule {
  /**
   * @internal
   * @param {import('../engine.js').Engine} engine
   * @param {LinearOptions} options
   */
  constructor(engine, options) {
    const given = checkOptions(options, ['inFeatures', 'outFeatures', 'bias'], 'Linear');
    const inFeatures = checkSize(given.inFeatures, 'inFeatures');
    const outFeatures = checkSize(given.outFeatures, 'outFeatures');
    const bias = checkBoolean(given.bias ?? true, 'bias');
    const values = [true, inFeatures, outFeatures, bias];
    const what = `a Linear of ${inFeatures} × ${outFeatures}`;
    const linear = createModule(engine, 'linear_create', values, what);
    const created = {
      pointer: linear,
      parameters: linearParameters('', { linear, rows: outFeatures, inFeatures, bias }),
      destroy: 'linear_destroy',
      forward: 'linear_forward',
    };
    super(engine, created, inFeatures, outFeatures);
    /** Width of x. */
    this.inFeatures = inFeatures;
    /** Width of the output. */
    this.outFeatures = outFeatures;
  }
}
