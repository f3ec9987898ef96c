import { checkProbability, checkSize, checkTable, maybe, off, on, or } from '../checks/check.js';
import { nameClass } from '../checks/describe.js';
import { misshapen } from '../checks/error.js';
import { scaledDotProductAttention } from '../attention/scaled-dot-product-attention.js';
import { checkEngine } from '../engine/given-engine.js';
import { addressOf } from '../engine/owned.js';
import { ComposedModule } from '../modules/composed-module.js';
import { binary, sumAlong } from '../tensor/broadcast.js';
import { zeros } from '../tensor/tensor.js';
import { checkHeadWidth, giveBack, joinMasks, readInput, readMask } from './arguments.js';
import { drawXavier, makeOutProjection, Projection } from './projection.js';

/** @typedef {import('../engine/headwise.js').Headwise} Headwise */
/** @typedef {import('../tensor/tensor.js').AnyTensor} AnyTensor */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/**
 * @template Option
 * @template {object} Part
 * @typedef {import('../attention/options.js').Asked<Option, Part>} Asked
 */

/**
 * Options of the MultiheadAttention constructor: torch's arguments. add_bias_kv and add_zero_attn are not supported.
 * @typedef {object} MultiheadAttentionOptions
 * @property {number} embedDim width of the query and of the output; a multiple of numHeads
 * @property {number} numHeads the number of heads; each has width embedDim / numHeads
 * @property {number} [dropout] default 0; applied to the weights in training mode
 * @property {boolean} [bias] default true: biases in all projections
 * @property {number} [kdim] width of the key; default embedDim
 * @property {number} [vdim] width of the value; default embedDim
 * @property {boolean} [batchFirst] default false, as in torch: [tokens, batch, width]; true: [batch, tokens, width]
 */

/**
 * Options of MultiheadAttention's `forward`, with torch's meaning and defaults.
 * @template {boolean} [NeedWeights=boolean]
 * @typedef {object} MultiheadForwardOptions
 * @property {AnyTensor} [keyPaddingMask] [batch, Lkv], or [Lkv] without a batch; bool: true keys are ignored; float32: added
 *   to the scores
 * @property {NeedWeights} [needWeights] default true
 * @property {AnyTensor} [attnMask] [Lq, Lkv] or [batch · heads, Lq, Lkv]; bool: true is NOT attended to; float32: added to the scores
 * @property {boolean} [averageAttnWeights] default true: the weights are the mean over heads
 * @property {boolean} [isCausal] default false; true: query i attends to keys up to i, with or without attnMask
 */

/**
 * The part of the result that is always returned.
 * @typedef {object} MultiheadOutput
 * @property {Tensor} output with the query's axes
 */
/**
 * The part of the result that needWeights adds.
 * @typedef {object} MultiheadWeights
 * @property {Tensor} weights [batch, Lq, Lkv], or [batch, heads, Lq, Lkv] if averageAttnWeights is false; without batch if the
 *   query has none; after dropout when training
 */
/**
 * The result of MultiheadAttention's `forward`.
 * @template {boolean} [NeedWeights=boolean]
 * @typedef {MultiheadOutput & Asked<NeedWeights, MultiheadWeights>} MultiheadResult
 */

const table = {
  ...{ embedDim: checkSize, numHeads: checkSize, dropout: or(checkProbability, 0), bias: on },
  ...{ kdim: maybe(checkSize), vdim: maybe(checkSize), batchFirst: off },
};

const forwardTable = {
  ...{ keyPaddingMask: readMask, needWeights: on, attnMask: readMask },
  ...{ averageAttnWeights: on, isCausal: off },
};

/** A part of three along an axis: of the query, the key or the value. @type {(part: number, width: number) => [number, number]} */
const partOf = (part, width) => [part * width, (part + 1) * width];

/**
 * torch.nn.MultiheadAttention: queries of one sequence attend to keys and values of another or the same. State dict:
 * in_proj_weight [3 · embedDim, embedDim], or, with kdim or vdim, q_proj_weight [embedDim, embedDim], k_proj_weight
 * [embedDim, kdim], v_proj_weight [embedDim, vdim]; in_proj_bias [3 · embedDim], out_proj.weight, out_proj.bias.
 *
 * Two results differ from torch's: a query whose keys are all masked gives zeros before out_proj, where torch gives NaN; and a
 * masked key has no influence, not even if it is NaN.
 */
export class MultiheadAttention extends ComposedModule {
  static {
    nameClass(this, 'MultiheadAttention');
  }

  #options;

  /**
   * @param {Headwise} hw what load() gives
   * @param {MultiheadAttentionOptions} options
   * @throws {import('../checks/error.js').HeadwiseError} ERR_SHAPE: embedDim is not a multiple of numHeads; ERR_VALUE; ERR_MEMORY
   */
  constructor(hw, options) {
    const engine = checkEngine(hw);
    const given = checkTable(options, table, 'MultiheadAttention');
    const { embedDim, numHeads, bias, kdim = embedDim, vdim = embedDim } = given;
    checkHeadWidth(embedDim, 'embedDim', numHeads, 'numHeads');
    super(engine);
    // torch makes the output projection first.
    const out = makeOutProjection(engine, embedDim, bias);
    /** @internal @type {Projection | undefined} */
    this.in_proj = undefined;
    if (kdim === embedDim && vdim === embedDim) {
      this.in_proj = new Projection(engine, embedDim, 3 * embedDim, bias);
      drawXavier(engine, this.in_proj);
    } else {
      /** @internal */
      this.q_proj = new Projection(engine, embedDim, embedDim, false);
      /** @internal */
      this.k_proj = new Projection(engine, kdim, embedDim, false);
      /** @internal */
      this.v_proj = new Projection(engine, vdim, embedDim, false);
      [this.q_proj, this.k_proj, this.v_proj].forEach((each) => drawXavier(engine, each));
      if (bias) {
        /** @internal */
        this.in_proj_bias = zeros([3 * embedDim]);
        this.in_proj_bias.requiresGrad = true;
      }
    }
    /** @internal */
    this.out_proj = out;
    this.#options = Object.freeze({ ...given, kdim, vdim });
  }

