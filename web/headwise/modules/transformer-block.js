import { checkBoolean, checkChoice, checkOptions, checkProbability, checkSize } from '../check.js';
import { HeadwiseError } from '../error.js';
import { AttentionModule } from './attention-module.js';
import { feedForwardParameters } from './feed-forward.js';
import { normParameters } from './layer-norm.js';
import { createModule, linearParameters } from './module.js';

/** @typedef {import('../engine.js').Engine} Engine */

/**
 * What a TransformerBlock is made with.
 * @typedef {object} TransformerBlockOptions
 * @property {number} dModel width of x and of the output
 * @property {number} numHeads a divisor of dModel
 * @property {number} dFf of the feed-forward's hidden activations
 * @property {number} [dropout] default 0; of the attention weights, the hidden activations and both branches, in training
 *   mode
 * @property {'pre' | 'post'} [norm] default 'pre': layer norms before the sublayers, as GPT-2; 'post': after the residual
 *   sums, as the first Transformer
 * @property {boolean} [isCausal] default true
 */

export const blockOptions = ['dModel', 'numHeads', 'dFf', 'dropout', 'norm', 'isCausal'];

/** @param {Record<string, any>} given */
export function checkBlockOptions(given) {
  const checked = {
    dModel: checkSize(given.dModel, 'dModel'),
    numHeads: checkSize(given.numHeads, 'numHeads'),
    dFf: checkSize(given.dFf, 'dFf'),
    dropout: checkProbability(given.dropout ?? 0, 'dropout'),
    norm: checkChoice(given.norm ?? 'pre', 'norm', ['pre', 'post']),
    isCausal: checkBoolean(given.isCausal ?? true, 'isCausal'),
  };
  if (checked.dModel % checked.numHeads !== 0) {
    throw new HeadwiseError(
      'ERR_SHAPE',
      `dModel is ${checked.dModel}; expected a multiple of numHeads, ${checked.numHeads}`,
    );
  }
  return checked;
}

/**
 * @param {Engine} engine
 * @param {number} stack address
 * @param {number} layer
 * @param {string} prefix of the keys
 * @param {{ dModel: number, dFf: number }} sizes
 */
function layerParameters(engine, stack, layer, prefix, { dModel, dFf }) {
  const norm = (/** @type {number} */ index) => engine.call.stack_norm(stack, layer, index) >>> 0;
  const linear = (/** @type {number} */ index) =>
    engine.call.stack_linear(stack, layer, index) >>> 0;
  const square = { inFeatures: dModel, bias: false };
  return [
    ...normParameters(engine, `${prefix}ln1`, norm(0), dModel),
    ...normParameters(engine, `${prefix}ln2`, norm(1), dModel),
    ...linearParameters(`${prefix}attn.qkv_proj`, {
      linear: linear(0),
      rows: 3 * dModel,
      ...square,
    }),
    ...linearParameters(`${prefix}attn.out_proj`, { linear: linear(1), rows: dModel, ...square }),
    ...feedForwardParameters(`${prefix}ffn.`, (index) => linear(2 + index), { dModel, dFf }),
  ];
}

/**
 * What AttendingModule is made with for blocks one after another; the engine knows a single one as a stack of one layer.
 * @param {Engine} engine
 * @param {ReturnType<typeof checkBlockOptions>} options
 * @param {{ layers: number, prefix: (layer: number) => string, what: string }} stack prefix: of a layer's keys; what: for
 *   the message
 */
export function createBlocks(engine, options, { layers, prefix, what }) {
  const { dModel, numHeads, dFf, dropout, norm, isCausal } = options;
  const values = [layers, dModel, numHeads, dFf, dropout, norm === 'pre', isCausal];
  const pointer = createModule(engine, 'stack_create', values, what);
  const parameters = Array.from({ length: layers }, (_, layer) =>
    layerParameters(engine, pointer, layer, prefix(layer), options),
  );
  const created = {
    pointer,
    parameters: parameters.flat(),
    destroy: 'stack_destroy',
    train: 'stack_train',
    forward: 'stack_forward',
  };
  const sizes = { dIn: dModel, width: dModel, heads: numHeads, contextLength: Infinity, layers };
  return { created, sizes };
}

/**
 * Attention and feed-forward, each with its layer norm and residual connection: [batch, tokens, dModel] to the same, as
 * many tokens as memory holds. State dict: ln1.weight, ln1.bias, ln2.*, attn.qkv_proj.weight [3 · dModel, dModel],
 * attn.out_proj.weight, ffn.fc1.weight [dFf, dModel], ffn.fc1.bias, ffn.fc2.*.
 */
export class TransformerBlock extends AttentionModule {
  /**
   * @internal
   * @param {Engine} engine
   * @param {TransformerBlockOptions} options
   */
  constructor(engine, options) {
    const checked = checkBlockOptions(checkOptions(options, blockOptions, 'TransformerBlock'));
    const what = `a TransformerBlock of ${checked.dModel} × ${checked.dFf}`;
    const stack = { layers: 1, prefix: () => '', what };
    const { created, sizes } = createBlocks(engine, checked, stack);
    super(engine, created, sizes);
    /**
     * What the block was made with, defaults filled in.
     * @type {Readonly<Required<TransformerBlockOptions>>}
     */
    this.options = Object.freeze(checked);
  }
}
