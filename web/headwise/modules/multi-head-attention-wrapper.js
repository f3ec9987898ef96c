import { moduleKind, multiHeadAttentionWrapperConfig } from '../engine/abi.js';
import { checkBoolean, checkOptions, checkSize } from '../checks/check.js';
import { AttentionModule, checkCommonOptions } from './attention-module.js';
import { createModule } from './module.js';

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
    const known = ['dIn', 'dOut', 'contextLength', 'dropout', 'numHeads', 'qkvBias', 'isCausal'];
    const given = checkOptions(options, known, 'MultiHeadAttentionWrapper');
    const { dIn, dOut, contextLength, dropout, qkvBias } = checkCommonOptions(given);
    const numHeads = checkSize(given.numHeads, 'numHeads');
    const isCausal = checkBoolean(given.isCausal ?? true, 'isCausal');
    const what = `a MultiHeadAttentionWrapper of ${numHeads} heads of ${dIn} × ${dOut}`;
    const kind = moduleKind.multiHeadAttentionWrapper;
    const head = { dIn, dOut, contextLength, dropout, qkvBias, isCausal };
    const config = { head, numHeads };
    const pointer = createModule(engine, kind, multiHeadAttentionWrapperConfig, config, { what });
    const masks = Array.from({ length: isCausal ? numHeads : 0 }, (_, i) => `heads.${i}.mask`);
    const sizes = { dIn, width: numHeads * dOut, heads: numHeads, contextLength };
    super(engine, pointer, sizes, masks);
    /**
     * What the wrapper was made with, defaults filled in.
     * @type {Readonly<Required<MultiHeadAttentionWrapperOptions>>}
     */
    this.options = Object.freeze({
      dIn,
      dOut,
      contextLength,
      dropout,
      numHeads,
      qkvBias,
      isCausal,
    });
    this.#options = this.options;
  }
}
