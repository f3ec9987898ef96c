import { classOf } from '../checks/describe.js';
import { AttentionModule } from './attention-module.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */

/** One head with its own projections and without an output projection. */
export class SingleHead extends AttentionModule {
  /**
   * @internal
   * @param {Engine} engine
   * @param {{ dIn: number, dOut: number, contextLength: number, dropout: number, qkvBias: boolean, isCausal: boolean,
   *   byHand?: boolean }} options checked; byHand: as chapter 3.4 writes it, W_query [dIn, dOut] drawn by rand
   */
  constructor(engine, options) {
    const { dIn, dOut, contextLength, isCausal } = options;
    const what = `a ${classOf(new.target.prototype)} of ${dIn} × ${dOut}`;
    const sizes = { dIn, width: dOut, heads: 1, contextLength };
    const spec = { kind: /** @type {const} */ ('causalAttention'), config: options, what };
    super(engine, spec, sizes, (key) => isCausal && key === 'mask');
  }
}
