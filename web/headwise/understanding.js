/**
 * Which heads make a model say what it says: ablation of every head, patching between two texts and the logit lens. They take a
 * Decoder or Gpt2 of 'headwise' or of 'headwise/worker', where they run in the Worker. Layers below a change are not computed again.
 * @module headwise/understanding
 */

/** @typedef {import('./understanding/model.js').Understood} Understood */
/** @typedef {import('./understanding/ablation.js').AblationOptions} AblationOptions */
/** @typedef {import('./understanding/ablation.js').Ablation} Ablation */
/** @typedef {import('./understanding/ablation.js').HeadProgress} HeadProgress */
/** @typedef {import('./understanding/patching.js').PatchingOptions} PatchingOptions */
/** @typedef {import('./understanding/patching.js').Patching} Patching */
/** @typedef {import('./understanding/patching.js').PatchingProgress} PatchingProgress */
/** @typedef {import('./understanding/logit-lens.js').LogitLensOptions} LogitLensOptions */
/** @typedef {import('./understanding/logit-lens.js').LogitLens} LogitLens */
/** @typedef {import('./understanding/logit-lens.js').TokenLens} TokenLens */

export { HeadwiseError } from './checks/error.js';
export { ablation } from './understanding/ablation.js';
export { logitLens } from './understanding/logit-lens.js';
export { patching } from './understanding/patching.js';
