import { data } from '../../helpers.js';
import { resizable, x } from './inputs.js';

/** @typedef {import('../../helpers.js').Engine} Engine */
/** @typedef {import('./inputs.js').Call} Call */

/** @param {Engine} hw */
function trained(hw) {
  hw.manualSeed(4);
  const module = new hw.Linear({ inFeatures: 3, outFeatures: 2 });
  hw.enableGrad(() => hw.sum(module.forward(data(1, [2, 3])).output)).backward();
  return module;
}

/** @type {Record<string, (hw: Engine) => Call>} */
export const training = {
  'Parameter.data': (hw) => {
    const module = trained(hw);
    const [, bias] = module.parameters();
    return {
      args: [x(1, [2])],
      run(value) {
        bias.data = value;
        return module.stateDict();
      },
      owned: [module],
    };
  },
  AdamW: (hw) => {
    const module = trained(hw);
    const [weight, bias] = module.parameters();
    return {
      args: [
        [{ params: [weight], lr: 0.5, betas: [0.5, 0.5] }, { params: [bias] }],
        { weightDecay: 0, eps: 1e-8 },
      ],
      run(groups, options) {
        new hw.AdamW(groups, options).step();
        return module.stateDict();
      },
      owned: [module],
    };
  },
  'SGD.loadStateDict': (hw) => {
    const module = trained(hw);
    const optimizer = new hw.SGD(module.parameters().slice(1), { momentum: 0.5 });
    optimizer.step();
    return {
      args: [
        Object.fromEntries(
          Object.entries(optimizer.stateDict()).map(([key, value]) => [key, resizable(value)]),
        ),
      ],
      run: (dict) => optimizer.loadStateDict(dict).stateDict(),
      owned: [module, optimizer],
    };
  },
  clipGradNorm: (hw) => {
    const module = trained(hw);
    return {
      args: [module.parameters(), 1],
      run: (parameters, maxNorm) => hw.clipGradNorm(parameters, maxNorm),
      owned: [module],
    };
  },
  'loadStateDict of modules in a module': (hw) => {
    class Net extends hw.Module {
      inner = trained(hw);
      gain = Object.assign(data(1, [2]), { requiresGrad: true });
    }
    const net = new Net();
    const dict = { 'inner.weight': x(1, [2, 3]), 'inner.bias': x(2, [2]), gain: x(3, [2]) };
    return {
      args: [dict],
      run: (given) => net.loadStateDict(given).stateDict(),
      owned: [net],
    };
  },
};
