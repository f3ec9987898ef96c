// Bad input to the parts of Transformer blocks: each call fails in words, and the parts work afterwards.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor, zeros } from 'headwise';
import { data, engine, throwsCode } from './helpers.js';

const hw = await engine();
/** Past the types: what plain JavaScript can pass. */
const any = (/** @type {unknown} */ value) => /** @type {any} */ (value);
const x = data(1, [2, 6, 12]);
const sizes = { dModel: 12, numHeads: 3, dFf: 30 };
const norm = new hw.LayerNorm({ dim: 12 });
const embedding = new hw.Embedding({ numEmbeddings: 7, embeddingDim: 5 });
const block = new hw.TransformerBlock(sizes);
const stack = new hw.TransformerStack({ ...sizes, numLayers: 2 });

/** @type {[string, () => unknown, string, (string | RegExp)[]][]} */
const calls = [
  // Functions
  ['gelu of an array', () => hw.gelu(any([1])), 'ERR_VALUE', ['x', 'Tensor']],
  ['gelu of bools', () => hw.gelu(any(tensor([true]))), 'ERR_VALUE', ['x', 'bool']],
  [
    'an unknown form of gelu',
    () => hw.gelu(x, any({ approximate: 'erf' })),
    'ERR_VALUE',
    ['approximate', '"erf"', '"none"', '"tanh"'],
  ],
  ['the form alone', () => hw.gelu(x, any('tanh')), 'ERR_VALUE', ['"tanh"', 'object']],
  ['layerNorm of a number', () => hw.layerNorm(zeros([])), 'ERR_SHAPE', ['x', '[]', '[…, n]']],
  [
    'a weight of another width',
    () => hw.layerNorm(x, { weight: zeros([11]) }),
    'ERR_SHAPE',
    ['weight', '[11]', '[12]'],
  ],
  [
    'a bias of another rank',
    () => hw.layerNorm(x, { bias: zeros([1, 12]) }),
    'ERR_SHAPE',
    ['bias', '[1, 12]', '[12]'],
  ],
  ['an eps below 0', () => hw.layerNorm(x, { eps: -1e-9 }), 'ERR_VALUE', ['eps', '-1e-9']],
  ['an eps of NaN', () => hw.layerNorm(x, { eps: NaN }), 'ERR_VALUE', ['eps', 'NaN']],
  [
    "PyTorch's normalized shape",
    () => hw.layerNorm(x, any({ normalizedShape: [12] })),
    'ERR_VALUE',
    ['normalizedShape', 'weight'],
  ],
  // Constructors
  ['a LayerNorm of nothing', () => new hw.LayerNorm({ dim: 0 }), 'ERR_VALUE', ['dim', '0']],
  [
    'an infinite eps',
    () => new hw.LayerNorm({ dim: 3, eps: Infinity }),
    'ERR_VALUE',
    ['eps', 'Infinity'],
  ],
  [
    'an Embedding of half a row',
    () => new hw.Embedding({ numEmbeddings: 1.5, embeddingDim: 2 }),
    'ERR_VALUE',
    ['numEmbeddings', '1.5'],
  ],
  [
    'a FeedForward without its width',
    () => new hw.FeedForward(any({ dModel: 3 })),
    'ERR_VALUE',
    ['dFf', 'undefined'],
  ],
  [
    'a FeedForward with dropout above 1',
    () => new hw.FeedForward({ dModel: 3, dFf: 4, dropout: 2 }),
    'ERR_VALUE',
    ['dropout', '2'],
  ],
  [
    'a block whose heads do not divide its width',
    () => new hw.TransformerBlock({ ...sizes, numHeads: 5 }),
    'ERR_SHAPE',
    ['dModel', '12', 'numHeads', '5'],
  ],
  [
    'a block with a norm in the middle',
    () => new hw.TransformerBlock(any({ ...sizes, norm: 'sandwich' })),
    'ERR_VALUE',
    ['norm', '"sandwich"', '"pre"', '"post"'],
  ],
  [
    'a block with a context length',
    () => new hw.TransformerBlock(any({ ...sizes, contextLength: 6 })),
    'ERR_VALUE',
    ['contextLength'],
  ],
  [
    'a stack of no layers',
    () => new hw.TransformerStack({ ...sizes, numLayers: 0 }),
    'ERR_VALUE',
    ['numLayers', '0'],
  ],
  [
    'a stack without a number of layers',
    () => new hw.TransformerStack(any(sizes)),
    'ERR_VALUE',
    ['numLayers', 'undefined'],
  ],
  // forward
  ['another width to LayerNorm', () => norm.forward(zeros([2, 11])), 'ERR_SHAPE', ['x', '[2, 11]']],
  ['an id too high', () => embedding.forward([[0, 7]]), 'ERR_VALUE', ['ids[0][1]', '7']],
  ['an id below 0', () => embedding.forward([-1]), 'ERR_VALUE', ['ids[0]', '-1']],
  ['half an id', () => embedding.forward(tensor([[1], [0.5]])), 'ERR_VALUE', ['ids[1][0]', '0.5']],
  ['an id of NaN', () => embedding.forward(tensor([NaN])), 'ERR_VALUE', ['ids[0]', 'NaN']],
  ['ids beyond integers', () => embedding.forward(BigInt64Array.of(2n ** 62n)), 'ERR_VALUE', []],
  [
    'truth values as ids',
    () => embedding.forward(any(tensor([true]))),
    'ERR_VALUE',
    ['ids', 'bool'],
  ],
  ['true as an id', () => embedding.forward(any([true])), 'ERR_VALUE', ['ids[0]', 'true']],
  ['ragged ids', () => embedding.forward([[1, 2], [3]]), 'ERR_SHAPE', ['ids[1]']],
  ['text as ids', () => embedding.forward(any('hello')), 'ERR_VALUE', ['ids', '"hello"']],
  ['nothing as ids', () => embedding.forward(any(undefined)), 'ERR_VALUE', ['ids', 'undefined']],
  ['a cache to a block', () => block.forward(x, any({ cache: {} })), 'ERR_VALUE', ['cache']],
  [
    'a mask that does not fit',
    () => stack.forward(x, { mask: zeros([5, 6]) }),
    'ERR_SHAPE',
    ['mask', '[5, 6]'],
  ],
];

