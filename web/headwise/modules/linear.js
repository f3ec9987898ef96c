import { checkSize, checkTable, on } from '../checks/check.js';
import { RowwiseModule } from './rowwise-module.js';

/**
 * Options of the Linear constructor.
 * @typedef {object} LinearOptions
 * @property {number} inFeatures width of x
 * @property {number} outFeatures width of the output
 * @property {boolean} [bias] default true
 */

const table = { inFeatures: checkSize, outFeatures: checkSize, bias: on };

/** torch.nn.Linear: y = x·Wᵀ + b. State dict: weight [outFeatures, inFeatures], bias [outFeatures]. */
export class Linear extends RowwiseModule {
  /**
   * @internal
   * @param {import('../engine/engine.js').Engine} engine
   * @param {LinearOptions} options
   */
  constructor(engine, options) {
    const config = checkTable(options, table, 'Linear');
    const { inFeatures, outFeatures } = config;
    const what = `a Linear of ${inFeatures} × ${outFeatures}`;
    super(engine, { kind: 'linear', config, what }, inFeatures, outFeatures);
    /** Width of x. @readonly */
    this.inFeatures = inFeatures;
    /** Width of the output. @readonly */
    this.outFeatures = outFeatures;
  }
}
