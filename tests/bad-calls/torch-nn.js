// Bad calls of headwise/torch.
import { tensor, zeros } from 'headwise';
import { MultiheadAttention, TransformerEncoderLayer } from 'headwise/torch';
import { any } from './table.js';

const options = { embedDim: 6, numHeads: 3, batchFirst: true };
const layerOptions = { dModel: 6, nhead: 3, dimFeedforward: 8, batchFirst: true };
const x = zeros([2, 4, 6]);
const memory = zeros([2, 5, 6]);
const bools = (/** @type {number[]} */ shape) =>
  tensor(new Uint8Array(zeros(shape).data.length), shape, { dtype: 'bool' });

/**
 * @param {import('./table.js').Engine} hw
 * @returns {import('./table.js').BadCall[]}
 */
function constructors(hw) {
  const attention = (/** @type {any} */ more) => () =>
    new MultiheadAttention(hw, { ...options, ...more });
  const layer = (/** @type {any} */ more) => () =>
    new TransformerEncoderLayer(hw, { ...layerOptions, ...more });
  return [
    [
      'a MultiheadAttention without an engine',
      () => new MultiheadAttention(any(options), any(undefined)),
      'ERR_VALUE',
      'hw',
      'a value of type Object',
    ],
    [
      'embedDim not divisible by numHeads',
      attention({ numHeads: 4 }),
      'ERR_SHAPE',
      'embedDim',
      '6',
    ],
    ['an embedDim of zero', attention({ embedDim: 0 }), 'ERR_VALUE', 'embedDim', '0'],
    ['a kdim of half', attention({ kdim: 2.5 }), 'ERR_VALUE', 'kdim', '2.5'],
    ['a vdim in words', attention({ vdim: '8' }), 'ERR_VALUE', 'vdim', '"8"'],
    ['add_bias_kv', attention({ addBiasKv: true }), 'ERR_VALUE', 'MultiheadAttention', 'addBiasKv'],
    ['a dropout of 2', attention({ dropout: 2 }), 'ERR_VALUE', 'dropout', '2'],
    ['batchFirst in words', attention({ batchFirst: 'yes' }), 'ERR_VALUE', 'batchFirst', '"yes"'],
    ['dModel not divisible by nhead', layer({ nhead: 4 }), 'ERR_SHAPE', 'dModel', '6'],
    [
      'silu in an encoder layer',
      layer({ activation: 'silu' }),
      'ERR_VALUE',
      'activation',
      '"silu"',
    ],
    ['a negative layerNormEps', layer({ layerNormEps: -1 }), 'ERR_VALUE', 'layerNormEps', '-1'],
    [
      'a layerNormEps beyond float32',
      layer({ layerNormEps: 1e39 }),
      'ERR_VALUE',
      'layerNormEps',
      '1e+39',
    ],
    [
      "torch's spelling",
      layer({ norm_first: true }),
      'ERR_VALUE',
      'TransformerEncoderLayer',
      'norm_first',
    ],
  ];
}

/**
 * @param {import('./table.js').Engine} hw
 * @returns {import('./table.js').BadCall[]}
 */
