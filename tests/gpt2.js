// What the tests of GPT-2 share: the checkpoints, a model by hand, and a file of a state dict.
import { readFileSync } from 'node:fs';
import { tensor } from 'headwise';
import { writeSafetensors } from 'headwise/formats';
import { Gpt2, loadGpt2 } from 'headwise/gpt2';
import { data } from './helpers.js';

/** @typedef {import('./helpers.js').Engine} Engine */
/** @typedef {import('headwise').Tensor} Tensor */
/** @typedef {import('headwise/gpt2').LoadGpt2Options} LoadGpt2Options */
/** @typedef {'f32' | 'f16' | 'bf16'} Checkpoint */

/** @type {Checkpoint[]} */
export const checkpoints = ['f32', 'f16', 'bf16'];

/** @param {Checkpoint} name */
export function readCheckpoint(name) {
  const file = (/** @type {string} */ part) =>
    readFileSync(new URL(`fixtures/gpt2/${name}/${part}`, import.meta.url));
  const config = JSON.parse(new TextDecoder().decode(file('config.json')));
  return { config, weights: new Uint8Array(file('model.safetensors')) };
}

/**
 * @param {Engine} hw
 * @param {Checkpoint} name
 * @param {Partial<LoadGpt2Options>} [options]
 */
export const loadCheckpoint = (hw, name, options) =>
  loadGpt2(hw, { ...readCheckpoint(name), ...options });

export const small = { vocabSize: 31, contextLength: 20, dModel: 12, numHeads: 3, numLayers: 2 };

/** Hugging Face's config of `small`. */
export const smallConfig = { vocab_size: 31, n_positions: 20, n_embd: 12, n_head: 3, n_layer: 2 };

/**
 * A model whose weights are large enough that its heads look at some tokens more than at others.
 * @param {Engine} hw
 * @param {Partial<import('headwise/gpt2').Gpt2Options>} [options]
 */
export function smallModel(hw, options) {
  const model = new Gpt2(hw, { ...small, ...options }, false);
  const state = Object.entries(model.stateDict()).map(([key, { shape }], seed) => {
    const isNorm = /ln_\w\.weight$/.test(key);
    const scale = shape.length === 2 && !/^w/.test(key) ? 2 / Math.sqrt(shape[0]) : 0.5;
    const drawn = data(seed + 1, [...shape], scale);
    return [
      key,
      isNorm
        ? tensor(
            drawn.data.map((value) => value + 1),
            [...shape],
          )
        : drawn,
    ];
  });
  return model.loadStateDict(Object.fromEntries(state));
}

/** @param {Record<string, Tensor>} tensors */
export const fileOf = (tensors) => writeSafetensors(tensors);

/**
 * Repeatable ids.
 * @param {number} seed
 * @param {number} count
 * @param {number} [vocabSize]
 */
export const drawIds = (seed, count, vocabSize = small.vocabSize) =>
  Array.from(data(seed, [count]).data, (value) => Math.floor(((value + 1) / 2) * vocabSize));
