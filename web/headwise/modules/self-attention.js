import { checkSize, checkTable, off } from '../checks/check.js';
import { SingleHead } from './single-head.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */

/** No limit: memory limits the number of tokens. */
const contextLength = 2 ** 32 - 1;

/** The settings that the options do not include. */
const rest = { contextLength, dropout: 0, isCausal: false };

const table1 = { dIn: checkSize, dOut: checkSize };
const table2 = { ...table1, qkvBias: off };

/**
 * Options of the SelfAttentionV1 constructor.
 * @typedef {object} SelfAttentionV1Options
 * @property {number} dIn width of x
 * @property {number} dOut width of the output
 */

/** One head without a mask; it multiplies x by W directly. State dict: W_query [dIn, dOut], W_key, W_value, drawn by rand. */
export class SelfAttentionV1 extends SingleHead {
  /** @internal @param {Engine} engine @param {SelfAttentionV1Options} options */
  constructor(engine, options) {
    const given = checkTable(options, table1, 'SelfAttentionV1');
    super(engine, { ...rest, ...given, qkvBias: false, byHand: true });
  }
}

/**
 * Options of the SelfAttentionV2 constructor.
 * @typedef {object} SelfAttentionV2Options
 * @property {number} dIn width of x
 * @property {number} dOut width of the output
 * @property {boolean} [qkvBias] default false
 */

/**
 * One head without a mask, made of Linear layers. State dict: W_query.weight [dOut, dIn], W_key.weight, W_value.weight, and biases
 * with qkvBias.
 */
export class SelfAttentionV2 extends SingleHead {
  /** @internal @param {Engine} engine @param {SelfAttentionV2Options} options */
  constructor(engine, options) {
    super(engine, { ...rest, ...checkTable(options, table2, 'SelfAttentionV2') });
  }
}
