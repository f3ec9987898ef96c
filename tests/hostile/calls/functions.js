import { Tensor, tensor, zeros } from 'headwise';
import { writeNpy, writeSafetensors } from 'headwise/formats';
import { transfer } from 'headwise/worker';
import { data } from '../../helpers.js';
import { bools, resizable, x } from './inputs.js';

/** @typedef {import('../../helpers.js').Engine} Engine */
/** @typedef {import('./inputs.js').Call} Call */

/** @type {Record<string, (hw: Engine) => Call>} */
export const functions = {
  tensor: () => ({
    args: [
      [
        [1, 2],
        [3, 4],
      ],
      [4],
    ],
    run: tensor,
  }),
  'tensor of an array': () => ({ args: [x(1, [4]).data, [2, 2]], run: tensor }),
  'tensor of typed rows': () => ({
    args: [[x(1, [2]).data, Float64Array.of(1, 2)], [4]],
    run: tensor,
  }),
  zeros: () => ({ args: [[2, 3]], run: zeros }),
  reshape: () => ({ args: [[3, -1]], run: (shape) => data(1, [2, 3]).reshape(shape) }),
  permute: () => ({ args: [[1, 0]], run: (axes) => data(1, [2, 3]).permute(axes) }),
  slice: () => ({ args: [[0, 1]], run: (range) => data(1, [2, 3]).slice(range) }),
  'new Tensor': () => ({
    args: [x(1, [4]).data, [2, 2]],
    run: (...given) => new Tensor(.../** @type {[any, any]} */ (given)),
  }),
  manualSeed: (hw) => ({
    args: [7n],
    run(seed) {
      hw.manualSeed(seed);
      return hw.rand([2]);
    },
  }),
  rand: (hw) => ({
    args: [[2, 3]],
    run(shape) {
      hw.manualSeed(1);
      return hw.rand(shape);
    },
  }),
  matmul: (hw) => ({
    args: [x(1, [2, 2, 3]), x(2, [3, 4])],
    run: (...given) => hw.matmul(.../** @type {[any, any]} */ (given)),
  }),
  transpose: (hw) => ({ args: [x(1, [2, 3])], run: (a) => hw.transpose(a) }),
  add: (hw) => ({ args: [x(1, [2, 3]), x(2, [3])], run: (a, b) => hw.add(a, b) }),
  sum: (hw) => ({
    args: [x(1, [2, 3]), { axis: [0], keepDim: true }],
    run: (a, options) => hw.sum(a, options),
  }),
  dropout: (hw) => ({
    args: [x(1, [2, 3]), { p: 0.5 }],
    run(a, options) {
      hw.manualSeed(1);
      return hw.dropout(a, options);
    },
  }),
  embedding: (hw) => ({
    args: [[1, 0], x(1, [2, 3])],
    run: (ids, weight) => hw.embedding(ids, weight),
  }),
  mseLoss: (hw) => ({
    args: [x(1, [2, 3]), x(2, [2, 3]), { reduction: 'sum' }],
    run: (input, target, options) => hw.mseLoss(input, target, options),
  }),
  crossEntropy: (hw) => ({
    args: [x(1, [2, 3]), [1, -1], { ignoreIndex: -1, labelSmoothing: 0.5, reduction: 'none' }],
    run: (logits, targets, options) => hw.crossEntropy(logits, targets, options),
  }),
  rmsNorm: (hw) => ({
    args: [x(1, [2, 3]), { weight: x(2, [3]), eps: 0.5 }],
    run: (a, options) => hw.rmsNorm(a, options),
  }),
  relu: (hw) => ({ args: [x(1, [2, 3])], run: (a) => hw.relu(a) }),
  backward: (hw) => {
    const leaf = data(1, [2, 3]);
    leaf.requiresGrad = true;
    const loss = hw.enableGrad(() => hw.multiply(leaf, leaf));
    return {
      args: [x(2, [2, 3]), { retainGraph: true }],
      run(gradient, options) {
        loss.backward(gradient, options);
        return leaf.grad;
      },
    };
  },
  softmax: (hw) => ({ args: [x(1, [2, 3])], run: (a) => hw.softmax(a) }),
  gelu: (hw) => ({
    args: [x(1, [2, 3]), { approximate: 'tanh' }],
    run: (...given) => hw.gelu(.../** @type {[any]} */ (given)),
  }),
  layerNorm: (hw) => ({
    args: [x(1, [2, 3]), { weight: x(2, [3]), bias: x(3, [3]), eps: 0.1 }],
    run: (...given) => hw.layerNorm(.../** @type {[any]} */ (given)),
  }),
  setRngState: (hw) => {
    hw.manualSeed(1);
    const state = resizable(hw.getRngState());
    return {
      args: [state],
      run(given) {
        hw.setRngState(given);
        return hw.rand([3]);
      },
    };
  },
  causalMask: (hw) => ({ args: [3], run: (n) => hw.causalMask(n) }),
  scaledDotProductAttention: (hw) => ({
    args: [
      x(1, [1, 2, 3, 4]),
      x(2, [1, 2, 3, 4]),
      x(3, [1, 2, 3, 2]),
      {
        isCausal: true,
        causalOffset: 2,
        mask: bools([3, 4]),
        scale: 0.5,
        softcap: 3,
        window: [4, 1],
        enableGqa: true,
        kvLengths: [4],
        past: { key: x(4, [1, 2, 2, 4]), value: x(5, [1, 2, 2, 2]) },
        dropoutP: 0,
        needWeights: true,
      },
    ],
    run: (...given) => hw.scaledDotProductAttention(.../** @type {[any, any, any]} */ (given)),
  }),
  'Embedding.forward': (hw) => {
    const module = new hw.Embedding({ numEmbeddings: 5, embeddingDim: 3 });
    return {
      args: [
        [
          [1, 2],
          [0, 4],
        ],
      ],
      run: (ids) => module.forward(ids),
      owned: [module],
    };
  },
  'Embedding.forward of a tensor': (hw) => {
    const module = new hw.Embedding({ numEmbeddings: 5, embeddingDim: 3 });
    const ids = resizable(tensor([1, 2, 4]));
    return { args: [ids], run: (given) => module.forward(given), owned: [module] };
  },
  transfer: () => ({ args: [x(1, [2, 3])], run: (given) => void transfer(given) }),
  writeNpy: () => ({ args: [x(1, [2, 3])], run: writeNpy }),
  writeSafetensors: () => ({
    args: [{ a: x(1, [2, 3]), b: bools([2]) }, { format: 'pt' }],
    run: writeSafetensors,
  }),
};
