import {
  ablation,
  composition,
  flow,
  headScores,
  logitLens,
  patching,
  qkAttribution,
  rollout,
  sinks,
} from 'headwise/understanding';
import { x } from './inputs.js';
import { gpt2Call } from './models.js';

/** @typedef {import('../../helpers.js').Engine} Engine */
/** @typedef {import('./inputs.js').Call} Call */

/** What a function over weights is given: a text of a model, and the traces of a forward. */
const overWeights = (/** @type {any} */ run, /** @type {object} */ options) => ({
  [`${run.name} of a text`]: gpt2Call(
    (_, ...given) => run(...given),
    (model) => [model, [1, 2, 3], { ...options }],
  ),
  [`${run.name} of traces`]: gpt2Call(
    (_, ...given) => run(...given),
    (model) => [model.forward([1, 2, 3], { trace: true }).trace, { ...options }],
  ),
});

/** @type {Record<string, (hw: Engine) => Call>} */
export const understanding = {
  'Gpt2.forward with replace': gpt2Call(
    (model, ids, options) => model.forward(ids, options),
    () => [[1, 2, 3], { replace: [{ layer: 1, head: 0, output: x(1, [3, 2]) }] }],
  ),
  'Gpt2.attribution': gpt2Call(
    (model, ids, options) => model.attribution(ids, options),
    () => [
      [1, 2, 3],
      { position: 2, target: 4, against: 5, directions: true, headMask: x(1, [2, 2]) },
    ],
  ),
  'Gpt2.headCircuits': gpt2Call(
    (model, where) => model.headCircuits(where),
    () => [{ layer: 1, head: 0 }],
  ),
  ...overWeights(rollout, { residual: 0.5, upTo: 1, position: 2, batch: 0 }),
  ...overWeights(flow, { residual: 0.5, upTo: 1, position: 2, batch: 0 }),
  ...overWeights(sinks, { threshold: 0.4 }),
  headScores: gpt2Call(
    (_, ...given) => headScores(.../** @type {[any, any]} */ (given)),
    (model) => [model, { tokens: 3, seed: 1, batch: 2 }],
  ),
  composition: gpt2Call(
    (_, ...given) => composition(.../** @type {[any, any]} */ (given)),
    (model) => [model, { from: { layer: 0, head: 1 }, to: { layer: 1, head: 0 }, gains: true }],
  ),
  qkAttribution: gpt2Call(
    (_, ...given) => qkAttribution(.../** @type {[any, any, any]} */ (given)),
    (model) => [
      model,
      [1, 2, 3],
      { layer: 1, head: 0, query: 2, key: 1, pairs: true, headMask: x(1, [2, 2]) },
    ],
  ),
  ablation: gpt2Call(
    (_, ...given) => ablation(.../** @type {[any, any, any]} */ (given)),
    (model) => [
      model,
      [1, 2, 3],
      {
        ...{ target: 4, against: 2, position: 1, method: 'mean', texts: [[3, 1], [2]], seed: 3 },
        headMask: x(1, [2, 2]),
      },
    ],
  ),
  patching: gpt2Call(
    (_, ...given) => patching(.../** @type {[any, any]} */ (given)),
    (model) => [
      model,
      { clean: [1, 2, 3], corrupted: [1, 4, 3], target: 4, against: 2, of: 'heads', at: 1 },
    ],
  ),
  logitLens: gpt2Call(
    (_, ...given) => logitLens(.../** @type {[any, any, any]} */ (given)),
    (model) => [model, [1, 2, 3], { top: 2, target: 4, positions: [2, 0], headMask: x(1, [2, 2]) }],
  ),
};
