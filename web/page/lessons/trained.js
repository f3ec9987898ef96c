/** The model that the lesson on induction heads looks into. */

import { loadGpt2 } from '../../headwise/gpt2.js';
import config from '../models/induction/config.json' with { type: 'json' };
import tokenizer from '../models/induction/tokenizer.json' with { type: 'json' };

/** @type {Record<string, number>} */
const vocab = tokenizer.model.vocab;
const letters = Object.keys(vocab).sort((a, b) => vocab[a] - vocab[b]);

/**
 * A GPT-2 of two layers that has learnt to go on with what repeats, and its tokens: one for each letter.
 *
 * @param {import('../../headwise/index.js').Headwise} hw
 */
export async function loadInductionModel(hw) {
  const weights = new URL('../models/induction/model.safetensors', import.meta.url);
  const model = await loadGpt2(hw, { config, weights });
  return {
    model,
    /** @param {string} text */
    encode: (text) => [...text].map((letter) => vocab[letter] ?? vocab['?']),
    /** @param {readonly number[]} ids */
    decode: (ids) => ids.map((id) => letters[id]).join(''),
  };
}
