import { checkBoolean, checkFloats, checkOptions, checkShape, checkSize } from '../check.js';
import { aligned } from '../engine.js';
import { sizeOf, withLast } from '../tensor.js';
import { linearParameters, Module } from './module.js';

/** @typedef {import('../tensor.js').Tensor} Tensor */

/**
 * @typedef {object} LinearOptions
 * @property {number} inFeatures
 * @property {number} outFeatures
 * @property {boolean} [bias] default true
 */

/** torch.nn.Linear: y = x·Wᵀ + b. State dict: weight [outFeatures, inFeatures], bias [outFeatures]. */
export class Linear extends Module {
  /**
   * @param {import('../engine.js').Engine} engine
   * @param {LinearOptions} options
   */
  constructor(engine, options) {
    const given = checkOptions(options, ['inFeatures', 'outFeatures', 'bias'], 'Linear');
    const inFeatures = checkSize(given.inFeatures, 'inFeatures');
    const outFeatures = checkSize(given.outFeatures, 'outFeatures');
    const bias = checkBoolean(given.bias ?? true, 'bias');
    engine.check(
      engine.call.linear_create(true, inFeatures, outFeatures, bias),
      `a Linear of ${inFeatures} × ${outFeatures}`,
    );
    const pointer = engine.result;
    const parameters = linearParameters('', {
      linear: pointer,
      rows: outFeatures,
      inFeatures,
      bias,
    });
    super(engine, { pointer, destroy: 'linear_destroy', parameters });
    this.inFeatures = inFeatures;
    this.outFeatures = outFeatures;
  }

  /**
   * @param {Tensor} x […, inFeatures]
   * @returns {{ output: Tensor }} […, outFeatures]
   */
  forward(x) {
    const { pointer, engine, inFeatures } = this;
    checkFloats(x, 'x');
    checkShape(
      x,
      'x',
      x.shape.length >= 1 && x.shape[x.shape.length - 1] === inFeatures,
      () => `[…, ${inFeatures}]`,
    );
    const shape = withLast(x.shape, this.outFeatures);
    const bytes = aligned(x.data.byteLength);
    const at = engine.stage(bytes + sizeOf(shape, 'the result') * 4);
    const out = at + bytes;
    engine.write(at, x);
    engine.check(
      engine.call.linear_forward(pointer, at, x.data.length / inFeatures, out),
      'Linear.forward',
    );
    return { output: engine.read(out, shape) };
  }
}
