// A module of everything that a module can be made of, as the tests of training share it.
import { tensor } from 'headwise';
import { data, engine } from './helpers.js';

/** @typedef {import('headwise').Parameter} Parameter */
/** @typedef {import('headwise').Tensor} Tensor */

export const hw = await engine();
export const linear = () => new hw.Linear({ inFeatures: 3, outFeatures: 2 });
export const x = data(1, [4, 3]);

/** @param {{ forward: (x: Tensor) => { output: Tensor } }} module */
export const lossOf = (module) => hw.enableGrad(() => hw.sum(module.forward(x).output));

/** @param {Parameter[]} parameters */
export const gradsOf = (parameters) => parameters.map(({ grad }) => grad?.toNested());

/** Of everything a module can be made of. */
export class Net extends hw.Module {
  inner = linear();
  gain = Object.assign(tensor([1, 1]), { requiresGrad: true });
  constant = tensor([3]);
  layers = [new hw.Linear({ inFeatures: 2, outFeatures: 2 }), [new hw.LayerNorm({ dim: 2 })]];

  /** @param {Tensor} given */
  forward(given) {
    const [first] = /** @type {InstanceType<typeof hw.Linear>[]} */ (this.layers);
    const hidden = first.forward(this.inner.forward(given).output).output;
    return { output: hw.multiply(hw.multiply(hidden, this.gain), this.constant) };
  }
}

export const names = [
  ...['inner.weight', 'inner.bias', 'gain', 'layers.0.weight', 'layers.0.bias'],
  ...['layers.1.0.weight', 'layers.1.0.bias'],
];
