import { checkTable, off } from '../checks/check.js';
import { HeadwiseError, misshapen } from '../checks/error.js';
import { checkFloats, copyData, operandOf } from '../tensor/operand.js';
import { checkSame, newArray } from '../tensor/shape.js';
import { Leaf, nodesOf, sourceOf } from './record.js';

/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('./record.js').Source} Source */
/** @typedef {import('./record.js').Node} Node */

/**
 * Options of `backward`.
 * @typedef {object} BackwardOptions
 * @property {boolean} [retainGraph] default false: the graph is freed, and a second backward throws
 */

const table = { retainGraph: off };

/**
 * @param {Float32Array} a
 * @param {ArrayLike<number>} b
 * @returns {Float32Array} a new array
 */
function sumOf(a, b) {
  const sum = newArray(Float32Array, a.length);
  for (let i = 0; i < sum.length; i++) {
    sum[i] = a[i] + b[i];
  }
  return sum;
}

/**
 * @param {FloatOperand | undefined} given
 * @param {Source} root
 * @returns {Float32Array}
 */
function startOf(given, { shape, size }) {
  if (given !== undefined) {
    checkSame(given, 'gradient', shape, ', as the tensor');
    return copyData(given);
  }
  if (size !== 1) {
    throw misshapen(shape, 'backward: the tensor', 'one element, or a gradient of its shape');
  }
  return Float32Array.of(1);
}

/**
 * @param {Leaf} leaf
 * @returns {FloatOperand | undefined} the gradient that it has
 * @throws {HeadwiseError} ERR_SHAPE, ERR_VALUE: it cannot be added to
 */
function gradientOf({ grad, shape }) {
  if (grad === null) {
    return undefined;
  }
  const before = checkFloats(grad, 'grad');
  checkSame(before, 'grad', shape);
  return before;
}

/**
 * @param {Source} root
 * @param {readonly Node[]} nodes
 * @returns {Map<Source, FloatOperand | undefined>} the leaves that get gradients, with those that they have
 */
function gradientsBefore(root, nodes) {
  /** @type {Set<Leaf>} */
  const leaves = new Set();
  for (const source of [root, ...nodes.flatMap(({ inputs }) => inputs)]) {
    if (source instanceof Leaf && source.requiresGrad) leaves.add(source);
  }
  return new Map(Array.from(leaves, (leaf) => [leaf, gradientOf(leaf)]));
}

/**
 * Goes back through the graph and adds gradients to the tensors and parameters that require them.
 * @param {object} tensor
 * @param {unknown} gradient
 * @param {unknown} options
 * @param {(data: Float32Array, shape: readonly number[]) => Tensor} tensorOf
 */
export function backward(tensor, gradient, options, tensorOf) {
  const { retainGraph } = checkTable(options, table, 'backward');
  const asked = gradient ?? undefined;
  const given = asked === undefined ? undefined : checkFloats(asked, 'gradient');
  // No code of the caller's runs from here on, but for what reads the grads before anything changes: it could free the graph.
  const root = sourceOf(tensor);
  if (root === undefined) {
    throw new HeadwiseError(
      'ERR_VALUE',
      'backward: the tensor has no graph; expected one that was computed with gradients on (hw.enableGrad) from parameters or from tensors with requiresGrad',
    );
  }
  const nodes = root instanceof Leaf ? [] : nodesOf(root);
  const start = startOf(given, root);
  /** @type {Map<Source, Float32Array>} */
  const gradients = new Map([[root, start]]);
  // Modules add to their parameters' gradients on the way: what can be refused is refused before.
  const had = gradientsBefore(root, nodes);
  nodes.forEach((node) => passBack(node, gradients));
  // What is left is of leaves. Nothing changes before all sums are there.
  gradients.forEach((data, leaf) => {
    const before = had.get(leaf);
    // Others may have got the same array.
    gradients.set(leaf, before === undefined ? data.slice() : sumOf(data, before.data));
  });
  gradients.forEach((data, leaf) => {
    /** @type {Leaf} */ (leaf).grad = tensorOf(data, leaf.shape);
  });
  if (!retainGraph) {
    nodes.forEach((node) => node.free());
  }
}

/**
 * Takes a node's gradient off the list and adds those of its inputs.
 * @param {Node} node
 * @param {Map<Source, Float32Array>} gradients
 */
function passBack(node, gradients) {
  const { shape, inputs } = node;
  const data = gradients.get(node);
  gradients.delete(node);
  if (data === undefined) {
    return;
  }
  const found = node.backward(operandOf({ data, shape }));
  inputs.forEach((input, i) => {
    const part = found[i];
    // One may have been frozen since.
    const isWanted = input instanceof Leaf ? input.requiresGrad : input !== undefined;
    if (input !== undefined && part !== undefined && isWanted) {
      const before = gradients.get(input);
      gradients.set(input, before === undefined ? part : sumOf(before, part));
    }
  });
}
