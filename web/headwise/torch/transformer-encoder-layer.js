import {
  checkEps,
  checkProbability,
  checkSize,
  checkTable,
  off,
  on,
  oneOf,
  or,
} from '../checks/check.js';
import { nameClass } from '../checks/describe.js';
import { checkEngine } from '../engine/given-engine.js';
import { addressOf } from '../engine/owned.js';
import { AttentionModule } from '../modules/attention-module.js';
import { ComposedModule } from '../modules/composed-module.js';
import { LayerNorm } from '../modules/layer-norm.js';
import { Linear } from '../modules/linear.js';
import { placesOf } from '../modules/module.js';
import { binary, dropout } from '../tensor/broadcast.js';
import { activate, gelu } from '../tensor/functions.js';
import { checkHeadWidth, giveBack, joinMasks, readInput, readMask } from './arguments.js';
import { drawXavier, makeOutProjection } from './projection.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../engine/headwise.js').Headwise} Headwise */
/** @typedef {import('../tensor/tensor.js').AnyTensor} AnyTensor */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * Options of the TransformerEncoderLayer constructor: torch's arguments.
 * @typedef {object} TransformerEncoderLayerOptions
 * @property {number} dModel width of src and of the output; a multiple of nhead
 * @property {number} nhead the number of heads
 * @property {number} [dimFeedforward] default 2048
 * @property {number} [dropout] default 0.1; applied to the attention weights, the hidden activations and both branches in
 *   training mode
 * @property {'relu' | 'gelu'} [activation] default 'relu'; 'gelu' is the exact form
 * @property {number} [layerNormEps] default 1e-5
 * @property {boolean} [batchFirst] default false, as in torch: [tokens, batch, width]; true: [batch, tokens, width]
 * @property {boolean} [normFirst] default false: layer norms after the residual sums; true: before the sublayers
 * @property {boolean} [bias] default true; false: neither the projections nor the layer norms have biases
 */

/**
 * Options of TransformerEncoderLayer's `forward`. The first three are torch's.
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {object} EncoderLayerForwardOptions
 * @property {AnyTensor} [srcMask] [L, L] or [batch · heads, L, L]; bool: true is NOT attended to; float32: added to the scores
 * @property {AnyTensor} [srcKeyPaddingMask] [batch, L], or [L] without a batch; bool: true keys are ignored; float32: added to
 *   the scores
 * @property {boolean} [isCausal] default false; true: each token attends to itself and earlier tokens, with or without srcMask
 * @property {NeedWeights} [needWeights] default false; true returns the weights of every head, [batch, heads, L, L]
 * @property {WithTrace} [trace] default false; true returns a Trace, which recomputes exact weights
 */

const table = {
  ...{ dModel: checkSize, nhead: checkSize, dimFeedforward: or(checkSize, 2048) },
  dropout: or(checkProbability, 0.1),
  activation: or(oneOf(/** @type {const} */ (['relu', 'gelu'])), 'relu'),
  ...{ layerNormEps: checkEps, batchFirst: off, normFirst: off, bias: on },
};

const forwardTable = {
  ...{ srcMask: readMask, srcKeyPaddingMask: readMask, isCausal: off },
  ...{ needWeights: off, trace: off },
};

/** Fused self-attention under torch's keys. Its weights start as zeros. */
class SelfAttention extends AttentionModule {
  /** @param {Engine} engine @param {{ dModel: number, nhead: number, dropout: number, bias: boolean }} options */
  constructor(engine, { dModel: width, nhead: heads, dropout: probability, bias }) {
    const config = {
      // No limit.
      ...{ dIn: width, dOut: width, contextLength: 2 ** 32 - 1, numHeads: heads },
      ...{ dropout: probability, qkvBias: bias, outProj: true, outBias: bias },
      ...{ isCausal: false, packedQkv: true },
    };
    const what = `self-attention of ${width} in ${heads} heads`;
    const sizes = { dIn: width, width, heads, contextLength: Infinity };
    super(engine, { kind: 'multiHeadAttention', config, what, draw: false }, sizes);
  }

  /** @override @param {string} name @param {string} own */
  keyIn(name, own) {
    return `${name}.${own.replace('qkv_proj.', 'in_proj_')}`;
  }
}

/** A LayerNorm that need not have a bias: then the engine's stays zero. */
class Norm extends LayerNorm {
  #hasBias;

  /** @param {Engine} engine @param {{ dim: number, eps: number }} options @param {boolean} hasBias */
  constructor(engine, options, hasBias) {
    super(engine, options);
    this.#hasBias = hasBias;
  }

  /** @override @param {string} key */
  keeps(key) {
    return this.#hasBias || key !== 'bias';
  }
}

/**
 * Draws what torch's MultiheadAttention draws.
 * @param {Engine} engine
 * @param {SelfAttention} attention
 * @param {{ dModel: number, bias: boolean }} options
 */
