// A checkpoint of random float16 weights on the disk, and how long it takes to load.
import { open, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { load } from 'headwise';
import { loadGpt2 } from 'headwise/gpt2';

/** @typedef {import('headwise/gpt2').Gpt2Options} Gpt2Options */

/** Values that are written at a time. */
const PIECE = 2 ** 20;

/** @param {Gpt2Options} options @returns {[name: string, shape: number[]][]} */
function parameters({ vocabSize, contextLength, dModel, numLayers }) {
  const conv1d = (
    /** @type {string} */ name,
    /** @type {number} */ from,
    /** @type {number} */ to,
  ) =>
    /** @type {[string, number[]][]} */ ([
      [`${name}.weight`, [from, to]],
      [`${name}.bias`, [to]],
    ]);
  const norm = (/** @type {string} */ name) =>
    /** @type {[string, number[]][]} */ ([
      [`${name}.weight`, [dModel]],
      [`${name}.bias`, [dModel]],
    ]);
  const layers = Array.from({ length: numLayers }, (_, i) => [
    ...norm(`h.${i}.ln_1`),
    ...conv1d(`h.${i}.attn.c_attn`, dModel, 3 * dModel),
    ...conv1d(`h.${i}.attn.c_proj`, dModel, dModel),
    ...norm(`h.${i}.ln_2`),
    ...conv1d(`h.${i}.mlp.c_fc`, dModel, 4 * dModel),
    ...conv1d(`h.${i}.mlp.c_proj`, 4 * dModel, dModel),
  ]);
  return [
    ['wte.weight', [vocabSize, dModel]],
    ['wpe.weight', [contextLength, dModel]],
    ...layers.flat(),
    ...norm('ln_f'),
  ];
}

/** @param {readonly number[]} shape */
const count = (shape) => shape.reduce((product, n) => product * n, 1);

/**
 * @param {string} path
 * @param {Gpt2Options} options
 */
async function write(path, options) {
  let at = 0;
  const entries = parameters(options).map(([name, shape]) => {
    const start = at;
    at += 2 * count(shape);
    return [name, { dtype: 'F16', shape, data_offsets: [start, at] }];
  });
  const header = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
  const length = new BigUint64Array([BigInt(header.length)]);
  // Of either sign, with an exponent of 2^-7 to 2^-4.
  const halves = Uint16Array.from(
    { length: PIECE },
    () => 0x2000 | (Math.random() * 0xfff) | (Math.random() < 0.5 ? 0x8000 : 0),
  );
  const file = await open(path, 'w');
  try {
    await file.write(new Uint8Array(length.buffer));
    await file.write(header);
    for (let left = at / 2; left > 0; left -= PIECE)
      await file.write(new Uint8Array(halves.buffer, 0, 2 * Math.min(PIECE, left)));
  } finally {
    await file.close();
  }
}

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
    ...{ n_head: numHeads, n_layer: numLayers },
  };
  const times = [];
  let memoryBytes = 0;
  let fileBytes = 0;
  try {
    const path = join(folder, 'model.safetensors');
    await write(path, options);
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
