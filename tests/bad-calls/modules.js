// Bad calls of modules: making and running them.
import { tensor, zeros } from 'headwise';
import { any } from './table.js';

const single = { dIn: 3, dOut: 4, contextLength: 6 };
const several = { ...single, numHeads: 2 };

/**
 * @param {import('./table.js').Engine} hw
 * @returns {import('./table.js').BadCall[]}
 */
export const constructors = (hw) => [
  [
    'dOut not divisible by numHeads',
    () => new hw.MultiHeadAttention({ ...several, dOut: 5 }),
    'ERR_SHAPE',
    'dOut is 5; expected a multiple of numHeads, 2',
  ],
  [
    'no heads',
    () => new hw.MultiHeadAttention({ ...several, numHeads: 0 }),
    'ERR_VALUE',
    'numHeads is 0; expected an integer of at least 1',
  ],
  [
    'no width',
    () => new hw.CausalAttention({ ...single, dIn: 0 }),
    'ERR_VALUE',
    'dIn is 0; expected an integer of at least 1',
  ],
  [
    'a negative width',
    () => new hw.SelfAttentionV2({ dIn: 3, dOut: -4 }),
    'ERR_VALUE',
    'dOut is -4; expected an integer of at least 1',
  ],
  [
    'half a context',
    () => new hw.MultiHeadAttentionWrapper({ ...several, contextLength: 1.5 }),
    'ERR_VALUE',
    'contextLength is 1.5; expected an integer of at least 1',
  ],
  [
    'a context to SelfAttentionV1',
    () => new hw.SelfAttentionV1(any(single)),
    'ERR_VALUE',
    'SelfAttentionV1: unknown option contextLength; expected dIn, dOut',
  ],
  [
    'heads to CausalAttention',
    () => new hw.CausalAttention(any(several)),
    'ERR_VALUE',
    'CausalAttention: unknown option numHeads; expected dIn, dOut, contextLength, dropout, qkvBias',
  ],
  [
    'an output projection to the wrapper',
    () => new hw.MultiHeadAttentionWrapper(any({ ...several, outProj: true })),
    'ERR_VALUE',
    'MultiHeadAttentionWrapper: unknown option outProj; expected dIn, dOut, contextLength, dropout, numHeads, qkvBias, isCausal',
  ],
  [
    'dropout above one',
    () => new hw.MultiHeadAttention({ ...several, dropout: 1.1 }),
    'ERR_VALUE',
    'dropout is 1.1; expected a number from 0 to 1',
  ],
  [
    'dropout of NaN',
    () => new hw.MultiHeadAttention({ ...several, dropout: NaN }),
    'ERR_VALUE',
    'dropout is NaN; expected a number from 0 to 1',
  ],
  [
    'dropout in percent, as text',
    () => new hw.CausalAttention(any({ ...single, dropout: '10%' })),
    'ERR_VALUE',
    'dropout is "10%"; expected a number from 0 to 1',
  ],
  [
    'a missing size',
    () => new hw.MultiHeadAttention(any({ dIn: 3 })),
    'ERR_VALUE',
    'dOut is undefined; expected an integer of at least 1',
  ],
  [
    'inFeatures as text',
    () => new hw.Linear(any({ inFeatures: '3', outFeatures: 2 })),
    'ERR_VALUE',
    'inFeatures is "3"; expected an integer of at least 1',
  ],
  [
    'a size as a bigint',
    () => new hw.Linear(any({ inFeatures: 3n, outFeatures: 2 })),
    'ERR_VALUE',
    'inFeatures is 3n; expected an integer of at least 1',
  ],
  [
    'no options at all',
    () => new hw.Linear(any(undefined)),
    'ERR_VALUE',
    'inFeatures is undefined; expected an integer of at least 1',
  ],
  [
    "torch's spelling of a size",
    () => new hw.Linear(any({ in_features: 3, outFeatures: 2 })),
    'ERR_VALUE',
    'Linear: unknown option in_features; expected inFeatures, outFeatures, bias',
  ],
  [
    'positional arguments',
    () => new (any(hw.Linear))(3, 2),
    'ERR_VALUE',
    'Linear: options is 3; expected an object of inFeatures, outFeatures, bias',
  ],
  [
    'a bias that is no boolean',
    () => new hw.Linear(any({ inFeatures: 3, outFeatures: 2, bias: 1 })),
    'ERR_VALUE',
    'bias is 1; expected true or false',
  ],
  [
    'a class called without new',
    () => any(hw.Linear)({ inFeatures: 3 }),
    'ERR_VALUE',
    'outFeatures is undefined; expected an integer of at least 1',
  ],
  [
    'isCausal as a number',
    () => new hw.MultiHeadAttention(any({ ...several, isCausal: 0 })),
    'ERR_VALUE',
    'isCausal is 0; expected true or false',
  ],
  [
    'a Linear that no memory holds',
    () => new hw.Linear({ inFeatures: 65536, outFeatures: 65536 }),
    'ERR_MEMORY',
    'not enough memory for a Linear of 65536 × 65536; what was loaded is still there',
  ],
  [
    'a Linear whose bytes wrap at 2^32',
    () => new hw.Linear({ inFeatures: 2 ** 31, outFeatures: 2 }),
    'ERR_MEMORY',
    'not enough memory for a Linear of 2147483648 × 2; what was loaded is still there',
  ],
  [
    'a Linear beyond all addresses',
    () => new hw.Linear({ inFeatures: 2 ** 32, outFeatures: 1 }),
    'ERR_MEMORY',
    'inFeatures is 4294967296, more than memory can hold',
  ],
  [
    'a module that no memory holds',
    () => new hw.MultiHeadAttention({ ...several, dIn: 1e5, dOut: 1e5 }),
    'ERR_MEMORY',
    'not enough memory for a MultiHeadAttention of 100000 × 100000; what was loaded is still there',
  ],
  [
    'heads that no memory holds',
    () => new hw.MultiHeadAttentionWrapper({ ...several, numHeads: 2 ** 31 }),
    'ERR_MEMORY',
    'not enough memory for a MultiHeadAttentionWrapper of 2147483648 heads of 3 × 4; what was loaded is still there',
  ],
  [
    'weights of rand that no memory holds',
    () => new hw.SelfAttentionV1({ dIn: 25000, dOut: 25000 }),
    'ERR_MEMORY',
    'not enough memory for a SelfAttentionV1 of 25000 × 25000; what was loaded is still there',
  ],
  [
    'fromWrapper of a fused module',
    () => hw.MultiHeadAttention.fromWrapper(any(new hw.MultiHeadAttention(several))),
    'ERR_VALUE',
    'wrapper is a value of type MultiHeadAttention; expected a MultiHeadAttentionWrapper',
  ],
  [
    'fromWrapper of nothing',
    () => any(hw.MultiHeadAttention).fromWrapper(),
    'ERR_VALUE',
    'wrapper is undefined; expected a MultiHeadAttentionWrapper',
  ],
];

