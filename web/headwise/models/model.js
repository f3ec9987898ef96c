// What decoders and encoders have in common: a config, the names of its parameters, and first weights.
import { HeadwiseError } from '../checks/error.js';
import { isObject } from '../checks/foreign.js';
import { addressOf } from '../engine/owned.js';
import { Module } from '../modules/module.js';
import { readDict } from '../modules/state.js';
import { drawWeights } from './draw-weights.js';
import { layModel } from './lay-model.js';

/**
 * What a class of models says of one.
 * @typedef {object} Said
 * @property {string} name the class's
 * @property {import('./config.js').ModelConfig} config
 * @property {(keys?: readonly string[]) => import('./names.js').Names} names of the parameters, where those keys are loaded
 * @property {number} [deviation] standard deviation of initial weights; default: they are zero, and the generator is unchanged
 * @property {boolean} [isBare] whether names have no prefix such as transformer.
 * @property {import('./lay-model.js').MatrixType} dtype of matrices
 * @property {boolean} [hasHead] of an encoder
 */

/**
 * What models know of themselves.
 * @typedef {object} Inner
 * @property {import('./config.js').ModelConfig} config
 * @property {import('./names.js').Names} names
 * @property {(keys: readonly string[]) => import('./names.js').Names} namesAmong those keys
 * @property {import('./lay-model.js').MatrixType} dtype
 * @property {import('../modules/attending.js').Attending} about its forward
 * @property {{ name: string, vocabSize: number, contextLength: number }} loss
 * @property {boolean | undefined} hasHead of an encoder: for masked tokens
 */

/**
 * What a model keeps for itself. Undefined for other values, Proxies included.
 * @type {(model: unknown) => Inner | undefined}
 */
let find;

/** @internal @param {Model} model */
export const innerOf = (model) => /** @type {Inner} */ (find(model));

/**
 * @internal The config of a model, for the package's other entries. Undefined for other values, Proxies included.
 * @param {unknown} model
 */
export const configOf = (model) => find(model)?.config;

/** The base class of models. */
export class Model extends Module {
  #inner;

  static {
    find = (model) => (isObject(model) && #inner in model ? model.#inner : undefined);
  }

  /** @internal @param {import('../engine/engine.js').Engine} engine @param {Said} said */
  constructor(engine, { name, config, names, deviation, isBare, dtype, hasHead }) {
    const { isDecoder, numLayers: layers, dModel, vocabSize, numHeads: heads } = config;
    const laid = isDecoder ? config : { ...config, layers: [], hasHead };
    super(engine, {
      kind: isDecoder ? 'decoder' : 'encoder',
      ...{ config: layModel(laid, dtype, isBare), draw: false },
      what: `${isDecoder ? 'a' : 'an'} ${name} of ${layers} layers × ${dModel} and ${vocabSize} tokens`,
    });
    const { contextLength, headDim } = config;
    const about = {
      ...{ name: `${name}.forward`, input: /** @type {const} */ ('ids'), rank: 2, heads, layers },
      ...{ width: isDecoder ? vocabSize : dModel, contextLength, headDim, dModel },
    };
    this.#inner = {
      config,
      names: names(),
      namesAmong: names,
      dtype,
      about,
      loss: { ...config, name: `${name}.loss` },
      hasHead,
    };
    if (deviation !== undefined) {
      drawWeights(this, deviation);
    }
  }

  /**
   * @internal
   * @override
   * @param {string} name of a method
   * @throws {HeadwiseError} ERR_VALUE: matrices are not of 32 bits
   */
  checkRecording(name) {
    const { dtype } = this.#inner;
    if (dtype !== 'float32') {
      const expected = "dtype 'float32', or a call within hw.noGrad";
      const problem = `has gradients to record for ${dtype} weights; expected ${expected}`;
      throw new HeadwiseError('ERR_VALUE', `${name} ${problem}`);
    }
  }

  /**
   * Recorded forwards and losses from here on keep of each block only its input, and backward runs the block again (Chen et al.
   * 2016, arXiv:1604.06174): memory for time. Gradients are the same to the bit, with dropout too. `backward` throws for a result
   * that was recorded before checkpointing was on. While checkpointing is on, it also throws for one recorded before `train` or `eval`
   * changed the mode.
   * @returns {void}
   */
  gradientCheckpointingEnable() {
    this.engine.call.module_checkpoint(addressOf(this), true);
  }

  /**
   * Recorded forwards and losses keep again what a backward needs. `backward` throws for a result that was recorded while
   * checkpointing was on.
   * @returns {void}
   */
  gradientCheckpointingDisable() {
    this.engine.call.module_checkpoint(addressOf(this), false);
  }

  /**
   * Copies parameters into the model, under any of the names that Hugging Face's files have for them.
   * @override
   * @param {Record<string, import('../tensor/tensor.js').AnyTensor>} dict as of any module
   * @param {Record<string, never>} [options] none are supported
   */
  loadStateDict(dict, options) {
    const given = readDict(dict);
    const { names, namesAmong } = this.#inner;
    const { canonical } = namesAmong(Object.keys(given));
    const own = Object.entries(given).map(([key, value]) => {
      const here = canonical(key);
      return [here === names.canonical(key) ? key : here, value];
    });
    return super.loadStateDict(Object.fromEntries(own), options);
  }

  /** @override @protected @param {string} key */
  canonicalKey(key) {
    return this.#inner.names.canonical(key);
  }

  /** @override @protected @param {string} key */
  ignoresEntry(key) {
    return this.#inner.names.isUnused(this.canonicalKey(key));
  }
}
