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
    'a LayerNorm with an eps beyond float32',
    () => new hw.LayerNorm({ dim: 2, eps: 4e38 }),
    'ERR_VALUE',
    'eps',
    '4e+38',
  ],
  [
    'dOut not divisible by numHeads',
    () => new hw.MultiHeadAttention({ ...several, dOut: 5 }),
    'ERR_SHAPE',
    'dOut',
    '5',
  ],
  [
    'no heads',
    () => new hw.MultiHeadAttention({ ...several, numHeads: 0 }),
    'ERR_VALUE',
    'numHeads',
    '0',
  ],
  ['no width', () => new hw.CausalAttention({ ...single, dIn: 0 }), 'ERR_VALUE', 'dIn', '0'],
  [
    'a negative width',
    () => new hw.SelfAttentionV2({ dIn: 3, dOut: -4 }),
    'ERR_VALUE',
    'dOut',
    '-4',
  ],
  [
    'half a context',
    () => new hw.MultiHeadAttentionWrapper({ ...several, contextLength: 1.5 }),
    'ERR_VALUE',
    'contextLength',
    '1.5',
  ],
  [
    'a context to SelfAttentionV1',
    () => new hw.SelfAttentionV1(any(single)),
    'ERR_VALUE',
    'SelfAttentionV1',
    'contextLength',
  ],
  [
    'heads to CausalAttention',
    () => new hw.CausalAttention(any(several)),
    'ERR_VALUE',
    'CausalAttention',
    'numHeads',
  ],
  [
    'an output projection to the wrapper',
    () => new hw.MultiHeadAttentionWrapper(any({ ...several, outProj: true })),
    'ERR_VALUE',
    'MultiHeadAttentionWrapper',
    'outProj',
  ],
  [
    'dropout above one',
    () => new hw.MultiHeadAttention({ ...several, dropout: 1.1 }),
    'ERR_VALUE',
    'dropout',
    '1.1',
  ],
  [
    'dropout of NaN',
    () => new hw.MultiHeadAttention({ ...several, dropout: NaN }),
    'ERR_VALUE',
    'dropout',
    'NaN',
  ],
  [
    'dropout in percent, as text',
    () => new hw.CausalAttention(any({ ...single, dropout: '10%' })),
    'ERR_VALUE',
    'dropout',
    '"10%"',
  ],
  [
    'a missing size',
    () => new hw.MultiHeadAttention(any({ dIn: 3 })),
    'ERR_VALUE',
    'dOut',
    'undefined',
  ],
  [
    'inFeatures as text',
    () => new hw.Linear(any({ inFeatures: '3', outFeatures: 2 })),
    'ERR_VALUE',
    'inFeatures',
    '"3"',
  ],
  [
    'a size as a bigint',
    () => new hw.Linear(any({ inFeatures: 3n, outFeatures: 2 })),
    'ERR_VALUE',
    'inFeatures',
    '3n',
  ],
  [
    'no options at all',
    () => new hw.Linear(any(undefined)),
    'ERR_VALUE',
    'inFeatures',
    'undefined',
  ],
  [
    "torch's spelling of a size",
    () => new hw.Linear(any({ in_features: 3, outFeatures: 2 })),
    'ERR_VALUE',
    'Linear',
    'in_features',
  ],
  ['positional arguments', () => new (any(hw.Linear))(3, 2), 'ERR_VALUE', 'Linear: options', '3'],
  [
    'a bias that is no boolean',
    () => new hw.Linear(any({ inFeatures: 3, outFeatures: 2, bias: 1 })),
    'ERR_VALUE',
    'bias',
    '1',
  ],
  [
    'a class called without new',
    () => any(hw.Linear)({ inFeatures: 3 }),
    'ERR_VALUE',
    'outFeatures',
    'undefined',
  ],
  [
    'isCausal as a number',
    () => new hw.MultiHeadAttention(any({ ...several, isCausal: 0 })),
    'ERR_VALUE',
    'isCausal',
    '0',
  ],
  [
    'a Linear that no memory holds',
    () => new hw.Linear({ inFeatures: 65536, outFeatures: 65536 }),
    'ERR_MEMORY',
    'a Linear of 65536 × 65536',
  ],
  [
    'a Linear whose bytes wrap at 2^32',
    () => new hw.Linear({ inFeatures: 2 ** 31, outFeatures: 2 }),
    'ERR_MEMORY',
    'a Linear of 2147483648 × 2',
  ],
  [
    'a Linear beyond all addresses',
    () => new hw.Linear({ inFeatures: 2 ** 32, outFeatures: 1 }),
    'ERR_MEMORY',
    'inFeatures',
    '4294967296',
  ],
  [
    'a module that no memory holds',
    () => new hw.MultiHeadAttention({ ...several, dIn: 1e5, dOut: 1e5 }),
    'ERR_MEMORY',
    'a MultiHeadAttention of 100000 × 100000',
  ],
  [
    'heads that no memory holds',
    () => new hw.MultiHeadAttentionWrapper({ ...several, numHeads: 2 ** 31 }),
    'ERR_MEMORY',
    'a MultiHeadAttentionWrapper of 2147483648 heads of 3 × 4',
  ],
  [
    'weights of rand that no memory holds',
    () => new hw.SelfAttentionV1({ dIn: 25000, dOut: 25000 }),
    'ERR_MEMORY',
    'a SelfAttentionV1 of 25000 × 25000',
  ],
  [
    'fromWrapper of a fused module',
    () => hw.MultiHeadAttention.fromWrapper(any(new hw.MultiHeadAttention(several))),
    'ERR_VALUE',
    'wrapper',
    'a value of type MultiHeadAttention',
  ],
  [
    'fromWrapper of nothing',
    () => any(hw.MultiHeadAttention).fromWrapper(),
    'ERR_VALUE',
    'wrapper',
    'undefined',
  ],
];

