import { adamwConfig, sgdConfig } from '../engine/abi.js';
import { checkBelow, checkBoolean } from '../checks/check.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { copyArray } from '../checks/foreign.js';
import { Optimizer } from './optimizer.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../modules/parameter.js').Parameter} Parameter */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * Parameters with their own settings. Missing settings are the optimizer's.
 * @template Settings
 * @typedef {{ readonly params: readonly (Parameter | Tensor)[] } & Partial<Settings>} ParameterGroup
 * @property params the group's parameters, or tensors with requiresGrad
 */
/**
 * Parameters of modules, tensors with requiresGrad, or groups of them.
 * @template Settings
 * @typedef {readonly (Parameter | Tensor)[] | readonly ParameterGroup<Settings>[]} Parameters
 */

/** @param {unknown} value @param {string} name @returns {readonly [number, number]} */
function checkBetas(value, name) {
  const pair = copyArray(value, 2);
  if (pair?.length !== 2) {
    throw misfit(value, name, 'two numbers of at least 0, below 1');
  }
  return [checkBelow(pair[0], `${name}[0]`, 1), checkBelow(pair[1], `${name}[1]`, 1)];
}

/**
 * Options of the AdamW constructor.
 * @typedef {object} AdamWOptions
 * @property {number} [lr] the step size; default 1e-3
 * @property {readonly [number, number]} [betas] decay rates of the means of gradients and of squared gradients, each at least 0,
 *   below 1; default [0.9, 0.999]
 * @property {number} [eps] added to the root of the mean of squares; default 1e-8
 * @property {number} [weightDecay] decoupled: a step first multiplies each value by 1 - lr · weightDecay; default 1e-2
 */

/** @type {import('./optimizer.js').Method} */
const adamw = {
  checks: { lr: checkBelow, betas: checkBetas, eps: checkBelow, weightDecay: checkBelow },
  defaults: { lr: 1e-3, betas: [0.9, 0.999], eps: 1e-8, weightDecay: 1e-2 },
  moments: ['exp_avg', 'exp_avg_sq'],
  layout: adamwConfig,
  configOf: ({ betas: [beta1, beta2], ...settings }) => ({ beta1, beta2, ...settings }),
  step: 'adamw_step',
  stepArray: (call, [config, value, gradient, first, second], size, steps) =>
    call.adamw_step_array(config, steps, size, value, gradient, first, second),
};

/**
 * torch.optim.AdamW (Loshchilov & Hutter 2019).
 * @extends {Optimizer<AdamWOptions>}
 */
export class AdamW extends Optimizer {
  /**
   * @internal
   * @param {Engine} engine
   * @param {Parameters<AdamWOptions>} parameters
   * @param {AdamWOptions} [options]
   */
  constructor(engine, parameters, options) {
    super(engine, parameters, options, adamw);
  }
}

/**
 * Options of the SGD constructor.
 * @typedef {object} SGDOptions
 * @property {number} [lr] the step size; default 1e-3
 * @property {number} [momentum] the share of the last step's direction that is kept; default 0
 * @property {number} [weightDecay] this times the value is added to the gradient; default 0
 * @property {boolean} [nesterov] Nesterov's momentum, which needs a momentum above 0; default false
 */

/** @type {import('./optimizer.js').Method} */
const sgd = {
  checks: {
    ...{ lr: checkBelow, momentum: checkBelow, weightDecay: checkBelow, nesterov: checkBoolean },
  },
  defaults: { lr: 1e-3, momentum: 0, weightDecay: 0, nesterov: false },
  checkTogether({ momentum, nesterov }) {
    if (nesterov && momentum === 0) {
      const problem = 'nesterov is true with momentum 0';
      throw new HeadwiseError('ERR_VALUE', `${problem}; expected a momentum above 0`);
    }
  },
  moments: ['momentum_buffer'],
  layout: sgdConfig,
  configOf: (settings) => settings,
  step: 'sgd_step',
  stepArray: (call, [config, value, gradient, momentum], size) =>
    call.sgd_step_array(config, size, value, gradient, momentum),
};

/**
 * torch.optim.SGD.
 * @extends {Optimizer<SGDOptions>}
 */
export class SGD extends Optimizer {
  /**
   * @internal
   * @param {Engine} engine
   * @param {Parameters<SGDOptions>} parameters
   * @param {SGDOptions} [options]
   */
  constructor(engine, parameters, options) {
    super(engine, parameters, options, sgd);
  }
}
