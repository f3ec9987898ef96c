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
      'hw is a value of type Object; expected what load() gives',
    ],
    [
      'a Gpt2 without options',
      () => new Gpt2(hw, any(undefined)),
      'ERR_VALUE',
      'dModel is undefined; expected an integer of at least 1',
    ],
    [
      'an unknown option of Gpt2',
      create({ dropout: 0 }),
      'ERR_VALUE',
      'Gpt2: unknown option dropout; expected vocabSize, contextLength, dModel, numHeads, numLayers, dFf, eps, approximate',
    ],
    ...['vocabSize', 'contextLength', 'dModel', 'numHeads', 'numLayers', 'dFf'].flatMap((name) =>
      [0, -1, 1.5, NaN, '3', null]
        .filter((value) => name !== 'dFf' || value !== null)
        .map(
          (value) =>
            /** @type {import('./table.js').BadCall} */ ([
              `a Gpt2 whose ${name} is ${JSON.stringify(value)}${Number.isNaN(value) ? ' (NaN)' : ''}`,
              create({ [name]: value }),
              'ERR_VALUE',
              `${name} is ${typeof value === 'string' ? `"${value}"` : value}; expected an integer of at least 1`,
            ]),
        ),
    ),
    [
      'a Gpt2 whose heads do not divide its width',
      create({ numHeads: 3 }),
      'ERR_SHAPE',
      'dModel is 8; expected a multiple of numHeads, 3',
    ],
    [
      'a Gpt2 of a negative eps',
      create({ eps: -1e-5 }),
      'ERR_VALUE',
      'eps is -0.00001; expected a finite number of at least 0',
    ],
    [
      'a Gpt2 of an endless eps',
      create({ eps: Infinity }),
      'ERR_VALUE',
      'eps is Infinity; expected a finite number of at least 0',
    ],
    [
      'a Gpt2 of another GELU',
      create({ approximate: 'sigmoid' }),
      'ERR_VALUE',
      'approximate is "sigmoid"; expected "tanh" or "none"',
    ],
    [
      'a Gpt2 that no memory holds',
      create({ vocabSize: 2 ** 30 }),
      'ERR_MEMORY',
      'not enough memory for a Gpt2 of 2 layers × 8 and 1073741824 tokens; what was loaded is still there',
    ],
    [
      'a Gpt2 of more layers than memory holds',
      create({ numLayers: 2 ** 30 }),
      'ERR_MEMORY',
      'not enough memory for a Gpt2 of 1073741824 layers × 8 and 9 tokens',
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
    [
      'loading of nothing',
      loadWith(undefined),
      'ERR_VALUE',
      'config is undefined; expected a Blob',
    ],
    [
      'loading without weights',
      loadWith({ config }),
      'ERR_VALUE',
      'weights is undefined; expected a Blob',
    ],
    [
      'loading of a number',
      loadWith({ config, weights: 3 }),
      'ERR_VALUE',
      'weights is 3; expected a Blob',
    ],
    [
      'loading with an unknown option',
      loadWith({ config, weights, dtype: 'f16' }),
      'ERR_VALUE',
      'loadGpt2: unknown option dtype; expected config, weights, onProgress, signal',
    ],
    [
      'loading with progress to no function',
      loadWith({ config, weights, onProgress: 1 }),
      'ERR_VALUE',
      'onProgress is 1; expected a function',
    ],
    [
      'loading with a signal that is none',
      loadWith({ config, weights, signal: {} }),
      'ERR_VALUE',
      'signal is a value of type Object; expected an AbortSignal',
    ],
    [
      'loading into no engine',
      () => loadGpt2(any({}), { config, weights: new Blob([]) }),
      'ERR_VALUE',
      'hw is a value of type Object; expected what load() gives',
    ],
  ];
}

/**
 * @param {import('./table.js').Engine} hw
 * @returns {import('./table.js').BadCall[]}
 */
export const gpt2 = (hw) => [...constructors(hw), ...loads(hw)];
