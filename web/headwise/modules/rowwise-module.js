import { checkOptions, checkShape } from '../checks/check.js';
import { checkFloats } from '../tensor/operand.js';
import { classOf } from '../checks/describe.js';
import { withLast } from '../tensor/shape.js';
import { runRows } from './forward.js';
import { Module } from './module.js';

/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * The result of a module without attention.
 * @typedef {object} ModuleResult
 * @property {Tensor} output a new tensor
 */

/** A module that computes each row separately. Any dimensions may precede the last one. */
export class RowwiseModule extends Module {
  #forwardName;
  #width;
  #outWidth;

  /**
   * @internal
   * @param {import('../engine/engine.js').Engine} engine
   * @param {import('./module.js').Spec} spec
   * @param {number} width of x's last dimension
   * @param {number} outWidth of the output's
   */
  constructor(engine, spec, width, outWidth) {
    super(engine, spec);
    this.#forwardName = `${classOf(this)}.forward`;
    this.#width = width;
    this.#outWidth = outWidth;
  }

  /**
   * Runs the module on every row of x.
   * @param {Tensor} x […, width]
   * @param {Record<string, never>} [options] none are supported; `trace`, for example, throws
   * @returns {ModuleResult} output: the shape of x but for the last dimension
   * @throws {HeadwiseError} ERR_VALUE: an option; ERR_SHAPE: x has another width; ERR_MEMORY; ERR_DISPOSED
   */
  forward(x, options) {
    const name = this.#forwardName;
    checkOptions(options, [], name);
    const width = this.#width;
    const input = checkFloats(x, 'x');
    const { shape: own, size } = input;
    checkShape(input, 'x', own.at(-1) === width, () => `[…, ${width}]`);
    const shape = withLast(own, this.#outWidth);
    return { output: runRows(this, name, input, size / width, shape, x) };
  }
}
