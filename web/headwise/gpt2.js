/**
 * GPT-2 from Hugging Face's files, on an engine of 'headwise' or 'headwise/worker': logits, traces, head masks, caches and generation.
 * @module headwise/gpt2
 */

/** @typedef {import('./autograd/model-loss.js').LossOptions} LossOptions */
/** @typedef {import('./models/gpt2.js').Gpt2Options} Gpt2Options */
/**
 * @template {import('./models/gpt2.js').LogitsOf} [Logits=import('./models/gpt2.js').LogitsOf]
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @template {boolean} [WithResiduals=boolean]
 * @typedef {import('./models/gpt2.js').Gpt2ForwardOptions<Logits, NeedWeights, WithTrace, WithResiduals>} Gpt2ForwardOptions
 */
/**
 * @template {import('./models/gpt2.js').LogitsOf} [Logits=import('./models/gpt2.js').LogitsOf]
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @template {boolean} [WithResiduals=boolean]
 * @typedef {import('./models/gpt2.js').Gpt2Result<Logits, NeedWeights, WithTrace, WithResiduals>} Gpt2Result
 */
/** @typedef {import('./models/gpt2.js').Gpt2Logits} Gpt2Logits */
/** @typedef {import('./models/gpt2.js').LogitsOf} LogitsOf */
/** @typedef {import('./models/language-model.js').Replacement} Replacement */
/** @typedef {import('./models/language-model.js').DecoderResiduals} DecoderResiduals */
/** @typedef {import('./models/language-model.js').Start} Start */
/** @typedef {import('./models/understanding.js').Attribution} Attribution */
/** @typedef {import('./models/understanding.js').AttributionOptions} AttributionOptions */
/** @typedef {import('./models/understanding.js').HeadCircuits} HeadCircuits */
/** @typedef {import('./models/generate.js').Generated} Generated */
/**
 * @template {boolean} [WithLogProbability=false]
 * @typedef {import('./models/generate.js').GenerateOptions<WithLogProbability>} GenerateOptions
 */
/** @typedef {import('./models/load-gpt2.js').LoadGpt2Options} LoadGpt2Options */

export { HeadwiseError } from './checks/error.js';
export { loadGpt2 } from './models/load-gpt2.js';
export { Gpt2 } from './models/gpt2.js';
