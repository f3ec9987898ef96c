import { AttentionModule } from './attention-module.js';
import { createModule, linearParameters } from './module.js';

/** @typedef {import('../engine.js').Engine} Engine */

export const projectionNames = /** @type {const} */ (['W_query', 'W_key', 'W_value']);

/** One head over projections of its own, without an output projection. */
export class SingleHead extends AttentionModule {
  /**
   * @internal
   * @param {Engine} engine
   * @param {{ dIn: number, dOut: number, contextLength: number, dropout: number, qkvBias: boolean, isCausal: boolean }} options
   *   checked
   * @param {object} [own]
   * @param {boolean} [own.draw] false: leave the weights zero and the generator where it is
   * @param {typeof linearParameters} [own.parametersOf] a projection's
   */
  constructor(engine, options, { draw = true, parametersOf = linearParameters } = {}) {
    const { dIn, dOut, contextLength, dropout, qkvBias, isCausal } = options;
    const values = [draw, dIn, dOut, contextLength, dropout, qkvBias, isCausal];
    const what = `a ${new.target.name} of ${dIn} × ${dOut}`;
    const pointer = createModule(engine, 'causal_attention_create', values, what);
    const parameters = projectionNames.flatMap((name, i) => {
      const linear = engine.call.causal_attention_linear(pointer, i) >>> 0;
      return parametersOf(name, { linear, rows: dOut, inFeatures: dIn, bias: qkvBias });
    });
    const created = {
      pointer,
      parameters,
      savedMasks: isCausal ? ['mask'] : [],
      destroy: 'causal_attention_destroy',
      train: 'causal_attention_train',
      forward: 'causal_attention_forward',
    };
    super(engine, created, { dIn, width: dOut, heads: 1, contextLength });
  }
}