  /**
   * The options of the module, with defaults filled in.
   * @returns {Readonly<Required<MultiheadAttentionOptions>>}
   */
  get options() {
    return this.#options;
  }

  /**
   * Queries, keys and values from in_proj. Whole products of in_proj are computed: one for self-attention, one more for each
   * further input.
   * @param {Projection} projection
   * @param {Tensor} query
   * @param {Tensor} key
   * @param {Tensor} value
   */
  #projectJoined(projection, query, key, value) {
    const { embedDim } = this.#options;
    const queries = projection.forward(query).output;
    const keys = key === query ? queries : projection.forward(key).output;
    const values = value === key ? keys : projection.forward(value).output;
    return [queries, keys, values].map((each, part) =>
      each.slice(undefined, undefined, partOf(part, embedDim)),
    );
  }

  /** @param {readonly Tensor[]} inputs query, key and value */
  #projectApart(inputs) {
    const { embedDim } = this.#options;
    const { q_proj: q, k_proj: k, v_proj: v, in_proj_bias: bias } = this;
    return [q, k, v].map((projection, part) => {
      const { output } = /** @type {Projection} */ (projection).forward(inputs[part]);
      const own = bias?.slice(partOf(part, embedDim));
      return own === undefined ? output : binary(this.engine, 'add', output, own);
    });
  }

  /**
   * Reads query, key and value, each once.
   * @param {readonly Tensor[]} given
   * @returns {{ inputs: Tensor[], rank: number }} inputs: [batch, tokens, width]
   */
  #read([query, key, value]) {
    const { embedDim, kdim, vdim, batchFirst } = this.#options;
    const { x, rank } = readInput(query, 'query', embedDim, batchFirst);
    const keys =
      key === query && kdim === embedDim ? x : readInput(key, 'key', kdim, batchFirst, rank).x;
    const values =
      value === key && vdim === kdim ? keys : readInput(value, 'value', vdim, batchFirst, rank).x;
    if (keys.shape[0] !== x.shape[0]) {
      throw misshapen(keys.shape, 'key', `a batch of ${x.shape[0]}, as query`);
    }
    if (values.shape[0] !== x.shape[0] || values.shape[1] !== keys.shape[1]) {
      const [batch, tokens] = [x.shape[0], keys.shape[1]];
      throw misshapen(values.shape, 'value', `a batch of ${batch} and ${tokens} tokens, as key`);
    }
    return { inputs: [x, keys, values], rank };
  }

  /**
   * Runs the module. Pass the same tensor three times for self-attention.
   * @template {boolean} [NeedWeights=true]
   * @param {Tensor} query [Lq, batch, embedDim], or [batch, Lq, embedDim] if batchFirst, or [Lq, embedDim]
   * @param {Tensor} key [Lkv, batch, kdim], or [batch, Lkv, kdim] if batchFirst, or [Lkv, kdim]
   * @param {Tensor} value like key, with width vdim
   * @param {MultiheadForwardOptions<NeedWeights>} [options]
   * @returns {MultiheadResult<NeedWeights>}
   * @throws {import('../checks/error.js').HeadwiseError} ERR_SHAPE: an input or mask has a wrong shape; ERR_VALUE; ERR_MEMORY;
   *   ERR_DISPOSED
   */
  forward(query, key, value, options) {
    addressOf(this);
    const asked = checkTable(options, forwardTable, 'MultiheadAttention.forward');
    const { inputs, rank } = this.#read([query, key, value]);
    const { embedDim, numHeads, dropout, batchFirst } = this.#options;
    const { engine, in_proj: joined } = this;
    const [batch, tokens] = inputs[0].shape;
    const scores = [batch, numHeads, tokens, inputs[1].shape[1]];
    const mask = joinMasks(engine, asked.attnMask, asked.keyPaddingMask, scores, rank === 3);
    const [q, k, v] = (
      joined
        ? this.#projectJoined(joined, inputs[0], inputs[1], inputs[2])
        : this.#projectApart(inputs)
    ).map((each) => {
      const split = each.reshape([batch, each.shape[1], numHeads, embedDim / numHeads]);
      return split.permute([0, 2, 1, 3]);
    });
    const { needWeights, isCausal } = asked;
    const dropoutP = this.training ? dropout : 0;
    const attended = scaledDotProductAttention(engine, [q, k, v], {
      ...{ mask, isCausal, dropoutP, needWeights },
    });
    const merged = attended.output.permute([0, 2, 1, 3]).reshape([batch, tokens, embedDim]);
    const { output } = this.out_proj.forward(merged);
    /** @type {{ output: Tensor, weights?: Tensor }} */
    const result = { output: giveBack(output, rank, batchFirst) };
    if (needWeights) {
      const { weights } = /** @type {{ weights: Tensor }} */ (attended);
      const own = asked.averageAttnWeights
        ? sumAlong(engine, 'mean', weights, { axis: 1 })
        : weights;
      result.weights = rank === 3 ? own : own.reshape(own.shape.slice(1));
    }
    return /** @type {any} */ (result);
  }
}
