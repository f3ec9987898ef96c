// The parameters of a GPT-2 under Hugging Face's names, whose linear layers are Conv1D: [inFeatures, outFeatures].
import { normParameters } from '../modules/layer-norm.js';
import { arrayParameter, packedParameter } from '../modules/module.js';

/** @typedef {import('../engine.js').Engine} Engine */
/** @typedef {import('../modules/module.js').Parameter} Parameter */
/** @typedef {{ vocabSize: number, contextLength: number, dModel: number, numLayers: number, dFf: number }} Sizes */

/**
 * The weight of an hw_linear, transposed.
 * @param {string} key
 * @param {number} linear
 * @param {number} inFeatures
 * @param {number} outFeatures
 * @returns {Parameter}
 */
function transposedParameter(key, linear, inFeatures, outFeatures) {
  const shape = [inFeatures, outFeatures];
  const bytes = inFeatures * outFeatures * 4;
  return {
    key,
    shape,
    staged: 2 * bytes,
    read(engine) {
      const at = engine.stage(2 * bytes);
      const status = engine.call.linear_store(linear, 0, outFeatures, at, 0);
      engine.check(status, 'stateDict');
      engine.call.transpose(at, at + bytes, 1, outFeatures, inFeatures);
      return engine.read(at + bytes, shape);
    },
    write(engine, value) {
      const at = engine.stage(2 * bytes);
      engine.write(at, value);
      engine.call.transpose(at, at + bytes, 1, inFeatures, outFeatures);
      const status = engine.call.linear_load(linear, 0, outFeatures, at + bytes, 0);
      engine.check(status, 'loadStateDict');
    },
  };
}

/**
 * @param {string} name such as h.0.mlp.c_fc
 * @param {number} linear
 * @param {number} inFeatures
 * @param {number} outFeatures
 */
const conv1dParameters = (name, linear, inFeatures, outFeatures) => [
  transposedParameter(`${name}.weight`, linear, inFeatures, outFeatures),
  packedParameter(`${name}.bias`, { linear, firstRow: 0 }, [outFeatures]),
];

/**
 * @param {Engine} engine
 * @param {number} stack address of the blocks
 * @param {number} layer
 * @param {Sizes} sizes
 */
function blockParameters(engine, stack, layer, { dModel, dFf }) {
  const norm = (/** @type {number} */ index) => engine.call.stack_norm(stack, layer, index) >>> 0;
  const linear = (/** @type {number} */ index) =>
    engine.call.stack_linear(stack, layer, index) >>> 0;
  const prefix = `h.${layer}`;
  return [
    ...normParameters(engine, `${prefix}.ln_1`, norm(0), dModel),
    ...conv1dParameters(`${prefix}.attn.c_attn`, linear(0), dModel, 3 * dModel),
    ...conv1dParameters(`${prefix}.attn.c_proj`, linear(1), dModel, dModel),
    ...normParameters(engine, `${prefix}.ln_2`, norm(1), dModel),
    ...conv1dParameters(`${prefix}.mlp.c_fc`, linear(2), dModel, dFf),
    ...conv1dParameters(`${prefix}.mlp.c_proj`, linear(3), dFf, dModel),
  ];
}

/**
 * Rows of the token embedding, of which there may be too many to be held twice.
 * @param {Engine} engine
 * @param {number} pointer the model's address
 * @param {number} firstRow
 * @param {number} rows
 * @param {Sizes} sizes
 */
export function wteRows(engine, pointer, firstRow, rows, { dModel }) {
  const linear = engine.call.gpt2_wte(pointer) >>> 0;
  return packedParameter('wte.weight', { linear, firstRow }, [rows, dModel]);
}

/**
 * @param {Engine} engine
 * @param {number} pointer the model's address
 * @param {Sizes} sizes
 * @returns {Parameter[]} in torch's order
 */
export function gpt2Parameters(engine, pointer, sizes) {
  const { vocabSize, contextLength, dModel, numLayers } = sizes;
  const wpe = engine.call.gpt2_wpe(pointer) >>> 0;
  const stack = engine.call.gpt2_h(pointer) >>> 0;
  const layers = Array.from({ length: numLayers }, (_, layer) =>
    blockParameters(engine, stack, layer, sizes),
  );
  return [
    wteRows(engine, pointer, 0, vocabSize, sizes),
    arrayParameter('wpe.weight', wpe, [contextLength, dModel]),
    ...layers.flat(),
    ...normParameters(engine, 'ln_f', engine.call.gpt2_ln_f(pointer) >>> 0, dModel),
  ];
}

/**
 * What Hugging Face's files hold besides: the causal mask and its stand-in for -inf, and the output head, which is wte.
 * @type {(key: string) => boolean}
 */
export const isImplied = (key) =>
  key === 'lm_head.weight' || /^h\.\d+\.attn\.(bias|masked_bias)$/.test(key);

/**
 * GPT2LMHeadModel's names begin with transformer., GPT2Model's do not.
 * @type {(key: string) => string}
 */
export const canonicalName = (key) => key.replace(/^transformer\./, '');
