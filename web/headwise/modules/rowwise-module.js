import { checkFloats, checkShape } from '../check.js';
import { aligned } from '../engine.js';
import { sizeOf, withLast } from '../tensor.js';
import { Module } from './module.js';

/** @typedef {import('../tensor.js').Tensor} Tensor */

/**
 * What a module without attention returns.
 * @typedef {object} ModuleResult
 * @property {Tensor} output a new tensor
 */

/** A module that treats every row alone: whatever dimensions come before the last. */
export class RowwiseModule extends Module {
  #forward;
  #width;
  #outWidth;

  /**
   * @internal
   * @param {import('../engine.js').Engine} engine
   * @param {ConstructorParameters<typeof Module>[1] & { forward: string }} created
   * @param {number} width of x's last dimension
   * @param {number} outWidth of the output's
   */
  constructor(engine, created, width, outWidth) {
    super(engine, created);
    this.#forward = created.forward;
    this.#width = width;
    this.#outWidth = outWidth;
  }

  /**
   * Runs the module on every row of x.
   * @param {Tensor} x […, width]
   * @returns {ModuleResult} output: like x but for the last dimension
   * @throws {HeadwiseError} ERR_SHAPE: x has another width; ERR_MEMORY; ERR_DISPOSED
   */
  forward(x) {
    const { pointer, engine } = this;
    const width = this.#width;
    checkFloats(x, 'x');
    checkShape(
      x,
      'x',
      x.shape.length >= 1 && x.shape[x.shape.length - 1] === width,
      () => `[…, ${width}]`,
    );
    const shape = withLast(x.shape, this.#outWidth);
    const bytes = aligned(x.data.byteLength);
    const at = engine.stage(bytes + sizeOf(shape, 'the result') * 4);
    const out = at + bytes;
    engine.write(at, x);
    engine.check(
      engine.call[this.#forward](pointer, at, x.data.length / width, out),
      `${this.constructor.name}.forward`,
    );
    return { output: engine.read(out, shape) };
  }
}