/**
 * @param {import('./table.js').Engine} hw
 * @returns {import('./table.js').BadCall[]}
 */
export function forwards(hw) {
  const x = zeros([2, 6, 3]);
  const linear = new hw.Linear({ inFeatures: 3, outFeatures: 2 });
  const head = new hw.CausalAttention(single);
  const wrapper = new hw.MultiHeadAttentionWrapper(several);
  const mha = new hw.MultiHeadAttention(several);
  const ended = new hw.MultiHeadAttentionWrapper(several);
  ended.dispose();
  return [
    [
      'nested arrays as x',
      () => mha.forward(any([[1, 2, 3]])),
      'ERR_VALUE',
      'x is [[…]]; expected a Tensor (tensor(…) makes one of nested arrays)',
    ],
    ['no x', () => any(mha).forward(), 'ERR_VALUE', 'x is undefined; expected a Tensor'],
    [
      'booleans as x',
      () => mha.forward(tensor([[true, true, true]])),
      'ERR_VALUE',
      'x has dtype bool; expected float32',
    ],
    [
      'a result instead of its output',
      () => linear.forward(any(linear.forward(x))),
      'ERR_VALUE',
      'x is a value of type Object; expected a Tensor',
    ],
    [
      'an x of rank 1',
      () => head.forward(zeros([3])),
      'ERR_SHAPE',
      'x has shape [3]; expected [batch, tokens, 3] or [tokens, 3]',
    ],
    [
      'an x of rank 4',
      () => wrapper.forward(zeros([1, 2, 6, 3])),
      'ERR_SHAPE',
      'x has shape [1, 2, 6, 3]; expected [batch, tokens, 3] or [tokens, 3]',
    ],
    [
      'an x of another width',
      () => mha.forward(zeros([2, 6, 4])),
      'ERR_SHAPE',
      'x has shape [2, 6, 4]; expected [batch, tokens, 3] or [tokens, 3]',
    ],
    [
      'an x of no tokens',
      () => mha.forward(zeros([2, 0, 3])),
      'ERR_SHAPE',
      'x has shape [2, 0, 3]; expected [batch, tokens, 3] or [tokens, 3], none of them zero',
    ],
    [
      'an x of no sequences',
      () => mha.forward(zeros([0, 6, 3])),
      'ERR_SHAPE',
      'x has shape [0, 6, 3]; expected [batch, tokens, 3] or [tokens, 3], none of them zero',
    ],
    [
      'more tokens than the context',
      () => mha.forward(zeros([7, 3])),
      'ERR_SHAPE',
      'x has 7 tokens; expected at most contextLength, 6',
    ],
    [
      'an x of another width to Linear',
      () => linear.forward(zeros([2, 4])),
      'ERR_SHAPE',
      'x has shape [2, 4]; expected […, 3]',
    ],
    [
      'no rows to Linear',
      () => linear.forward(zeros([0, 3])),
      'ERR_SHAPE',
      'x has shape [0, 3]; expected […, 3], none of them zero',
    ],
    [
      'a mask as options',
      () => mha.forward(x, any(zeros([6, 6]))),
      'ERR_VALUE',
      'MultiHeadAttention.forward: options is a Tensor of shape [6, 6]; expected an object of mask, needWeights, trace, cache',
    ],
    [
      'an unknown option of forward',
      () => mha.forward(x, any({ weights: true })),
      'ERR_VALUE',
      'MultiHeadAttention.forward: unknown option weights; expected mask, needWeights, trace, cache',
    ],
    [
      'a cache to the wrapper',
      () => any(wrapper).forward(x, { cache: mha.createCache() }),
      'ERR_VALUE',
      'MultiHeadAttentionWrapper.forward: unknown option cache; expected mask, needWeights, trace',
    ],
    [
      'needWeights as text',
      () => mha.forward(x, any({ needWeights: 'scores' })),
      'ERR_VALUE',
      'needWeights is "scores"; expected true or false',
    ],
    [
      'trace as a number',
      () => mha.forward(x, any({ trace: 1 })),
      'ERR_VALUE',
      'trace is 1; expected true or false',
    ],
    [
      'a mask of rank 3',
      () => mha.forward(x, { mask: zeros([2, 6, 6]) }),
      'ERR_SHAPE',
      'mask has shape [2, 6, 6], which is ambiguous; expected [batch, 1, Lq, Lkv] for one per batch entry or [1, heads, Lq, Lkv] for one per head',
    ],
    [
      'a mask of rank 1',
      () => mha.forward(x, { mask: zeros([6]) }),
      'ERR_SHAPE',
      'mask has shape [6]; expected [Lq, Lkv] or [batch, heads, Lq, Lkv]',
    ],
    [
      'a mask of other tokens',
      () => wrapper.forward(x, { mask: zeros([5, 6]) }),
      'ERR_SHAPE',
      'mask has shape [5, 6]; expected [Lq, Lkv] or [batch, heads, Lq, Lkv], broadcast to [2, 2, 6, 6]',
    ],
    [
      'a mask that is none',
      () => head.forward(x, any({ mask: 'causal' })),
      'ERR_VALUE',
      'mask is "causal"; expected a Tensor',
    ],
    [
      'a disposed module',
      () => ended.forward(x),
      'ERR_DISPOSED',
      'the MultiHeadAttentionWrapper was disposed of; create another',
    ],
    [
      'the state of a disposed module',
      () => ended.stateDict(),
      'ERR_DISPOSED',
      'the MultiHeadAttentionWrapper was disposed of; create another',
    ],
    [
      'fromWrapper of a disposed one',
      () => hw.MultiHeadAttention.fromWrapper(ended),
      'ERR_DISPOSED',
      'the MultiHeadAttentionWrapper was disposed of; create another',
    ],
    [
      'a mode that is no boolean',
      () => mha.train(any('eval')),
      'ERR_VALUE',
      'mode is "eval"; expected true or false',
    ],
  ];
}
