// A checkpoint of random float16 weights on the disk, and how long it takes to load.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { load } from 'headwise';
import { loadGpt2 } from 'headwise/gpt2';
import { writeModel } from '../models/write.js';

/** @typedef {import('headwise/gpt2').Gpt2Options} Gpt2Options */

/**
 * @typedef {object} Loading
 * @property {number} minimum ms
 * @property {number} fileBytes
 * @property {number} memoryBytes the engine's memory afterwards
 */

/**
 * Writes a checkpoint into a folder of its own, loads it a few times, and removes it.
 * @param {Gpt2Options} options
 * @param {number} repeats
 * @returns {Promise<Loading>}
 */
export async function timeLoading(options, repeats) {
  const folder = await mkdtemp(join(tmpdir(), 'headwise-gpt2-'));
  const { vocabSize, contextLength, dModel, numHeads, numLayers } = options;
  const config = {
    ...{ vocab_size: vocabSize, n_positions: contextLength, n_embd: dModel },
    ...{ n_head: numHeads, n_layer: numLayers, model_type: 'gpt2' },
  };
  const times = [];
  let memoryBytes = 0;
  let fileBytes = 0;
  try {
    const path = join(folder, 'model.safetensors');
    await writeModel(folder, config, { dtype: 'float16' });
    for (let i = 0; i < repeats; i++) {
      const hw = await load();
      const start = performance.now();
      const onProgress = ({ total = 0 }) => {
        fileBytes = total;
      };
      await loadGpt2(hw, { config, weights: pathToFileURL(path), onProgress });
      times.push(performance.now() - start);
      memoryBytes = hw.memoryBytes;
      hw.dispose();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  return { minimum: Math.min(...times), fileBytes, memoryBytes };
}
