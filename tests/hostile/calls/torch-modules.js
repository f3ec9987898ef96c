import { MultiheadAttention, TransformerEncoderLayer } from 'headwise/torch';
import { bools, x } from './inputs.js';

/** @typedef {import('../../helpers.js').Engine} Engine */
/** @typedef {import('./inputs.js').Call} Call */

const layer = { dModel: 4, nhead: 2, dimFeedforward: 6, dropout: 0, batchFirst: true };

/** @type {Record<string, (hw: Engine) => Call>} */
export const torchModules = {
  'new MultiheadAttention': (hw) => ({
    args: [hw, { embedDim: 4, numHeads: 2, kdim: 3, vdim: 5, bias: true, batchFirst: true }],
    run(...given) {
      hw.manualSeed(1);
      return new MultiheadAttention(.../** @type {[any, any]} */ (given));
    },
  }),
  'MultiheadAttention.forward': (hw) => {
    const module = new MultiheadAttention(hw, { embedDim: 4, numHeads: 2 });
    const masks = { attnMask: x(5, [3, 2]), keyPaddingMask: bools([1, 2]) };
    return {
      args: [x(1, [3, 1, 4]), x(2, [2, 1, 4]), x(3, [2, 1, 4]), { ...masks, isCausal: true }],
      run: module.forward.bind(module),
      owned: [module],
    };
  },
  'new TransformerEncoderLayer': (hw) => ({
    args: [hw, { ...layer, activation: 'gelu', normFirst: true, layerNormEps: 1e-5 }],
    run(...given) {
      hw.manualSeed(1);
      return new TransformerEncoderLayer(.../** @type {[any, any]} */ (given));
    },
  }),
  'TransformerEncoderLayer.forward': (hw) => {
    const module = new TransformerEncoderLayer(hw, layer);
    const masks = { srcMask: bools([3, 3]), srcKeyPaddingMask: x(6, [1, 3]) };
    return {
      args: [x(1, [1, 3, 4]), { ...masks, isCausal: true, needWeights: true, trace: true }],
      run: module.forward.bind(module),
      owned: [module],
    };
  },
  'TransformerEncoderLayer.loadStateDict': (hw) => {
    const module = new TransformerEncoderLayer(hw, layer);
    const entries = Object.entries(module.stateDict());
    const dict = Object.fromEntries(entries.map(([key, { shape }], i) => [key, x(i, [...shape])]));
    return { args: [dict], run: (given) => module.loadStateDict(given), owned: [module] };
  },
};