function drawAttention(engine, attention, { dModel, bias }) {
  const out = makeOutProjection(engine, dModel, bias);
  try {
    const { weight } = out.stateDict();
    drawXavier(engine, attention);
    const place = placesOf(attention).find(({ name }) => name === 'out_proj.weight');
    place?.write({ ...weight, size: weight.data.length });
  } finally {
    out.dispose();
  }
}

/**
 * torch.nn.TransformerEncoderLayer: self-attention and feed-forward, each with its layer norm and residual connection. State
 * dict: self_attn.in_proj_weight [3 · dModel, dModel], self_attn.in_proj_bias, self_attn.out_proj.*, linear1.weight
 * [dimFeedforward, dModel], linear1.bias, linear2.*, norm1.*, norm2.*; with `bias: false` no key with bias.
 *
 * A token whose keys are all masked gets zeros from the attention's heads, where torch gives NaN.
 */
export class TransformerEncoderLayer extends ComposedModule {
  static {
    nameClass(this, 'TransformerEncoderLayer');
  }

  #options;

  /**
   * @param {Headwise} hw what load() gives
   * @param {TransformerEncoderLayerOptions} options
   * @throws {import('../checks/error.js').HeadwiseError} ERR_SHAPE: dModel is not a multiple of nhead; ERR_VALUE; ERR_MEMORY
   */
  constructor(hw, options) {
    const engine = checkEngine(hw);
    const given = checkTable(options, table, 'TransformerEncoderLayer');
    const { dModel, nhead, dimFeedforward, layerNormEps: eps, bias } = given;
    checkHeadWidth(dModel, 'dModel', nhead, 'nhead');
    super(engine);
    /** @internal */
    this.self_attn = new SelfAttention(engine, given);
    drawAttention(engine, this.self_attn, given);
    /** @internal */
    this.linear1 = new Linear(engine, { inFeatures: dModel, outFeatures: dimFeedforward, bias });
    /** @internal */
    this.linear2 = new Linear(engine, { inFeatures: dimFeedforward, outFeatures: dModel, bias });
    /** @internal */
    this.norm1 = new Norm(engine, { dim: dModel, eps }, bias);
    /** @internal */
    this.norm2 = new Norm(engine, { dim: dModel, eps }, bias);
    this.#options = Object.freeze(given);
  }

  /**
   * The options of the layer, with defaults filled in.
   * @returns {Readonly<Required<TransformerEncoderLayerOptions>>}
   */
  get options() {
    return this.#options;
  }

  /** @param {Tensor} x */
  #drop(x) {
    const p = this.#options.dropout;
    return this.training && p > 0 ? dropout(this.engine, x, { p }) : x;
  }

  /** @param {Tensor} x */
  #feedForward(x) {
    const wide = this.linear1.forward(x).output;
    const active =
      this.#options.activation === 'gelu'
        ? gelu(this.engine, wide)
        : activate(this.engine, 'relu', wide, undefined);
    return this.linear2.forward(this.#drop(active)).output;
  }

  /**
   * Both sublayers with their norms.
   * @param {Tensor} x
   * @param {(x: Tensor) => Tensor} attend
   */
  #run(x, attend) {
    const add = (/** @type {Tensor} */ a, /** @type {Tensor} */ b) =>
      binary(this.engine, 'add', a, this.#drop(b));
    const { norm1, norm2 } = this;
    if (this.#options.normFirst) {
      const y = add(x, attend(norm1.forward(x).output));
      return add(y, this.#feedForward(norm2.forward(y).output));
    }
    const y = norm1.forward(add(x, attend(x))).output;
    return norm2.forward(add(y, this.#feedForward(y))).output;
  }

  /**
   * Runs the layer.
   * @template {boolean} [NeedWeights=false]
   * @template {boolean} [WithTrace=false]
   * @param {Tensor} src [L, batch, dModel], or [batch, L, dModel] if batchFirst, or [L, dModel]
   * @param {EncoderLayerForwardOptions<NeedWeights, WithTrace>} [options]
   * @returns {import('../modules/attention-module.js').ForwardResult<NeedWeights, WithTrace>} output: with src's axes
   * @throws {import('../checks/error.js').HeadwiseError} ERR_SHAPE: src or a mask has a wrong shape; ERR_VALUE; ERR_MEMORY;
   *   ERR_DISPOSED
   */
  forward(src, options) {
    addressOf(this);
    const asked = checkTable(options, forwardTable, 'TransformerEncoderLayer.forward');
    const { srcMask, srcKeyPaddingMask, ...more } = asked;
    const { dModel, nhead, batchFirst } = this.#options;
    const { x, rank } = readInput(src, 'src', dModel, batchFirst);
    const [batch, tokens] = x.shape;
    const scores = [batch, nhead, tokens, tokens];
    const mask = joinMasks(this.engine, srcMask, srcKeyPaddingMask, scores, rank === 3);
    /** @type {any} */
    let attended;
    try {
      const output = this.#run(x, (given) => {
        attended = this.self_attn.forward(given, { ...more, mask });
        return attended.output;
      });
      return { ...attended, output: giveBack(output, rank, batchFirst) };
    } catch (error) {
      attended?.trace?.dispose();
      throw error;
    }
  }
}
