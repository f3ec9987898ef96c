// What kind of head each head of a checkpoint is: the Explore room's own scores over a text, and induction over random
// tokens that are repeated.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { load } from 'headwise';
import { loadModel } from 'headwise/models';
import { runModel } from '../../web/page/explore/worker/model.js';
import { scoreLayer } from '../../web/page/explore/worker/score-heads.js';
import { readTokenizer } from '../../web/page/explore/worker/tokens.js';

/** @typedef {import('../../web/page/explore/worker/model.js').Model} Model */

/**
 * @typedef {object} HeadScore means over the text's queries but the first; induction over the repeated tokens'
 * @property {number} layer from 0
 * @property {number} head from 0
 * @property {number} previous
 * @property {number} induction
 * @property {number} entropy in bits
 * @property {number} first
 * @property {number} distance in tokens
 */

/** Sequences of random tokens, and how many are in one before they are repeated. */
const SEQUENCES = 4;
const LONGEST = 64;

const breathe = async () => {};

/**
 * Ids without repetition, then the same again.
 * @param {Awaited<ReturnType<typeof load>>} hw its random numbers are drawn
 * @param {{ vocabSize: number, contextLength: number }} options
 */
function repeatedIds(hw, { vocabSize, contextLength }) {
  const drawn = hw.rand([vocabSize]).data;
  const shuffled = Array.from(drawn, (_, id) => id).sort((a, b) => drawn[a] - drawn[b] || a - b);
  const ids = shuffled.slice(0, Math.min(LONGEST, Math.floor(contextLength / 2)));
  return [...ids, ...ids];
}

/** @param {Model} model @param {readonly number[]} ids */
async function scoresOf(model, ids) {
  const run = runModel(model, [...ids], []);
  try {
    const found = [];
    for (let layer = 0; layer < run.source.layers; layer++)
      found.push(...(await scoreLayer(run.source, layer, ids, breathe)));
    return found;
  } finally {
    run.dispose();
  }
}

/**
 * @param {object} options
 * @param {string} options.folder with config.json and model.safetensors, and tokenizer.json if there is a text
 * @param {string} [options.text] to be read; what is longer than the context is left out
 * @param {readonly number[]} [options.ids] its ids, instead
 * @param {number} options.seed of the random tokens
 * @returns {Promise<{ ids: number[], repeated: number[][], heads: HeadScore[] }>}
 */
export async function scoreCheckpoint({ folder, text, ids: given, seed }) {
  const hw = await load();
  try {
    const decoder = await loadModel(hw, {
      config: pathToFileURL(join(folder, 'config.json')),
      weights: pathToFileURL(join(folder, 'model.safetensors')),
    });
    const tokenizer = given
      ? {
          encode: () => [...given],
          before: [],
          after: [],
          token: (/** @type {number} */ id) => ({ id, text: '' }),
          decode: String,
        }
      : readTokenizer(JSON.parse(await readFile(join(folder, 'tokenizer.json'), 'utf8')));
    const model = { decoder, text: tokenizer };
    const { contextLength, numHeads } = decoder.config;
    const ids = tokenizer.encode(text ?? '').slice(0, contextLength);
    const ofText = await scoresOf(model, ids);
    hw.manualSeed(seed);
    const repeated = Array.from({ length: SEQUENCES }, () => repeatedIds(hw, decoder.config));
    /** @type {Awaited<ReturnType<typeof scoresOf>>[]} */
    const ofRepeated = [];
    for (const sequence of repeated) ofRepeated.push(await scoresOf(model, sequence));
    const heads = ofText.map(({ previous, entropy, first, distance }, i) => ({
      layer: Math.floor(i / numHeads),
      head: i % numHeads,
      previous,
      induction: ofRepeated.reduce((sum, scores) => sum + scores[i].induction, 0) / SEQUENCES,
      entropy,
      first,
      distance,
    }));
    return { ids, repeated, heads };
  } finally {
    hw.dispose();
  }
}
