/**
 * GPT-2 from Hugging Face's files: logits, traces, head masks, caches and generation, on an engine of 'headwise'.
 * @module headwise/gpt2
 */

/** @typedef {import('./gpt2/model.js').Gpt2Options} Gpt2Options */
/**
 * @template {import('./gpt2/model.js').LogitsOf} [Logits=import('./gpt2/model.js').LogitsOf]
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {import('./gpt2/model.js').Gpt2ForwardOptions<Logits, NeedWeights, WithTrace>} Gpt2ForwardOptions
 */
/**
 * @template {import('./gpt2/model.js').LogitsOf} [Logits=import('./gpt2/model.js').LogitsOf]
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {import('./gpt2/model.js').Gpt2Result<Logits, NeedWeights, WithTrace>} Gpt2Result
 */
/** @typedef {import('./gpt2/model.js').Gpt2Logits} Gpt2Logits */
/** @typedef {import('./gpt2/model.js').LogitsOf} LogitsOf */
/** @typedef {import('./gpt2/generate.js').GenerateOptions} GenerateOptions */
/** @typedef {import('./gpt2/load.js').LoadGpt2Options} LoadGpt2Options */

export { HeadwiseError } from './error.js';
export { loadGpt2 } from './gpt2/load.js';
export { Gpt2 } from './gpt2/model.js';
