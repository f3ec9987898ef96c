// Models of headwise/gpt2 that cannot be made or loaded.
import { Gpt2, loadGpt2 } from 'headwise/gpt2';
import { any } from './table.js';

const options = { vocabSize: 9, contextLength: 6, dModel: 8, numHeads: 2, numLayers: 2 };
const config = { vocab_size: 9, n_positions: 6, n_embd: 8, n_head: 2, n_layer: 2 };

/**
 * @param {import('./table.js').Engine} hw
 * @returns {import('./table.js').BadCall[]}
 */
function constructors(hw) {
  const create = (/** @type {any} */ more) => () => new Gpt2(hw, { ...options, ...more });
  return [
    [
      'a Gpt2 without an engine',
      () => new Gpt2(any(options), any(undefined)),
      'ERR_VALUE',
      'hw',
      'a value of type Object',
    ],
    [
      'a Gpt2 without options',
      () => new Gpt2(hw, any(undefined)),
      'ERR_VALUE',
      'vocabSize',
      'undefined',
    ],
    ['an unknown option of Gpt2', create({ pdrop: 0 }), 'ERR_VALUE', 'Gpt2', 'pdrop'],
    ...['vocabSize', 'contextLength', 'dModel', 'numHeads', 'numLayers', 'dFf'].flatMap((name) =>
      [0, -1, 1.5, NaN, '3']
        .filter((value) => name !== 'dFf' || value !== 0)
        .map(
          (value) =>
            /** @type {import('./table.js').BadCall} */ ([
              `a Gpt2 whose ${name} is ${JSON.stringify(value)}${Number.isNaN(value) ? ' (NaN)' : ''}`,
              create({ [name]: value }),
              'ERR_VALUE',
              `${name}`,
              `${typeof value === 'string' ? `"${value}"` : value}`,
            ]),
        ),
    ),
    [
      'a Gpt2 whose heads do not divide its width',
      create({ numHeads: 3 }),
      'ERR_SHAPE',
      'dModel',
      '8',
    ],
    ['a Gpt2 of a negative eps', create({ eps: -1e-5 }), 'ERR_VALUE', 'eps', '-0.00001'],
    ['a Gpt2 of an endless eps', create({ eps: Infinity }), 'ERR_VALUE', 'eps', 'Infinity'],
    [
      'a Gpt2 of another GELU',
      create({ approximate: 'sigmoid' }),
      'ERR_VALUE',
      'approximate',
      '"sigmoid"',
    ],
    [
      'a Gpt2 that no memory holds',
      create({ vocabSize: 2 ** 30 }),
      'ERR_MEMORY',
      'a Gpt2 of 2 layers × 8 and 1073741824 tokens',
    ],
    [
      'a Gpt2 of more layers than memory holds',
      create({ numLayers: 2 ** 30 }),
      'ERR_MEMORY',
      'a Gpt2 of 1073741824 layers × 8 and 9 tokens',
    ],
  ];
}

/**
 * Files that do not fit are in gpt2-load.
 * @param {import('./table.js').Engine} hw
 * @returns {import('./table.js').BadCall[]}
 */
function loads(hw) {
  const weights = new Uint8Array(9);
  const loadWith = (/** @type {any} */ asked) => () => loadGpt2(hw, asked);
  return [
    ['loading of nothing', loadWith(undefined), 'ERR_VALUE', 'config', 'undefined'],
    ['loading without weights', loadWith({ config }), 'ERR_VALUE', 'weights', 'undefined'],
    ['loading of a number', loadWith({ config, weights: 3 }), 'ERR_VALUE', 'weights', '3'],
    [
      'loading with an unknown option',
      loadWith({ config, weights, dtype: 'f16' }),
      'ERR_VALUE',
      'loadGpt2',
      'dtype',
    ],
    [
      'loading with progress to no function',
      loadWith({ config, weights, onProgress: 1 }),
      'ERR_VALUE',
      'onProgress',
      '1',
    ],
    [
      'loading with a signal that is none',
      loadWith({ config, weights, signal: {} }),
      'ERR_VALUE',
      'signal',
      'a value of type Object',
    ],
    [
      'loading with options where loadModel has them',
      () => any(loadGpt2)(hw, { config, weights }, { signal: undefined }),
      'ERR_VALUE',
      'loadGpt2',
      'signal',
    ],
    [
      'loading into no engine',
      () => loadGpt2(any({}), { config, weights: new Blob([]) }),
      'ERR_VALUE',
      'hw',
      'a value of type Object',
    ],
  ];
}

/**
 * @param {import('./table.js').Engine} hw
 * @returns {import('./table.js').BadCall[]}
 */
export const gpt2 = (hw) => [...constructors(hw), ...loads(hw)];
