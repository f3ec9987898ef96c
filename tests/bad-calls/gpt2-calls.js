// Bad calls of a Gpt2's forward, caches and generate.
import { tensor, zeros } from 'headwise';
import { Gpt2 } from 'headwise/gpt2';
import { any } from './table.js';

const options = { vocabSize: 9, contextLength: 6, dModel: 8, numHeads: 2, numLayers: 2 };
const expectedLogits = 'expected "last", "all", "none" or [start, end] with 0 <= start <= end <= 2';

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
    `logits is ${shown}; ${expectedLogits}`,
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
    `ids[1][1] is ${shown}; expected an integer from 0 to 8`,
  ];
  return [
    ['no ids of a Gpt2', forward([], {}), 'ERR_SHAPE', 'ids has shape [0]; expected an id or more'],
    ['ragged ids of a Gpt2', forward([[1, 2], [3]], {}), 'ERR_SHAPE', 'expected'],
    [
      'ids of a Gpt2 in three axes',
      forward([[[1]]], {}),
      'ERR_SHAPE',
      'ids has shape [1, 1, 1]; expected [tokens] or [batch, tokens]',
    ],
    [
      'one id without an array',
      forward(3, {}),
      'ERR_SHAPE',
      'ids has shape []; expected [tokens] or [batch, tokens]',
    ],
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
      'ids[1] is NaN; expected an integer from 0 to 8',
    ],
    [
      'an id that is too large a bigint',
      forward(BigUint64Array.of(2n ** 60n), {}),
      'ERR_VALUE',
      'ids[0] is 1152921504606846976n; expected an integer from 0 to 8',
    ],
    [
      'ids of bools',
      forward(tensor([true, false]), {}),
      'ERR_VALUE',
      'ids has dtype bool; expected float32',
    ],
    [
      'more ids than contextLength',
      forward([0, 1, 2, 3, 4, 5, 6], {}),
      'ERR_SHAPE',
      'ids has 7 tokens; expected at most contextLength, 6',
    ],
    [
      'more ids than a Gpt2’s cache has room for',
      forward([0, 1], { cache: full }),
      'ERR_VALUE',
      'ids has 2 tokens and cache 5; expected at most contextLength, 6, together',
    ],
    [
      'ids of another batch than a Gpt2’s cache',
      forward([[0], [1]], { cache: full }),
      'ERR_SHAPE',
      "ids has 2 sequences; expected 1, the cache's batch",
    ],
    [
      'a cache of another Gpt2',
      forward([0], { cache: foreign }),
      'ERR_VALUE',
      'cache belongs to another module; expected one that this module created',
    ],
    [
      'what is no cache of a Gpt2',
      forward([0], { cache: {} }),
      'ERR_VALUE',
      'cache is a value of type Object; expected what createCache returns',
    ],
    [
      'a disposed cache of a Gpt2',
      forward([0], { cache: ended }),
      'ERR_DISPOSED',
      'the cache was disposed of; create another',
    ],
    [
      'a past for a Gpt2’s cache',
      () => model.createCache(any({ past: {} })),
      'ERR_VALUE',
      'createCache: unknown option past; expected batch',
    ],
    [
      'a cache of a Gpt2 for no sequence',
      () => model.createCache({ batch: 0 }),
      'ERR_VALUE',
      'batch is 0; expected an integer of at least 1',
    ],
    [
      'a cache of a Gpt2 that no memory holds',
      () => model.createCache({ batch: 2 ** 30 }),
      'ERR_MEMORY',
      'not enough memory for a cache of 1073741824 × 6 tokens',
    ],
    [
      'an unknown option of Gpt2.forward',
      forward([0], { mask: zeros([1, 1]) }),
      'ERR_VALUE',
      'Gpt2.forward: unknown option mask; expected logits, trace, needWeights, headMask, cache',
    ],
    [
      'needWeights of 1',
      forward([0], { needWeights: 1 }),
      'ERR_VALUE',
      'needWeights is 1; expected true or false',
    ],
    [
      'trace of text',
      forward([0], { trace: 'yes' }),
      'ERR_VALUE',
      'trace is "yes"; expected true or false',
    ],
    ...[badLogits('first', '"first"'), badLogits([1, 0], '[1, 0]'), badLogits([0, 3], '[0, 3]')],
    ...[badLogits([-1, 1], '[-1, 1]'), badLogits([0], '[0]'), badLogits([0, 1.5], '[0, 1.5]')],
    ...[badLogits(true, 'true'), badLogits(7, '7')],
    [
      'a head mask of one layer',
      forward([0], { headMask: [[1, 1]] }),
      'ERR_SHAPE',
      'headMask has shape [1, 2]; expected [2, 2], layers and heads',
    ],
    [
      'a head mask in one axis',
      forward([0], { headMask: [1, 1, 1, 1] }),
      'ERR_SHAPE',
      'headMask has shape [4]; expected [2, 2], layers and heads',
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
      'headMask has dtype bool; expected float32',
    ],
    [
      'a head mask that is none',
      forward([0], { headMask: 0 }),
      'ERR_VALUE',
      'headMask is 0; expected a Tensor',
    ],
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
    [
      'an unknown option of generate',
      generate({ topP: 0.9 }),
      'ERR_VALUE',
      'generate: unknown option topP; expected maxTokens, temperature, topK, seed, eosTokenId, headMask, cache',
    ],
    [
      'no tokens to generate',
      generate({ maxTokens: 0 }),
      'ERR_VALUE',
      'maxTokens is 0; expected an integer of at least 1',
    ],
    [
      'half a token to generate',
      generate({ maxTokens: 0.5 }),
      'ERR_VALUE',
      'maxTokens is 0.5; expected an integer of at least 1',
    ],
    [
      'a negative temperature',
      generate({ temperature: -1 }),
      'ERR_VALUE',
      'temperature is -1; expected a finite number of at least 0',
    ],
    [
      'a temperature of NaN',
      generate({ temperature: NaN }),
      'ERR_VALUE',
      'temperature is NaN; expected a finite number of at least 0',
    ],
    [
      'an endless temperature',
      generate({ temperature: Infinity }),
      'ERR_VALUE',
      'temperature is Infinity; expected a finite number of at least 0',
    ],
    [
      'a temperature of text',
      generate({ temperature: '1' }),
      'ERR_VALUE',
      'temperature is "1"; expected a finite number of at least 0',
    ],
    [
      'a draw among no tokens',
      generate({ topK: 0 }),
      'ERR_VALUE',
      'topK is 0; expected an integer of at least 1',
    ],
    [
      'a draw among text',
      generate({ topK: '5' }),
      'ERR_VALUE',
      'topK is "5"; expected an integer of at least 1',
    ],
    [
      'an end that is no token',
      generate({ eosTokenId: 9 }),
      'ERR_VALUE',
      'eosTokenId is 9; expected an integer from 0 to 8',
    ],
    [
      'a negative end',
      generate({ eosTokenId: -1 }),
      'ERR_VALUE',
      'eosTokenId is -1; expected an integer from 0 to 8',
    ],
    [
      'a seed of generate that is none',
      generate({ seed: 1.5 }),
      'ERR_VALUE',
      'seed is 1.5; expected',
    ],
    [
      'nothing to continue',
      generate({}, []),
      'ERR_SHAPE',
      'ids has shape [0]; expected an id or more',
    ],
    [
      'two texts to continue',
      generate({}, [[1], [2]]),
      'ERR_SHAPE',
      "ids has 2 sequences; expected 1, the cache's batch",
    ],
    [
      'a cache of two texts to continue',
      generate({ cache: pair }, [[1], [2]]),
      'ERR_SHAPE',
      'cache has 2 sequences; expected 1',
    ],
    [
      'no cache to continue',
      generate({ cache: 3 }),
      'ERR_VALUE',
      'cache is 3; expected what createCache returns',
    ],
    [
      'a longer text than the context to continue',
      generate({}, [1, 2, 3, 4, 5, 6, 7]),
      'ERR_VALUE',
      'ids has 7 tokens and cache 0; expected at most contextLength, 6, together',
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
