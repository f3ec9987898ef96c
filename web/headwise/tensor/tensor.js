import { checkBoolean, checkOptions } from '../checks/check.js';
import { describe } from '../checks/describe.js';
import { HeadwiseError, misfit, misshapen } from '../checks/error.js';
import { checkUnchanged, copyArray, isArray, kindOf, lengthOf } from '../checks/foreign.js';
import {
  attach,
  gradOf,
  isRecorded,
  setGrad,
  setRequiresGrad,
  sourceOf,
} from '../autograd/record.js';
import { backward } from '../autograd/backward.js';
import { checkFloats, checkTensor, copyData } from './operand.js';
import { checkSame, mostDimensions, newArray, readShape, sizeOf } from './shape.js';
import { gatherStrided, scatterStrided, stridesOf } from './strided.js';

/**
 * The type of a tensor's elements: numbers or truth values.
 * @typedef {'float32' | 'bool'} DType
 */
/**
 * The array of a tensor's elements. Truth values are 0 and 1.
 * @template {DType} D
 * @typedef {D extends 'bool' ? Uint8Array : Float32Array} DataOf
 */
/**
 * A tensor of numbers or of truth values.
 * @typedef {Tensor<DType>} AnyTensor
 */
/**
 * Start and end of a slice along one axis. Negative numbers count from the end. Defaults: the start and end of the axis.
 * @typedef {readonly [start?: number, end?: number]} Range
 */

/** @this {Tensor<any>} a tensor's iterator */
function rowsOf() {
  return alongFirst(this, readOwn(this));
}

/** @type {readonly number[]} */
const none = [];

/** The shape of a result; it is not checked again. @type {readonly number[]} */
let known = none;

/**
 * Makes the tensor of a result.
 * @param {Float32Array} data
 * @param {readonly number[]} shape the shape of data; it is frozen
 */
export function tensorOf(data, shape) {
  known = Object.freeze(shape);
  return new Tensor(data, shape);
}

/**
 * @param {unknown} data
 * @param {unknown} shape
 * @returns {number[]} a copy of the shape
 */
function checkFit(data, shape) {
  const kind = kindOf(data);
  if (kind !== 'Float32Array' && kind !== 'Uint8Array') {
    throw misfit(data, 'data', 'a Float32Array or a Uint8Array');
  }
  const { sizes, size } = readShape(shape, 'shape');
  const length = lengthOf(/** @type {Float32Array} */ (data));
  if (size !== length) {
    const found = `shape is ${describe(sizes)}, which holds ${size} elements`;
    throw new HeadwiseError('ERR_SHAPE', `${found}; expected ${length}, as data has`);
  }
  return sizes;
}

/**
 * A row-major array of numbers or truth values that owns its memory.
 * @template {DType} [D='float32']
 */
export class Tensor {
  /**
   * @param {DataOf<D>} data owned by the tensor from now on, not copied; a Uint8Array holds truth values, 0 and 1
   * @param {readonly number[]} shape
   * @throws {HeadwiseError} ERR_SHAPE: shape and data differ in their number of elements, or more than 64 dimensions; ERR_VALUE: data
   *   is not such an array, or shape is no shape
   */
  constructor(data, shape) {
    const isKnown = shape === known;
    known = none;
    /**
     * The sizes of the dimensions, frozen.
     * @type {readonly number[]}
     * @readonly
     */
    this.shape = isKnown ? shape : Object.freeze(checkFit(data, shape));
    /**
     * The type of the elements in `data`.
     * @type {D}
     * @readonly
     */
    this.dtype = /** @type {D} */ (kindOf(data) === 'Float32Array' ? 'float32' : 'bool');
    /** The elements, row-major: the array itself, not a copy. Elements of a bool tensor are 0 and 1. */
    this.data = data;
  }

  /**
   * The values as nested arrays. For a tensor of rank 0, the value itself.
   * @returns {any}
   * @throws {HeadwiseError} ERR_SHAPE: the tensor's data was transferred or replaced
   */
  toNested() {
    const { data, dtype, shape, size } = readOwn(this);
    const value =
      dtype === 'bool'
        ? (/** @type {number} */ i) => data[i] !== 0
        : (/** @type {number} */ i) => data[i];
    /** @type {(axis: number, start: number, held: number) => any} */
    const nest = (axis, start, held) => {
      if (axis === shape.length) {
        return value(start);
      }
      const length = shape[axis];
      const step = length === 0 ? 0 : held / length;
      return Array.from({ length }, (_, i) => nest(axis + 1, start + i * step, step));
    };
    return nest(0, 0, size);
  }

  /**
   * A copy with the same elements in another shape.
   * @param {readonly number[]} shape with the same number of elements; one size may be -1, which is computed from the others
   * @returns {Tensor<D>}
   * @throws {HeadwiseError} ERR_SHAPE: another number of elements, or more than 64 dimensions; ERR_VALUE: not a shape; ERR_MEMORY
   */
  reshape(shape) {
    const asked = copyArray(shape, mostDimensions);
    const own = readOwn(this);
    const sizes = asked?.includes(-1) ? fillIn(own, asked) : (asked ?? shape);
    const result = pick(own, { offset: 0, shape: [own.size], strides: [1] }, sizes);
    return derived(this, result, (gradient) => gradient.data);
  }

