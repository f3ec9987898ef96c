/**
 * What heads do, and which of them make a model say what it says: ablation of every head, patching between two texts and the logit
 * lens; why a query looks at a key, composition of heads, scores on repeated tokens, rollout, flow and sinks. They take models of
 * 'headwise' or of 'headwise/worker', where they run in the Worker. Each returns a promise.
 * @module headwise/understanding
 */

/** @typedef {import('./understanding/ablation.js').AblationOptions} AblationOptions */
/** @typedef {import('./understanding/ablation.js').Ablation} Ablation */
/** @typedef {import('./understanding/ablation.js').HeadProgress} HeadProgress */
/** @typedef {import('./understanding/patching.js').PatchingOptions} PatchingOptions */
/** @typedef {import('./understanding/patching.js').Patching} Patching */
/** @typedef {import('./understanding/patching.js').PatchingProgress} PatchingProgress */
/** @typedef {import('./understanding/logit-lens.js').LogitLensOptions} LogitLensOptions */
/** @typedef {import('./understanding/logit-lens.js').LogitLens} LogitLens */
/** @typedef {import('./understanding/logit-lens.js').TokenLens} TokenLens */
/** @typedef {import('./understanding/composition.js').CompositionOptions} CompositionOptions */
/** @typedef {import('./understanding/composition.js').HeadPlace} HeadPlace */
/**
 * @template {number | import('./tensor/tensor.js').Tensor} [Scores=number | import('./tensor/tensor.js').Tensor]
 * @typedef {import('./understanding/composition.js').Composition<Scores>} Composition
 */
/** @typedef {import('./understanding/flow.js').FlowOptions} FlowOptions */
/** @typedef {import('./understanding/head-scores.js').HeadScoreOptions} HeadScoreOptions */
/** @typedef {import('./understanding/head-scores.js').HeadScores} HeadScores */
/** @typedef {import('./understanding/qk-attribution.js').QkAttribution} QkAttribution */
/** @typedef {import('./understanding/qk-attribution.js').QkAttributionOptions} QkAttributionOptions */
/** @typedef {import('./understanding/qk-attribution.js').QkPairs} QkPairs */
/** @typedef {import('./understanding/qk-attribution.js').QkPart} QkPart */
/** @typedef {import('./understanding/qk-attribution.js').QkParts} QkParts */
/** @typedef {import('./understanding/rollout.js').RolloutOptions} RolloutOptions */
/** @typedef {import('./understanding/sinks.js').SinkOptions} SinkOptions */
/** @typedef {import('./understanding/sinks.js').Sinks} Sinks */
/**
 * @template T
 * @typedef {import('./understanding/source.js').Anywhere<T>} Anywhere
 */
/** @typedef {import('./understanding/source.js').AttendingModel} AttendingModel */
/** @typedef {import('./understanding/source.js').DecoderModel} DecoderModel */
/** @typedef {import('./understanding/source.js').Traces} Traces */
/** @typedef {import('./understanding/work.js').WorkOptions} WorkOptions */

export { HeadwiseError } from './checks/error.js';
export { ablation } from './understanding/ablation.js';
export { composition } from './understanding/composition.js';
export { flow } from './understanding/flow.js';
export { headScores } from './understanding/head-scores.js';
export { logitLens } from './understanding/logit-lens.js';
export { patching } from './understanding/patching.js';
export { qkAttribution } from './understanding/qk-attribution.js';
export { rollout } from './understanding/rollout.js';
export { sinks } from './understanding/sinks.js';
