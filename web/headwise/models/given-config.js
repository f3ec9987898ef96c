// What callers hand to the constructors of models.
import { checkBelow, checkProbability, checkTable, or } from '../checks/check.js';
import { HeadwiseError } from '../checks/error.js';
import { reading } from '../checks/foreign.js';
import { architectures } from './architectures.js';
import { readModelConfig } from './config.js';
import { namesOf } from './names.js';

/**
 * Options of the constructors of `Decoder` and `Encoder`.
 * @typedef {object} ModelOptions
 * @property {number} [dropout] default 0; in training mode, of the sum of embeddings (an encoder's after its norm) and of both
 *   branches of each block, as GPT-2's embd_pdrop and resid_pdrop. A forward that looks at heads or changes them (`trace`,
 *   `needWeights`, `headMask`, `replace`, `start`, `residuals`) or has a cache has no dropout. A config's own probabilities of
 *   dropout are passed over
 */

/**
 * What a loader knows of a model before it is there.
 * @typedef {object} Known
 * @property {import('./config.js').ModelConfig} config as readModelConfig gives it
 * @property {import('./lay-model.js').MatrixType} dtype
 * @property {boolean} [hasHead] of an encoder
 */

const table = { dropout: or(checkProbability, 0) };

/** Standard deviation of initial weights. @param {any} config that was read, or its text */
function deviationOf(config) {
  const key = 'config.initializer_range';
  const given = typeof config === 'string' ? JSON.parse(config) : config;
  const range = reading(() => given.initializer_range, key, 'a number') ?? 0.02;
  return checkBelow(range, key);
}

/**
 * @param {unknown} config
 * @param {boolean} isDecoder what it must be of; else an encoder
 * @returns {import('./config.js').ModelConfig}
 * @throws {HeadwiseError} ERR_VALUE, naming the key
 */
function readGivenConfig(config, isDecoder) {
  const all = Object.keys(architectures);
  const types = all.filter((type) => architectures[type].isDecoder === isDecoder);
  try {
    return readModelConfig(/** @type {object} */ (config), 'config', types);
  } catch (error) {
    if (error instanceof HeadwiseError && error.code === 'ERR_FORMAT') {
      throw new HeadwiseError('ERR_VALUE', error.message, { cause: error });
    }
    throw error;
  }
}

/**
 * Reads what a constructor is given.
 * @param {string} name the class's
 * @param {unknown} config
 * @param {unknown} options
 * @param {Known} [known] then nothing else is read
 * @returns {import('./model.js').Said}
 * @throws {HeadwiseError} ERR_VALUE, naming the key or the option
 */
export function readGiven(name, config, options, known) {
  const {
    config: model = readGivenConfig(config, name === 'Decoder'),
    hasHead = true,
    dtype = 'float32',
  } = known ?? {};
  return {
    ...{ name, names: (keys) => namesOf(model, keys), hasHead, dtype },
    config: Object.freeze({ ...model, ...checkTable(options, table, name) }),
    deviation: known === undefined ? deviationOf(config) : undefined,
  };
}
