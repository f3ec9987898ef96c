/**
 * Models of Hugging Face's library from their files, on an engine of 'headwise' or 'headwise/worker': a Hugging Face id, an
 * address, a folder or files; as float32, in 16 bits or int8.
 * @module headwise/models
 */

/** @typedef {import('./models/config.js').Activation} Activation */
/** @typedef {import('./models/config.js').Biases} Biases */
/** @typedef {import('./models/config.js').LayerConfig} LayerConfig */
/** @typedef {import('./models/config.js').ModelConfig} ModelConfig */
/** @typedef {import('./models/given-config.js').ModelOptions} ModelOptions */
/** @typedef {import('./models/rotary.js').Rotary} Rotary */
/** @typedef {import('./models/lay-model.js').MatrixType} MatrixType */
/** @typedef {import('./models/load-model.js').LoadModelOptions} LoadModelOptions */
/** @typedef {import('./models/load-model.js').ModelParts} ModelParts */
/** @typedef {import('./models/load-model.js').ModelSource} ModelSource */
/** @typedef {import('./autograd/model-loss.js').LossOptions} LossOptions */
/** @typedef {import('./models/language-model.js').LogitsOf} LogitsOf */
/** @typedef {import('./models/language-model.js').Replacement} Replacement */
/** @typedef {import('./models/language-model.js').DecoderResiduals} DecoderResiduals */
/** @typedef {import('./models/language-model.js').Start} Start */
/** @typedef {import('./models/understanding.js').Attribution} Attribution */
/** @typedef {import('./models/understanding.js').AttributionOptions} AttributionOptions */
/** @typedef {import('./models/understanding.js').HeadCircuits} HeadCircuits */
/**
 * @template {import('./models/language-model.js').LogitsOf} [Logits=import('./models/language-model.js').LogitsOf]
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @template {boolean} [WithResiduals=boolean]
 * @typedef {import('./models/language-model.js').DecoderForwardOptions<Logits, NeedWeights, WithTrace, WithResiduals>} DecoderForwardOptions
 */
/**
 * @template {import('./models/language-model.js').LogitsOf} [Logits=import('./models/language-model.js').LogitsOf]
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @template {boolean} [WithResiduals=boolean]
 * @typedef {import('./models/language-model.js').DecoderResult<Logits, NeedWeights, WithTrace, WithResiduals>} DecoderResult
 */
/**
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {import('./models/encoder.js').EncoderForwardOptions<NeedWeights, WithTrace>} EncoderForwardOptions
 */
/**
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {import('./models/encoder.js').EncoderResult<NeedWeights, WithTrace>} EncoderResult
 */
/** @typedef {import('./models/encoder.js').EncoderOutput} EncoderOutput */
/** @typedef {import('./models/encoder.js').EncoderLossOptions} EncoderLossOptions */
/** @typedef {import('./models/generate.js').Generated} Generated */
/**
 * @template {boolean} [WithLogProbability=false]
 * @typedef {import('./models/generate.js').GenerateOptions<WithLogProbability>} GenerateOptions
 */

export { HeadwiseError } from './checks/error.js';
export { loadModel } from './models/load-model.js';
export { Decoder } from './models/decoder.js';
export { Encoder } from './models/encoder.js';
