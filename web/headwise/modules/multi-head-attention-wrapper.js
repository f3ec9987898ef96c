import { checkSize, checkTable, off, on } from '../checks/check.js';
import { isObject } from '../checks/foreign.js';
import { AttentionModule, sizeChecks } from './attention-module.js';

/**
 * Options of the MultiHeadAttentionWrapper constructor.
 * @typedef {object} MultiHeadAttentionWrapperOptions
 * @property {number} dIn width of x
 * @property {number} dOut output width of each head
 * @property {number} contextLength the largest number of tokens
 * @property {number} numHeads the number of heads: one CausalAttention each
 * @property {number} [dropout] default 0; applied to the weights in training mode
 * @property {boolean} [qkvBias] default false
 * @property {boolean} [isCausal] default true
 */

const table = { ...sizeChecks, numHeads: checkSize, qkvBias: off, isCausal: on };

/**
 * The options of a wrapper. Undefined for other values, Proxies of wrappers included.
 * @type {(value: unknown) => Readonly<Required<MultiHeadAttentionWrapperOptions>> | undefined}
 */
export let optionsOf;

/**
 * One CausalAttention per head, run one after another. The output concatenates theirs: [batch, tokens, numHeads · dOut].
 * State dict: heads.0.W_query.weight [dOut, dIn] and so on. If isCausal, loading also accepts causal masks, heads.0.mask and
 * so on.
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
     * The options of the wrapper, with defaults filled in.
     * @type {Readonly<Required<MultiHeadAttentionWrapperOptions>>}
     * @readonly
     */
    this.options = Object.freeze(checked);
    this.#options = this.options;
  }
}