  /**
   * A copy with the axes in another order.
   * @param {readonly number[]} axes axis axes[i] of this tensor becomes axis i of the result; negative numbers count from the end
   * @returns {Tensor<D>}
   * @throws {HeadwiseError} ERR_VALUE: axes do not contain every axis exactly once; ERR_MEMORY
   */
  permute(axes) {
    const asked = copyArray(axes, mostDimensions);
    const own = readOwn(this);
    const rank = own.shape.length;
    const isOrder = asked?.length === rank && asked.every(Number.isInteger);
    const order = isOrder ? asked.map((axis) => (axis < 0 ? axis + rank : axis)) : [];
    if (order.length !== rank || !own.shape.every((_, axis) => order.includes(axis))) {
      throw misfit(axes, 'axes', `each of ${rank} axes once, from 0`);
    }
    const strides = stridesOf(own.shape);
    const shape = order.map((axis) => own.shape[axis]);
    const part = { offset: 0, shape, strides: order.map((axis) => strides[axis]) };
    return derived(this, pick(own, part, shape), ({ data }) => spread(data, part, own.size));
  }

  /**
   * A copy of a part: from start up to but not including end along each axis. As in torch, ranges are clipped to the axis.
   * @param {...(Range | undefined)} ranges one for each axis; an axis without a range is kept whole
   * @returns {Tensor<D>} with the same number of axes
   * @throws {HeadwiseError} ERR_VALUE: more ranges than axes, or not [start, end] of integers; ERR_MEMORY
   */
  slice(...ranges) {
    const asked = ranges.map((range) => copyArray(range, 2) ?? range);
    const own = readOwn(this);
    if (ranges.length > own.shape.length) {
      const found = `${ranges.length} ranges are given`;
      throw new HeadwiseError('ERR_VALUE', `${found}; expected at most ${own.shape.length}`);
    }
    const strides = stridesOf(own.shape);
    const bounds = own.shape.map((size, axis) => boundsOf(asked[axis], axis, size));
    const offset = bounds.reduce((sum, [start], axis) => sum + start * strides[axis], 0);
    const shape = bounds.map(([start, end]) => end - start);
    const part = { offset, shape, strides };
    return derived(this, pick(own, part, shape), ({ data }) => spread(data, part, own.size));
  }

  /**
   * The value of a tensor of one element.
   * @returns {D extends 'bool' ? boolean : number}
   * @throws {HeadwiseError} ERR_SHAPE: more or fewer elements than one
   */
  item() {
    const { data, dtype, shape, size } = readOwn(this);
    if (size !== 1) {
      throw misshapen(shape, 'the tensor', 'one element');
    }
    const [value] = data;
    return /** @type {any} */ (dtype === 'bool' ? value !== 0 : value);
  }

  /** The class name, for consoles. Vue makes no proxy of an object that has a tag. */
  get [Symbol.toStringTag]() {
    return 'Tensor';
  }

  /**
   * Iterates over the first axis. Each tensor is a copy. A tensor of rank 0 has no iterator, so that test libraries compare it by
   * its elements.
   * @returns {() => Generator<Tensor<D>, void, void>} throws a HeadwiseError: ERR_SHAPE: the data was transferred; ERR_MEMORY
   */
  get [Symbol.iterator]() {
    return /** @type {any} */ (this.shape?.length === 0 ? undefined : rowsOf);
  }

  /**
   * Whether `backward` computes gradients for this tensor. Set it on tensors that you make. It is true for results computed
   * from such tensors with gradients on. `backward` uses the values at the time of the call: later changes of `data` do not
   * affect gradients.
   * @returns {boolean}
   */
  get requiresGrad() {
    return sourceOf(this) !== undefined;
  }

  /** @throws {HeadwiseError} ERR_VALUE: the tensor is bool, or false was set on a computed tensor */
  set requiresGrad(value) {
    checkBoolean(value, 'requiresGrad');
    setRequiresGrad(this, checkFloats(this, 'the tensor'), value);
  }

  /**
   * The sum of the gradients from all calls of `backward`, for tensors that you make. Each call sets a new tensor. It is null
   * before the first call and after it is set to null.
   * @returns {Tensor | null}
   */
  get grad() {
    return gradOf(this);
  }

  /** @throws {HeadwiseError} ERR_SHAPE, ERR_VALUE: neither null nor a tensor of this shape */
  set grad(value) {
    if (value !== null) {
      checkSame(checkFloats(value, 'grad'), 'grad', readOwn(this).shape);
    }
    setGrad(this, value);
  }

