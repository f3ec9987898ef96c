// Gradients of random functions of random tensors, against finite differences along a random direction.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Tensor, tensor } from 'headwise';
import { data, engine } from '../helpers.js';
import { size } from './arbitraries.js';
import { checkProperty } from './check.js';

const hw = await engine();

/** @typedef {import('headwise').Tensor} T */

/**
 * A module's output of x [2, tokens, 4] and a mask, the last token being padding.
 * @param {(tokens: number) => any} make makes the module
 * @returns {(x: T, mask: T) => T}
 */
const masked = (make) => (x, mask) => {
  hw.manualSeed(1);
  const [batch, tokens] = x.shape;
  const ignored = Array.from({ length: tokens }, (_, i) => i > 0 && i === tokens - 1);
  const keyPaddingMask = tensor(Array(batch).fill(ignored));
  return make(tokens).forward(x, { mask, keyPaddingMask }).output;
};

/** Smooth functions of tensors, each with the shapes that it takes. @type {Record<string, { shapes: (d: number[]) => number[][], run: (...x: T[]) => T }>} */
const functions = {
  matmul: {
    shapes: ([a, b, c, d]) => [
      [a, b, c],
      [c, d],
    ],
    run: (x, y) => hw.matmul(x, y),
  },
  'matmul of batches': {
    shapes: ([a, b, c, d]) => [
      [a, 1, b, c],
      [d, c, b],
    ],
    run: (x, y) => hw.matmul(x, y),
  },
  'multiply and add': {
    shapes: ([a, b, c]) => [[a, b, 1], [b, c], [c]],
    run: (x, y, z) => hw.add(hw.multiply(x, y), hw.multiply(z, z)),
  },
  'subtract and sum': {
    shapes: ([a, b]) => [
      [a, b],
      [a, 1],
    ],
    run: (x, y) => hw.sum(hw.multiply(hw.subtract(x, y), x), { axis: 0 }),
  },
  'mean of shapes': {
    shapes: ([a, b, c]) => [[a, b, c + 1]],
    run: (x) => hw.mean(hw.multiply(x.permute([2, 0, 1]).slice([0, -1]), 3), { axis: [0, 2] }),
  },
  mseLoss: {
    shapes: ([a, b]) => [
      [a, b],
      [a, b],
    ],
    run: (x, y) => hw.mseLoss(x, y),
  },
  embedding: {
    shapes: ([a, b]) => [[a, b]],
    run: (x) => hw.embedding([0, x.shape[0] - 1, 0], hw.multiply(x, x)),
  },
  softmax: { shapes: ([a, b]) => [[a, b]], run: (x) => hw.softmax(hw.multiply(x, 2)) },
  'gelu, silu and tanh': {
    shapes: ([a, b]) => [[a, b]],
    run: (x) => hw.add(hw.gelu(x), hw.multiply(hw.silu(x), hw.tanh(x))),
  },
  'norms of rows': {
    shapes: ([a, b]) => [[a, b], [b], [b]],
    run: (x, weight, bias) =>
      hw.rmsNorm(hw.layerNorm(x, { weight, bias, eps: 0.5 }), { weight: bias, eps: 0.5 }),
  },
  crossEntropy: {
    shapes: ([a, b]) => [[2, a, b]],
    run: (x) => {
      const targets = Array(2).fill(Array(x.shape[1]).fill(x.shape[2] - 1));
      return hw.crossEntropy(x, targets, { labelSmoothing: 0.25, reduction: 'none' });
    },
  },
  'a MultiHeadAttention with a mask for each text': {
    shapes: ([a, b]) => [
      [2, a, 4],
      [2, 1, b > 4 ? a : 1, a],
    ],
    run: masked(
      (contextLength) =>
        new hw.MultiHeadAttention({ dIn: 4, dOut: 4, contextLength, numHeads: 2, isCausal: false }),
    ),
  },
  'a MultiHeadAttentionWrapper with a mask for each head': {
    shapes: ([a, b]) => [
      [2, a, 4],
      [1, 2, b > 4 ? a : 1, a],
    ],
    run: masked(
      (contextLength) =>
        new hw.MultiHeadAttentionWrapper({ dIn: 4, dOut: 3, contextLength, numHeads: 2 }),
    ),
  },
  'a Linear': {
    shapes: ([a, b]) => [[a, b]],
    run(x) {
      hw.manualSeed(1);
      return new hw.Linear({ inFeatures: x.shape[1], outFeatures: 3 }).forward(x).output;
    },
  },
};

/** @param {T} x @param {T} direction @param {number} step */
const moved = (x, direction, step) =>
  new Tensor(
    x.data.map((value, i) => value + step * direction.data[i]),
    x.shape,
  );

/** @param {T} a @param {T} b */
const dot = (a, b) => a.data.reduce((sum, value, i) => sum + value * b.data[i], 0);

checkProperty(
  'a gradient along a direction is what a small step that way changes',
  fc.property(
    fc.constantFrom(...Object.keys(functions)),
    fc.tuple(size(9), size(9), size(9), size(9)),
    fc.nat(2 ** 20),
    (name, sizes, seed) => {
      const { shapes, run } = functions[name];
      const inputs = shapes(sizes).map((shape, i) => data(seed + i, shape));
      const directions = inputs.map(({ shape }, i) => data(seed + 100 + i, [...shape]));
      for (const input of inputs) input.requiresGrad = true;
      const output = hw.enableGrad(() => run(...inputs));
      if (output.data.length === 0) return;
      const weights = data(seed + 200, [...output.shape]);
      output.backward(weights);
      const slope = inputs.reduce(
        (sum, { grad }, i) => sum + (grad === null ? NaN : dot(grad, directions[i])),
        0,
      );
      const step = 2 ** -6;
      const [above, below] = [step, -step].map((by) =>
        dot(run(...inputs.map((input, i) => moved(input, directions[i], by))), weights),
      );
      const found = (above - below) / (2 * step);
      const scale = 1 + weights.data.length + Math.abs(found);
      assert.ok(Math.abs(slope - found) < 2e-3 * scale, `${slope}, by differences ${found}`);
    },
  ),
);
