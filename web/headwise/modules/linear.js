import { linearConfig, moduleKind } from '../engine/abi.js';
import { checkBoolean, checkOptions, checkSize } from '../checks/check.js';
import { createModule } from './module.js';
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
   * @param {import('../engine/engine.js').Engine} engine
   * @param {LinearOptions} options
   */
  constructor(engine, options) {
    const given = checkOptions(options, ['inFeatures', 'outFeatures', 'bias'], 'Linear');
    const inFeatures = checkSize(given.inFeatures, 'inFeatures');
    const outFeatures = checkSize(given.outFeatures, 'outFeatures');
    const bias = checkBoolean(given.bias ?? true, 'bias');
    const what = `a Linear of ${inFeatures} × ${outFeatures}`;
    const config = { inFeatures, outFeatures, bias };
    const pointer = createModule(engine, moduleKind.linear, linearConfig, config, { what });
    super(engine, pointer, inFeatures, outFeatures);
    /** Width of x. */
    this.inFeatures = inFeatures;
    /** Width of the output. */
    this.outFeatures = outFeatures;
  }
}