function forwards(hw) {
  const attention = new MultiheadAttention(hw, options);
  const far = new MultiheadAttention(hw, { ...options, kdim: 5 });
  const ended = new MultiheadAttention(hw, options);
  ended.dispose();
  const layer = new TransformerEncoderLayer(hw, layerOptions);
  const run = (/** @type {any} */ more) => () => attention.forward(x, x, x, more);
  return [
    ['one input alone', () => any(attention).forward(x), 'ERR_VALUE', 'key', 'undefined'],
    [
      'a query of another width',
      () => attention.forward(zeros([2, 4, 5]), x, x),
      'ERR_SHAPE',
      'query',
      '[2, 4, 5]',
    ],
    [
      'a query of 4 axes',
      () => attention.forward(zeros([1, 2, 4, 6]), x, x),
      'ERR_SHAPE',
      'query',
      '[1, 2, 4, 6]',
    ],
    [
      'a key without a batch',
      () => attention.forward(x, zeros([4, 6]), zeros([4, 6])),
      'ERR_SHAPE',
      'key',
      '[4, 6]',
    ],
    [
      'a key of another width than kdim',
      () => far.forward(x, x, x),
      'ERR_SHAPE',
      'key',
      '[2, 4, 6]',
    ],
    [
      'a key of another batch',
      () => attention.forward(x, zeros([3, 4, 6]), zeros([3, 4, 6])),
      'ERR_SHAPE',
      'key',
      '[3, 4, 6]',
    ],
    [
      'fewer values than keys',
      () => attention.forward(x, memory, x),
      'ERR_SHAPE',
      'value',
      '[2, 4, 6]',
    ],
    [
      'a bool query',
      () => attention.forward(any(bools([2, 4, 6])), x, x),
      'ERR_VALUE',
      'query',
      'bool',
    ],
    ['an attnMask of one row', run({ attnMask: bools([4]) }), 'ERR_SHAPE', 'attnMask', '[4]'],
    [
      'an attnMask of heads without a batch',
      run({ attnMask: bools([3, 4, 4]) }),
      'ERR_SHAPE',
      'attnMask',
      '[3, 4, 4]',
    ],
    [
      'a keyPaddingMask of tokens first',
      run({ keyPaddingMask: bools([4, 2]) }),
      'ERR_SHAPE',
      'keyPaddingMask',
      '[4, 2]',
    ],
    [
      'a keyPaddingMask of nested arrays',
      run({ keyPaddingMask: [[true]] }),
      'ERR_VALUE',
      'keyPaddingMask',
      '[[…]]',
    ],
    [
      "torch's spelling of a mask",
      run({ attn_mask: bools([4, 4]) }),
      'ERR_VALUE',
      'MultiheadAttention.forward',
      'attn_mask',
    ],
    ['needWeights as a number', run({ needWeights: 1 }), 'ERR_VALUE', 'needWeights', '1'],
    [
      'a MultiheadAttention that was disposed of',
      () => ended.forward(x, x, x),
      'ERR_DISPOSED',
      'the MultiheadAttention',
    ],
    [
      'an encoder layer with a mask of keys',
      () => layer.forward(x, { srcMask: bools([4, 5]) }),
      'ERR_SHAPE',
      'srcMask',
      '[4, 5]',
    ],
    [
      'an encoder layer with a memory',
      () => any(layer).forward(x, memory),
      'ERR_VALUE',
      'TransformerEncoderLayer.forward',
    ],
  ];
}

/**
 * @param {import('./table.js').Engine} hw
 * @returns {import('./table.js').BadCall[]}
 */
function states(hw) {
  const attention = new MultiheadAttention(hw, options);
  const far = new MultiheadAttention(hw, { ...options, kdim: 5 });
  const layer = new TransformerEncoderLayer(hw, layerOptions);
  const more = (/** @type {any} */ module, /** @type {any} */ entries) => () =>
    module.loadStateDict({ ...module.stateDict(), ...entries });
  return [
    [
      'bias_k in a state dict',
      more(attention, { bias_k: zeros([1, 1, 6]) }),
      'ERR_VALUE',
      'dict',
      'unexpected: bias_k',
    ],
    [
      'an in_proj_weight that is turned',
      more(attention, { in_proj_weight: zeros([6, 18]) }),
      'ERR_SHAPE',
      'dict',
      'in_proj_weight has shape [6, 18]',
    ],
    [
      'an in_proj_weight where kdim is set',
      () => far.loadStateDict(attention.stateDict()),
      'ERR_VALUE',
      'dict',
      'missing: q_proj_weight, k_proj_weight, v_proj_weight; unexpected: in_proj_weight',
    ],
    [
      "an attention's state dict in an encoder layer",
      () => layer.loadStateDict(attention.stateDict()),
      'ERR_VALUE',
      'dict',
      'missing: self_attn.in_proj_weight',
    ],
  ];
}

/** @param {import('./table.js').Engine} hw */
export const torchNn = (hw) => [...constructors(hw), ...forwards(hw), ...states(hw)];
