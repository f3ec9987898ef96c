// A model's config as the engine reads it: hw_decoder_config or hw_encoder_config of include/headwise.h, and the lists that it points to.
import {
  activation,
  layerConfig,
  matrixType,
  names,
  normPlace,
  rotaryConfig,
} from '../engine/abi.js';
import { writeStruct } from '../engine/struct.js';

/** @typedef {import('./config.js').ModelConfig} ModelConfig */
/** @typedef {import('../engine/engine.js').Engine} Engine */
/**
 * How elements of matrices are kept.
 * @typedef {'float32' | 'bfloat16' | 'float16' | 'int8'} MatrixType
 */

/** Whose names, of other types than Llama's kin. @type {Readonly<Record<string, number>>} */
const namesOfTypes = {
  ...{ gpt2: names.gpt2, gpt_neox: names.gptNeox, gemma3_text: names.gemma3 },
  ...{ bert: names.bert, roberta: names.roberta, distilbert: names.distilbert },
};

/** @param {string} name of an activation, such as gelu_tanh */
const activationOf = (name) =>
  activation[name === 'gelu_tanh' ? 'geluTanh' : /** @type {keyof typeof activation} */ (name)];

/**
 * Writes a model's config into staging memory.
 * @param {ModelConfig & { hasHead?: boolean }} config hasHead: of encoders
 * @param {MatrixType} dtype of the matrices
 * @param {boolean | undefined} isBare whether names have no prefix such as transformer.
 * @returns {(engine: Engine, layout: import('../engine/struct.js').Layout) => number} lays it, and returns its address
 */
export const layModel = (config, dtype, isBare) => (engine, layout) => {
  const { rotary, layers, biases } = config;
  const [at, rotaryAt, layersAt, ...frequenciesAt] = engine.lay([
    layout.bytes,
    rotary.length * rotaryConfig.bytes,
    layers.length * layerConfig.bytes || undefined,
    ...rotary.map(({ frequencies }) => frequencies.byteLength),
  ]);
  rotary.forEach(({ frequencies, factor }, i) => {
    new Float64Array(engine.memory.buffer, frequenciesAt[i], frequencies.length).set(frequencies);
    const fields = { frequencies: frequenciesAt[i], pairs: frequencies.length, factor };
    writeStruct(engine, rotaryAt + i * rotaryConfig.bytes, rotaryConfig, fields);
  });
  layers.forEach((layer, i) =>
    writeStruct(engine, layersAt + i * layerConfig.bytes, layerConfig, layer),
  );
  const model = {
    ...config,
    ...{ names: namesOfTypes[config.modelType] ?? names.llama, isBare, dtype: matrixType[dtype] },
    ...{ isRms: config.norm === 'rms', normPlace: normPlace[config.normPlace] },
    ...{ qkvBias: biases.qkv, outBias: biases.out, mlpBias: biases.mlp },
    ...{ activation: activationOf(config.activation), rotaryCount: rotary.length },
    ...{ rotary: rotaryAt, layers: layersAt },
  };
  const headActivation = activationOf(config.headActivation);
  writeStruct(engine, at, layout, { ...config, headActivation, model });
  return at;
};
