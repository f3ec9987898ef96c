import { checkFloats } from '../tensor/operand.js';
import { random } from '../tensor/functions.js';
import { newArray } from '../tensor/shape.js';
import { tensorOf } from '../tensor/tensor.js';
import { Linear } from '../modules/linear.js';
import { placesOf } from '../modules/module.js';
import { RowwiseModule } from '../modules/rowwise-module.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../modules/module.js').Module} Module */

/** A Linear whose keys are in_proj_weight and in_proj_bias, not in_proj.weight and in_proj.bias. Its weights start as zeros. */
export class Projection extends RowwiseModule {
  /**
   * @param {Engine} engine
   * @param {number} inFeatures
   * @param {number} outFeatures
   * @param {boolean} bias
   */
  constructor(engine, inFeatures, outFeatures, bias) {
    const config = { inFeatures, outFeatures, bias };
    const what = `a projection of ${inFeatures} × ${outFeatures}`;
    super(engine, { kind: 'linear', config, what, draw: false }, inFeatures, outFeatures);
  }

  /** @override @param {string} name @param {string} own */
  keyIn(name, own) {
    return `${name}_${own}`;
  }
}

/**
 * Draws a weight as torch.nn.init.xavier_uniform_ does.
 * @param {Engine} engine
 * @param {Module} module whose first parameter is the weight
 */
export function drawXavier(engine, module) {
  const [place] = placesOf(module);
  const [rows, columns] = place.shape;
  const bound = Math.fround(Math.sqrt(3) * Math.sqrt(2 / (rows + columns)));
  const width = Math.fround(2 * bound);
  const drawn = random(engine, 'rand', place.shape);
  // A double holds product and sum exactly: they are rounded once, as in torch.
  drawn.data.forEach((unit, i) => (drawn.data[i] = unit * width - bound));
  place.write(checkFloats(drawn, 'weight'));
}

/**
 * The output projection of torch's attention: drawn as a Linear, then the bias is zero.
 * @param {Engine} engine
 * @param {number} width
 * @param {boolean} bias
 */
export function makeOutProjection(engine, width, bias) {
  const linear = new Linear(engine, { inFeatures: width, outFeatures: width, bias });
  if (bias) {
    const zeros = tensorOf(newArray(Float32Array, width), [width]);
    placesOf(linear)[1].write(checkFloats(zeros, 'bias'));
  }
  return linear;
}