function circular() {
  /** @type {any[]} */
  const array = [];
  array.push(array);
  return array;
}

/** Modules whose forward has no options, and what it takes. @type {[name: string, options: object, input: unknown][]} */
const plain = [
  ['Linear', { inFeatures: 3, outFeatures: 2 }, zeros([2, 3])],
  ['LayerNorm', { dim: 3 }, zeros([2, 3])],
  ['FeedForward', { dModel: 3, dFf: 4 }, zeros([2, 3])],
  ['Embedding', { numEmbeddings: 3, embeddingDim: 2 }, [0, 1]],
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
    ['nested arrays as x', () => mha.forward(any([[1, 2, 3]])), 'ERR_VALUE', 'x', '[[…]]'],
    ['no x', () => any(mha).forward(), 'ERR_VALUE', 'x', 'undefined'],
    [
      'booleans as x',
      () => mha.forward(any(tensor([[true, true, true]]))),
      'ERR_VALUE',
      'x',
      'bool',
    ],
    [
      'a result instead of its output',
      () => linear.forward(any(linear.forward(x))),
      'ERR_VALUE',
      'x',
      'a value of type Object',
    ],
    ['an x of rank 1', () => head.forward(zeros([3])), 'ERR_SHAPE', 'x', '[3]'],
    [
      'an x of rank 4',
      () => wrapper.forward(zeros([1, 2, 6, 3])),
      'ERR_SHAPE',
      'x',
      '[1, 2, 6, 3]',
    ],
    ['an x of another width', () => mha.forward(zeros([2, 6, 4])), 'ERR_SHAPE', 'x', '[2, 6, 4]'],
    [
      'more tokens than the context',
      () => mha.forward(zeros([7, 3])),
      'ERR_SHAPE',
      'x',
      '7 tokens',
    ],
    [
      'an x of another width to Linear',
      () => linear.forward(zeros([2, 4])),
      'ERR_SHAPE',
      'x',
      '[2, 4]',
    ],
    [
      'a mask as options',
      () => mha.forward(x, any(zeros([6, 6]))),
      'ERR_VALUE',
      'MultiHeadAttention.forward: options',
      'a Tensor of shape [6, 6]',
    ],
    [
      'an unknown option of forward',
      () => mha.forward(x, any({ weights: true })),
      'ERR_VALUE',
      'MultiHeadAttention.forward',
      'weights',
    ],
    ...plain.map(
      ([name, options, input]) =>
        /** @type {import('./table.js').BadCall} */ ([
          `a trace of ${name}`,
          () => new (any(hw)[name])(options).forward(input, { trace: true }),
          'ERR_VALUE',
          `${name}.forward`,
          'trace',
        ]),
    ),
    [
      'ids that hold themselves',
      () => new hw.Embedding({ numEmbeddings: 3, embeddingDim: 2 }).forward(circular()),
      'ERR_VALUE',
      'ids',
      '64 deep',
    ],
    [
      'needWeights beside x of Linear',
      () => any(linear).forward(zeros([2, 3]), true),
      'ERR_VALUE',
      'Linear.forward',
      'true',
    ],
    [
      'a cache to the wrapper',
      () => any(wrapper).forward(x, { cache: mha.createCache() }),
      'ERR_VALUE',
      'MultiHeadAttentionWrapper.forward',
      'cache',
    ],
    [
      'needWeights as text',
      () => mha.forward(x, any({ needWeights: 'scores' })),
      'ERR_VALUE',
      'needWeights',
      '"scores"',
    ],
    ['trace as a number', () => mha.forward(x, any({ trace: 1 })), 'ERR_VALUE', 'trace', '1'],
    [
      'a mask of rank 3',
      () => mha.forward(x, { mask: zeros([2, 6, 6]) }),
      'ERR_SHAPE',
      'mask',
      '[2, 6, 6]',
    ],
    ['a mask of rank 1', () => mha.forward(x, { mask: zeros([6]) }), 'ERR_SHAPE', 'mask', '[6]'],
    [
      'a mask of other tokens',
      () => wrapper.forward(x, { mask: zeros([5, 6]) }),
      'ERR_SHAPE',
      'mask',
      '[5, 6]',
    ],
    [
      'a mask that is none',
      () => head.forward(x, any({ mask: 'causal' })),
      'ERR_VALUE',
      'mask',
      '"causal"',
    ],
    ['a disposed module', () => ended.forward(x), 'ERR_DISPOSED', 'MultiHeadAttentionWrapper'],
    [
      'the state of a disposed module',
      () => ended.stateDict(),
      'ERR_DISPOSED',
      'MultiHeadAttentionWrapper',
    ],
    [
      'fromWrapper of a disposed one',
      () => hw.MultiHeadAttention.fromWrapper(ended),
      'ERR_DISPOSED',
      'MultiHeadAttentionWrapper',
    ],
    ['a mode that is no boolean', () => mha.train(any('eval')), 'ERR_VALUE', 'mode', '"eval"'],
  ];
}
