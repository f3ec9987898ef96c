// Bad calls of a Gpt2's forward, caches and generate.
import { tensor, zeros } from 'headwise';
import { Gpt2 } from 'headwise/gpt2';
import { any } from './table.js';

const options = { vocabSize: 9, contextLength: 6, dModel: 8, numHeads: 2, numLayers: 2 };

/**
 * @param {import('./table.js').Engine} hw
 * @param {Gpt2} model
 * @returns {import('./table.js').BadCall[]}
 */
function forwards(hw, model) {
  const full = model.createCache();
  model.forward([1, 2, 3, 4, 5], { cache: full });
  const ended = model.createCache();
  ended.dispose();
  const foreign = new Gpt2(hw, options).createCache();
  const forward = (/** @type {any} */ ids, /** @type {any} */ asked) => () =>
    model.forward(ids, asked);
  /** @type {(logits: unknown, shown: string) => import('./table.js').BadCall} */
  const badLogits = (logits, shown) => [
    `logits of ${shown}`,
    forward([1, 2], { logits }),
    'ERR_VALUE',
    `logits`,
    `${shown}`,
  ];
  /** @type {(id: unknown, shown: string) => import('./table.js').BadCall} */
  const badId = (id, shown) => [
    `an id that is ${shown}`,
    forward(
      [
        [1, 2],
        [3, id],
      ],
      undefined,
    ),
    'ERR_VALUE',
    `ids[1][1]`,
    `${shown}`,
  ];
  const loss =
    (/** @type {any} */ ...given) =>
    () =>
      /** @type {any} */ (model).loss(...given);
  return [
    ['a loss of no ids', loss([]), 'ERR_SHAPE', 'ids', '[0]'],
    ['a loss of an id too high', loss([[1, 9]]), 'ERR_VALUE', 'ids[0][1]', '9'],
    ['a loss of too many tokens', loss([[1, 2, 3, 4, 5, 6, 7]]), 'ERR_SHAPE', 'ids', '7 tokens'],
    ['a loss of too few targets', loss([[1, 2]], [[2]]), 'ERR_SHAPE', 'targets', '[1, 1]'],
    ['a loss of a target too low', loss([[1, 2]], [[2, -1]]), 'ERR_VALUE', 'targets[0][1]', '-1'],
    [
      'a loss with an option that there is not',
      loss([[1, 2]], undefined, { reduction: 'sum' }),
      'ERR_VALUE',
      'Gpt2.loss',
      'reduction',
    ],
    ['no ids of a Gpt2', forward([], {}), 'ERR_SHAPE', 'ids', '[0]'],
    ['a row of a Gpt2 without ids', forward([[1, 2], []], {}), 'ERR_SHAPE', 'ids[1]'],
    ['lengths of a Gpt2', forward([[1, 2], [3]], { lengths: [2, 2] }), 'ERR_VALUE', 'lengths'],
    ['ids of a Gpt2 in three axes', forward([[[1]]], {}), 'ERR_SHAPE', 'ids', '[1, 1, 1]'],
    ['one id without an array', forward(3, {}), 'ERR_SHAPE', 'ids', '[]'],
    ...[
      badId(9, '9'),
      badId(-1, '-1'),
      badId(0.5, '0.5'),
      badId(NaN, 'NaN'),
      badId(Infinity, 'Infinity'),
    ],
    [
      'an id that is NaN in a typed array',
      forward(Float64Array.of(1, NaN), {}),
      'ERR_VALUE',
      'ids[1]',
      'NaN',
    ],
    [
      'an id that is too large a bigint',
      forward(BigUint64Array.of(2n ** 60n), {}),
      'ERR_VALUE',
      'ids[0]',
      '1152921504606847000',
    ],
    ['ids of bools', forward(tensor([true, false]), {}), 'ERR_VALUE', 'ids', 'bool'],
    [
      'more ids than contextLength',
      forward([0, 1, 2, 3, 4, 5, 6], {}),
      'ERR_SHAPE',
      'ids',
      '7 tokens',
    ],
    [
      'more ids than a Gpt2’s cache has room for',
      forward([0, 1], { cache: full }),
      'ERR_VALUE',
      'ids',
      '2 tokens and cache 5',
    ],
    [
      'ids of another batch than a Gpt2’s cache',
      forward([[0], [1]], { cache: full }),
      'ERR_SHAPE',
      'ids',
      '2 sequences',
    ],
    [
      'a cache of another Gpt2',
      forward([0], { cache: foreign }),
      'ERR_VALUE',
      'cache',
      'another module',
    ],
    [
      'what is no cache of a Gpt2',
      forward([0], { cache: {} }),
      'ERR_VALUE',
      'cache',
      'a value of type Object',
    ],
    ['a disposed cache of a Gpt2', forward([0], { cache: ended }), 'ERR_DISPOSED', 'cache'],
    [
      'a past for a Gpt2’s cache',
      () => model.createCache(any({ past: {} })),
      'ERR_VALUE',
      'createCache',
      'past',
    ],
    [
      'a cache of a Gpt2 for no sequence',
      () => model.createCache({ batch: 0 }),
      'ERR_VALUE',
      'batch',
      '0',
    ],
    [
      'a cache of a Gpt2 that no memory holds',
      () => model.createCache({ batch: 2 ** 30 }),
      'ERR_MEMORY',
      'a cache of 1073741824 × 6 tokens',
    ],
    [
      'an unknown option of Gpt2.forward',
      forward([0], { mask: zeros([1, 1]) }),
      'ERR_VALUE',
      'Gpt2.forward',
      'mask',
    ],
    ['needWeights of 1', forward([0], { needWeights: 1 }), 'ERR_VALUE', 'needWeights', '1'],
    ['trace of text', forward([0], { trace: 'yes' }), 'ERR_VALUE', 'trace', '"yes"'],
    ...[badLogits('first', '"first"'), badLogits([1, 0], '[1, 0]'), badLogits([0, 3], '[0, 3]')],
    ...[badLogits([-1, 1], '[-1, 1]'), badLogits([0], '[0]'), badLogits([0, 1.5], '[0, 1.5]')],
    ...[badLogits(true, 'true'), badLogits(7, '7')],
    [
      'a head mask of one layer',
      forward([0], { headMask: [[1, 1]] }),
      'ERR_SHAPE',
      'headMask',
      '[1, 2]',
    ],
    [
      'a head mask in one axis',
      forward([0], { headMask: [1, 1, 1, 1] }),
      'ERR_SHAPE',
      'headMask',
      '[4]',
    ],
    [
      'a head mask of bools',
      forward([0], {
        headMask: [
          [true, true],
          [true, false],
        ],
      }),
      'ERR_VALUE',
      'headMask',
      'bool',
    ],
    ['a head mask that is none', forward([0], { headMask: 0 }), 'ERR_VALUE', 'headMask', '0'],
  ];
}

