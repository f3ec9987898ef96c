import { causalAttentionConfig, moduleKind } from '../engine/abi.js';
import { classOf } from '../checks/describe.js';
import { AttentionModule } from './attention-module.js';
import { createModule } from './module.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */

/** One head over projections of its own, without an output projection. */
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
    const kind = moduleKind.causalAttention;
    const pointer = createModule(engine, kind, causalAttentionConfig, options, { what });
    const sizes = { dIn, width: dOut, heads: 1, contextLength };
    super(engine, pointer, sizes, isCausal ? ['mask'] : []);
  }
}
