// Configs that callers hand to the constructors of models.
import { HeadwiseError, misfit } from '../checks/error.js';
import { reading } from '../checks/foreign.js';
import { architectures } from './architectures.js';
import { readModelConfig } from './config.js';

/** @param {boolean} isDecoder */
const typesOf = (isDecoder) =>
  Object.keys(architectures).filter((type) => architectures[type].isDecoder === isDecoder);

/** Standard deviation of initial weights. @param {any} config */
function deviationOf(config) {
  const key = 'config.initializer_range';
  const range = reading(() => config.initializer_range, key, 'a number') ?? 0.02;
  if (typeof range !== 'number' || !(range >= 0 && range < Infinity)) {
    throw misfit(range, key, 'a number that is not negative');
  }
  return range;
}

/**
 * Reads a config that a caller gives.
 * @param {unknown} config
 * @param {boolean} isDecoder what it must be of; else an encoder
 * @returns {{ model: import('./config.js').ModelConfig, deviation: number }} deviation: of initial weights
 * @throws {HeadwiseError} ERR_VALUE, naming the key
 */
export function readGivenConfig(config, isDecoder) {
  let model;
  try {
    model = readModelConfig(/** @type {object} */ (config), 'config');
  } catch (error) {
    if (error instanceof HeadwiseError && error.code === 'ERR_FORMAT') {
      throw new HeadwiseError('ERR_VALUE', error.message, { cause: error });
    }
    throw error;
  }
  if (model.isDecoder !== isDecoder) {
    const expected = typesOf(isDecoder).join(', ');
    const problem = `model_type is "${model.modelType}"; expected ${expected}`;
    throw new HeadwiseError('ERR_VALUE', `config: ${problem}`);
  }
  return { model, deviation: deviationOf(config) };
}