  /**
   * Computes the gradients of this tensor and adds them to the `grad` of all tensors and parameters that require them. It
   * frees the graph unless `retainGraph` is true.
   * @param {Tensor | null} [gradient] the gradient of this tensor, in its shape; default 1, for a tensor of one element
   * @param {import('../autograd/backward.js').BackwardOptions} [options]
   * @throws {HeadwiseError} ERR_VALUE: nothing was recorded, the graph was freed, or a module has changed since; ERR_SHAPE:
   *   no gradient for more than one element, or a gradient of another shape; ERR_MEMORY; ERR_DISPOSED
   */
  backward(gradient, options) {
    backward(this, gradient, options, tensorOf);
  }

  /**
   * A copy outside the graph: `backward` does not pass through it.
   * @returns {Tensor<D>}
   */
  detach() {
    const own = readOwn(this);
    return new Tensor(/** @type {DataOf<D>} */ (copyData(own)), own.shape);
  }
}

/**
 * A tensor made of another tensor's elements. It is recorded if the other tensor is.
 * @template {DType} D
 * @param {Tensor<D>} tensor
 * @param {Tensor<D>} result
 * @param {(gradient: import('./operand.js').FloatOperand) => Float32Array} back the tensor's gradient from the result's
 */
function derived(tensor, result, back) {
  const source = sourceOf(tensor);
  if (source !== undefined && isRecorded(source)) {
    attach(source.engine, /** @type {any} */ (result), [source], (gradient) => [back(gradient)]);
  }
  return result;
}

/**
 * An array with the elements of a part in their places and zeros elsewhere.
 * @param {Float32Array} data
 * @param {import('./strided.js').Strided} part
 * @param {number} size of the whole
 */
function spread(data, part, size) {
  const whole = newArray(Float32Array, size);
  scatterStrided(data, part, whole);
  return whole;
}

/**
 * A tensor's fields, read once.
 * @template {DType} D
 * @param {Tensor<D>} tensor
 * @returns {import('./operand.js').Operand<D>}
 * @throws {HeadwiseError} ERR_SHAPE: its data was transferred or replaced
 */
const readOwn = (tensor) => /** @type {any} */ (checkTensor(tensor, 'the tensor'));

/**
 * @param {{ size: number }} tensor
 * @param {readonly number[]} shape with a size of -1
 */
function fillIn({ size }, shape) {
  const others = sizeOf([...shape.filter((n) => n !== -1)], 'shape');
  const left = others === 0 ? NaN : size / others;
  if (!Number.isInteger(left) || shape.indexOf(-1) !== shape.lastIndexOf(-1)) {
    const expected = `one of ${size} elements, with at most one -1`;
    throw misfit(shape, 'shape', expected, 'ERR_SHAPE');
  }
  return shape.map((n) => (n === -1 ? left : n));
}

/**
 * @param {unknown} range
 * @param {number} axis
 * @param {number} size
 * @returns {[number, number]} within the axis, in order
 */
function boundsOf(range, axis, size) {
  /** @type {any} */
  const pair = range === undefined ? [] : range;
  if (!isArray(pair) || pair.length > 2 || !pair.every((n = 0) => Number.isInteger(n))) {
    throw misfit(range, `the range of axis ${axis}`, '[start, end], integers');
  }
  const [start, end] = [Number(pair[0] ?? 0), Number(pair[1] ?? size)].map((n) =>
    Math.min(size, Math.max(0, n < 0 ? n + size : n)),
  );
  return [start, Math.max(start, end)];
}

/**
 * @template {DType} D
 * @param {import('./operand.js').Operand<D>} tensor
 * @param {import('./strided.js').Strided} part of its elements
 * @param {readonly number[]} shape of the result
 * @returns {Tensor<D>}
 * @throws {HeadwiseError} ERR_SHAPE: its data was transferred or resized since it was read
 */
function pick({ data, dtype, size }, part, shape) {
  checkUnchanged(data, size);
  const length = sizeOf(part.shape, 'the result');
  const copy = dtype === 'bool' ? newArray(Uint8Array, length) : newArray(Float32Array, length);
  gatherStrided(data, part, copy);
  return new Tensor(/** @type {DataOf<D>} */ (copy), shape);
}

/**
 * @template {DType} D
 * @param {Tensor<D>} tensor
 * @param {import('./operand.js').Operand<D>} own its fields
 * @returns {Generator<Tensor<D>, void, void>}
 */
function* alongFirst(tensor, own) {
  const [count, ...shape] = own.shape;
  const step = own.size / count;
  for (let i = 0; i < count; i++) {
    const part = { offset: i * step, shape: [step], strides: [1] };
    yield derived(tensor, pick(own, part, shape), ({ data }) => spread(data, part, own.size));
  }
}

/**
 * A float32 tensor of zeros.
 * @param {readonly number[]} shape
 * @param {Record<string, never>} [options] none are supported; torch's `dtype`, for example, throws
 * @returns {Tensor}
 * @throws {HeadwiseError} ERR_VALUE: not a shape; ERR_SHAPE: more than 64 dimensions; ERR_MEMORY
 */
export function zeros(shape, options) {
  const { sizes, size } = readShape(shape, 'shape');
  checkOptions(options, [], 'zeros');
  return new Tensor(newArray(Float32Array, size), sizes);
}