for (const [name, call, code, parts] of calls)
  test(`${name}: ${code}`, () => throwsCode(call, code, ...parts));

for (const [name, module] of Object.entries({ block, stack }))
  test(`the ${name} refuses inputs of wrong rank and width, naming what it got`, () => {
    for (const shape of [[12], [1, 2, 6, 12], [2, 6, 11]])
      throwsCode(() => module.forward(zeros(shape)), 'ERR_SHAPE', 'x', `[${shape.join(', ')}]`);
  });

test('sizes that no memory holds are refused, and what was there stays', () => {
  const before = stack.forward(x).output.data;
  const huge = { dModel: 65536, numHeads: 1, dFf: 65536 };
  for (const call of [
    () => new hw.LayerNorm({ dim: 2 ** 31 }),
    () => new hw.Embedding({ numEmbeddings: 1e6, embeddingDim: 1e6 }),
    () => new hw.Embedding({ numEmbeddings: 2 ** 32, embeddingDim: 1 }),
    () => new hw.FeedForward({ dModel: 65536, dFf: 65536 }),
    () => new hw.TransformerBlock(huge),
    () => new hw.TransformerStack({ ...sizes, numLayers: 2 ** 31 }),
    () => block.forward(zeros([20000, 12]), { needWeights: true }),
  ]) {
    throwsCode(call, 'ERR_MEMORY');
    assert.deepEqual(stack.forward(x).output.data, before, String(call));
  }
});

test('a refused module leaves the random numbers where they were', () => {
  hw.manualSeed(1);
  const expected = hw.rand([3]).data;
  hw.manualSeed(1);
  throwsCode(() => new hw.TransformerStack({ ...sizes, numLayers: 2 ** 31 }), 'ERR_MEMORY');
  throwsCode(() => new hw.FeedForward({ dModel: 65536, dFf: 65536 }), 'ERR_MEMORY');
  assert.deepEqual(hw.rand([3]).data, expected);
});

test('parts are refused after dispose, which may be called twice', () => {
  for (const [module, input] of /** @type {[any, any][]} */ ([
    [new hw.LayerNorm({ dim: 12 }), x],
    [new hw.Embedding({ numEmbeddings: 3, embeddingDim: 2 }), [1]],
    [new hw.FeedForward({ dModel: 12, dFf: 3 }), x],
    [new hw.TransformerBlock(sizes), x],
    [new hw.TransformerStack({ ...sizes, numLayers: 2 }), x],
  ])) {
    module.forward(input);
    const state = module.stateDict();
    module.dispose();
    module.dispose();
    throwsCode(() => module.forward(input), 'ERR_DISPOSED', module.constructor.name);
    throwsCode(() => module.stateDict(), 'ERR_DISPOSED');
    throwsCode(() => module.loadStateDict(state), 'ERR_DISPOSED');
    throwsCode(() => module.train(), 'ERR_DISPOSED');
  }
});
