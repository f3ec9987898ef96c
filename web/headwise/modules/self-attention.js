import { checkBoolean, checkOptions, checkSize } from '../check.js';
import { aligned } from '../engine.js';
import { random } from '../functions.js';
import { projectionNames, SingleHead } from './single-head.js';

/** @typedef {import('../engine.js').Engine} Engine */
/** @typedef {import('./module.js').Parameter} Parameter */

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
 * The weight of an hw_linear, [rows, inFeatures] there, as x · W has it: [inFeatures, rows].
 * @param {string} key
 * @param {{ linear: number, rows: number, inFeatures: number }} place
 * @returns {Parameter[]}
 */
function transposedWeight(key, { linear, rows, inFeatures }) {
  const bytes = aligned(rows * inFeatures * 4);
  const shape = [inFeatures, rows];
  return [
    {
      key,
      shape,
      staged: 2 * bytes,
      read(engine) {
        const at = engine.stage(2 * bytes);
        engine.check(engine.call.linear_store(linear, 0, rows, at, 0), 'stateDict');
        engine.call.transpose(at, at + bytes, 1, rows, inFeatures);
        return engine.read(at + bytes, shape);
      },
      write(engine, value) {
        const at = engine.stage(2 * bytes);
        engine.write(at, value);
        engine.call.transpose(at, at + bytes, 1, inFeatures, rows);
        engine.check(engine.call.linear_load(linear, 0, rows, at + bytes, 0), 'loadStateDict');
      },
    },
  ];
}

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
    const checked = checkSelfAttention(given);
    super(engine, checked, { draw: false, parametersOf: transposedWeight });
    const shape = [checked.dIn, checked.dOut];
    try {
      // All the room there will be need for, so that a failure leaves the generator where it is.
      engine.stage(2 * aligned(checked.dIn * checked.dOut * 4));
      const drawn = projectionNames.map((name) => [name, random(engine, 'rand', shape)]);
      this.loadStateDict(Object.fromEntries(drawn));
    } catch (error) {
      this.dispose();
      throw error;
    }
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
