import { checkBoolean, checkOptions, checkSize } from '../checks/check.js';
import { SingleHead } from './single-head.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */

/** As many tokens as memory holds. */
const contextLength = 2 ** 32 - 1;

/**
 * @param {Record<string, any>} given known options
 */
const checkSelfAttention = (given) => ({
  dIn: checkSize(given.dIn, 'dIn'),
  dOut: checkSize(given.dOut, 'dOut'),
  qkvBias: checkBoolean(given.qkvBias ?? false, 'qkvBias'),
  contextLength,
  dropout: 0,
  isCausal: false,
});

/**
 * What a SelfAttentionV1 is made with.
 * @typedef {object} SelfAttentionV1Options
 * @property {number} dIn width of x
 * @property {number} dOut width of the output
 */

/** One head without a mask, x · W written by hand. State dict: W_query [dIn, dOut], W_key, W_value, drawn by rand. */
export class SelfAttentionV1 extends SingleHead {
  /**
   * @internal
   * @param {Engine} engine
   * @param {SelfAttentionV1Options} options
   */
  constructor(engine, options) {
    const given = checkOptions(options, ['dIn', 'dOut'], 'SelfAttentionV1');
    super(engine, { ...checkSelfAttention(given), byHand: true });
  }
}

/**
 * What a SelfAttentionV2 is made with.
 * @typedef {object} SelfAttentionV2Options
 * @property {number} dIn width of x
 * @property {number} dOut width of the output
 * @property {boolean} [qkvBias] default false
 */

/**
 * One head without a mask, of Linear layers. State dict: W_query.weight [dOut, dIn], W_key.weight, W_value.weight, and biases
 * with qkvBias.
 */
export class SelfAttentionV2 extends SingleHead {
  /**
   * @internal
   * @param {Engine} engine
   * @param {SelfAttentionV2Options} options
   */
  constructor(engine, options) {
    const given = checkOptions(options, ['dIn', 'dOut', 'qkvBias'], 'SelfAttentionV2');
    super(engine, checkSelfAttention(given));
  }
}
