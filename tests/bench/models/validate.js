// What is checked before anything is timed: a small model of the same architecture against float64, as every dtype.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readSafetensors } from 'headwise/formats';
import { loadModel } from 'headwise/models';
import { readModelConfig } from '../../../web/headwise/models/config.js';
import { namesOf } from '../../../web/headwise/models/names.js';
import { runModel } from '../../reference-models.js';
import { shrink } from './work.js';
import { writeModel } from './write.js';

/** @typedef {import('headwise').Headwise} Headwise */

/** How far logits may be off, relative to the largest: README's bounds. The file is bfloat16, which float32 and bfloat16 keep. */
const bounds = { float32: 2e-5, bfloat16: 2e-5, float16: 0.002, int8: 0.05 };

/** @param {number} length @param {number} vocabSize */
export const idsOf = (length, vocabSize) =>
  Array.from({ length }, (_, i) => (Math.imul(i + 1, 0x9e3779b1) >>> 0) % vocabSize);

/**
 * @param {ArrayLike<number>} actual
 * @param {ArrayLike<number>} right
 * @returns {number} the largest difference, relative to the largest right number; NaN if something is not a number
 */
export function distance(actual, right) {
  let [most, largest] = [0, 0];
  for (let i = 0; i < right.length; i++) {
    const off = Math.abs(actual[i] - right[i]);
    if (!(off <= most)) most = off;
    largest = Math.max(largest, Math.abs(right[i]));
  }
  return most / largest;
}

/**
 * The last token's logits, in one forward and after the others in a cache.
 * @param {import('headwise/models').Decoder} model
 * @param {readonly number[]} ids
 */
export function logitsOf(model, ids) {
  const whole = model.forward(ids).logits.data;
  const cache = model.createCache();
  model.forward(ids.slice(0, -1), { cache, logits: 'none' });
  const { logits } = model.forward(ids.slice(-1), { cache });
  cache.dispose();
  return [whole, logits.data];
}

/**
 * @param {Headwise} hw
 * @param {string} folder for the small model
 * @param {Record<string, unknown>} config of the large one
 * @param {readonly (keyof typeof bounds)[]} dtypes
 * @returns {Promise<Record<string, number>>} the largest error of each dtype
 * @throws {Error} an error is above its bound
 */
export async function validate(hw, folder, config, dtypes) {
  const small = shrink(config);
  await writeModel(folder, small, { dtype: 'bfloat16' });
  const weights = await readFile(join(folder, 'model.safetensors'));
  const described = readModelConfig(small);
  const { canonical } = namesOf(described);
  const { tensors } = await readSafetensors(weights);
  const state = new Map(Object.entries(tensors).map(([key, value]) => [canonical(key), value]));
  const ids = idsOf(12, described.vocabSize);
  const { logits: rows } = runModel(described, (name) => state.get(name), ids);
  const right = (rows ?? []).at(-1) ?? [];
  /** @type {Record<string, number>} */
  const errors = {};
  for (const dtype of dtypes) {
    const model = await loadModel(hw, { config: small, weights }, { dtype });
    const found = logitsOf(/** @type {any} */ (model), ids).map((row) => distance(row, right));
    model.dispose();
    errors[dtype] = Math.max(...found);
    if (!(errors[dtype] <= bounds[dtype])) {
      const words = `${errors[dtype].toExponential(1)} of the largest; expected ${bounds[dtype]}`;
      throw new Error(`wrong: logits with ${dtype} differ from float64's by ${words}`);
    }
  }
  return errors;
}
