/**
 * The models that come with the page: a folder each, in Hugging Face's format.
 *
 * @typedef {object} ModelFiles addresses, or files that the visitor opened
 * @property {string | Blob} config
 * @property {string | Blob} weights
 * @property {string | Blob} tokenizer
 */

/** @type {Record<string, string>} */
const addresses = import.meta.glob(
  ['../models/*/config.json', '../models/*/model.safetensors', '../models/*/tokenizer.json'],
  { query: '?url', import: 'default', eager: true },
);

/** Titles, and what is read first. @type {Record<string, { title: string, sample: string }>} */
export const MODELS = {
  austen: {
    title: 'Austen: prose',
    sample:
      'Mr. Darcy danced only once with Mrs. Hurst and once with Miss Bingley, declined being introduced to any other lady, and spent the rest of the evening in walking about the room, speaking occasionally to one of his own party. Mr. Darcy was the proudest, most disagreeable man in the world.',
  },
  induction: {
    title: 'Induction: repeated letters',
    sample: 'q k z a m t w c e h q k z a m t w c e h q k z a m t w c e h',
  },
};

/** @param {string} model @returns {ModelFiles | null} null: the page has none of that name */
export function filesOf(model) {
  /** @param {string} name */
  const file = (name) => addresses[`../models/${model}/${name}`];
  const config = file('config.json');
  const weights = file('model.safetensors');
  const tokenizer = file('tokenizer.json');
  if (!config || !weights || !tokenizer) return null;
  /** Relative to the page, but asked for by a Worker. @param {string} address */
  const whole = (address) => new URL(address, document.baseURI).href;
  return { config: whole(config), weights: whole(weights), tokenizer: whole(tokenizer) };
}
