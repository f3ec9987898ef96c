import { checkSize, checkTable } from '../checks/check.js';
import { AttentionModule, isCausal, qkvBias, sizeChecks } from './attention-module.js';

/**
 * What a MultiHeadAttentionWrapper is made with.
 * @typedef {object} MultiHeadAttentionWrapperOptions
 * @property {number} dIn width of x
 * @property {number} dOut per head
 * @property {number} contextLength the most tokens
 * @property {number} numHeads how many modules
 * @property {number} [dropout] default 0; of the weights, in training mode
 * @property {boolean} [qkvBias] default false
 * @property {boolean} [isCausal] default true
 */

const table = { ...sizeChecks, numHeads: checkSize, qkvBias, isCausal };

/** @type {(value: unknown) => value is object} */
const isObject = (value) => typeof value === 'object' && value !== null;

/**
 * What a wrapper was made with; undefined for everything else, Proxies of wrappers too.
 * @type {(value: unknown) => Readonly<Required<MultiHeadAttentionWrapperOptions>> | undefined}
 */
export let optionsOf;

/**
 * One CausalAttention per head, run one after another, outputs side by side: [batch, tokens, numHeads · dOut]. State dict:
 * heads.0.W_query.weight [dOut, dIn] and so on; a causal heads.0.mask … is accepted on loading.
 */
export class MultiHeadAttentionWrapper extends AttentionModule {
  /** @type {Readonly<Required<MultiHeadAttentionWrapperOptions>>} */
  #options;

  static {
    optionsOf = (value) => (isObject(value) && #options in value ? value.#options : undefined);
  }

  /**
   * @internal
   * @param {import('../engine/engine.js').Engine} engine
   * @param {MultiHeadAttentionWrapperOptions} options
   */
  constructor(engine, options) {
    const checked = checkTable(options, table, 'MultiHeadAttentionWrapper');
    const { numHeads, ...head } = checked;
    const { dIn, dOut, contextLength } = head;
    const what = `a MultiHeadAttentionWrapper of ${numHeads} heads of ${dIn} × ${dOut}`;
    const sizes = { dIn, width: numHeads * dOut, heads: numHeads, contextLength };
    const isMask = (/** @type {string} */ key) =>
      head.isCausal && Number(/^heads\.(0|[1-9]\d*)\.mask$/.exec(key)?.[1]) < numHeads;
    const config = { head, numHeads };
    super(engine, { kind: 'multiHeadAttentionWrapper', config, what }, sizes, isMask);
    /**
     * What the wrapper was made with, defaults filled in.
     * @type {Readonly<Required<MultiHeadAttentionWrapperOptions>>}
     */
    this.options = Object.freeze(checked);
    this.#options = this.options;
  }
}