/**
 * @param {Gpt2} model
 * @returns {import('./table.js').BadCall[]}
 */
function generations(model) {
  const pair = model.createCache({ batch: 2 });
  const generate =
    (/** @type {any} */ asked, /** @type {any} */ ids = [1]) =>
    () => [...model.generate(ids, asked)];
  return [
    ['an unknown option of generate', generate({ beams: 2 }), 'ERR_VALUE', 'generate', 'beams'],
    ['no tokens to generate', generate({ maxTokens: 0 }), 'ERR_VALUE', 'maxTokens', '0'],
    ['half a token to generate', generate({ maxTokens: 0.5 }), 'ERR_VALUE', 'maxTokens', '0.5'],
    ['a negative temperature', generate({ temperature: -1 }), 'ERR_VALUE', 'temperature', '-1'],
    ['a temperature of NaN', generate({ temperature: NaN }), 'ERR_VALUE', 'temperature', 'NaN'],
    [
      'an endless temperature',
      generate({ temperature: Infinity }),
      'ERR_VALUE',
      'temperature',
      'Infinity',
    ],
    ['a temperature of text', generate({ temperature: '1' }), 'ERR_VALUE', 'temperature', '"1"'],
    ['a draw among less than no tokens', generate({ topK: -1 }), 'ERR_VALUE', 'topK', '-1'],
    ['a draw among text', generate({ topK: '5' }), 'ERR_VALUE', 'topK', '"5"'],
    ['a nucleus of less than nothing', generate({ topP: -1 }), 'ERR_VALUE', 'topP', '-1'],
    ['a nucleus of more than all', generate({ topP: 1.1 }), 'ERR_VALUE', 'topP', '1.1'],
    ['a nucleus of text', generate({ topP: '1' }), 'ERR_VALUE', 'topP', '"1"'],
    ['a stop that is no token', generate({ stop: 9 }), 'ERR_VALUE', 'stop', '9'],
    ['a stop of text', generate({ stop: 'end' }), 'ERR_VALUE', 'stop', '"end"'],
    [
      'a set of stops',
      generate({ stop: new Set([1]) }),
      'ERR_VALUE',
      'stop is a value of type Set',
    ],
    ['stops one of which is no token', generate({ stop: [1, -1] }), 'ERR_VALUE', 'stop[1]', '-1'],
    ['a signal that is none', generate({ signal: 'now' }), 'ERR_VALUE', 'signal', '"now"'],
    [
      'log-probabilities of a kind',
      generate({ logProbabilities: 'top' }),
      'ERR_VALUE',
      'logProbabilities',
      '"top"',
    ],
    ['an end that is no token', generate({ eosTokenId: 9 }), 'ERR_VALUE', 'eosTokenId', '9'],
    ['a negative end', generate({ eosTokenId: -1 }), 'ERR_VALUE', 'eosTokenId', '-1'],
    ['a seed of generate that is none', generate({ seed: 1.5 }), 'ERR_VALUE', 'seed', '1.5'],
    ['nothing to continue', generate({}, []), 'ERR_SHAPE', 'ids', '[0]'],
    ['two texts to continue', generate({}, [[1], [2]]), 'ERR_SHAPE', 'ids', '2 sequences'],
    [
      'a cache of two texts to continue',
      generate({ cache: pair }, [[1], [2]]),
      'ERR_SHAPE',
      'cache',
      '2 sequences',
    ],
    ['no cache to continue', generate({ cache: 3 }), 'ERR_VALUE', 'cache', '3'],
    [
      'a type of no cache to continue with',
      generate({ cache: { dtype: 'int8' } }),
      'ERR_VALUE',
      'cache.dtype',
      '"int8"',
    ],
    [
      'a longer text than the context to continue',
      generate({}, [1, 2, 3, 4, 5, 6, 7]),
      'ERR_VALUE',
      'ids',
      '7 tokens; expected at most contextLength, 6',
    ],
  ];
}

/**
 * @param {import('./table.js').Engine} hw
 * @returns {import('./table.js').BadCall[]}
 */
export function gpt2Calls(hw) {
  const model = new Gpt2(hw, options);
  return [...forwards(hw, model), ...generations(model)];
}
