/**
 * The files of the models that come with the page: a folder each, in Hugging Face's format.
 *
 * @typedef {object} ModelFiles addresses, or files that the visitor opened
 * @property {string | Blob} config
 * @property {string | Blob} weights
 * @property {string | Blob} [tokenizer] missing: the text is token ids
 */

/** @type {Map<string, string>} by path */
const addresses = new Map(
  Object.entries(
    import.meta.glob(
      ['../models/*/config.json', '../models/*/model.safetensors', '../models/*/tokenizer.json'],
      { query: '?url', import: 'default', eager: true },
    ),
  ),
);

/** @param {string} model @returns {ModelFiles | null} null: the page has none of that name */
export function filesOf(model) {
  /** @param {string} name */
  const file = (name) => addresses.get(`../models/${model}/${name}`);
  const config = file('config.json');
  const weights = file('model.safetensors');
  const tokenizer = file('tokenizer.json');
  if (!config || !weights || !tokenizer) return null;
  /** Relative to the page, but asked for by a Worker. @param {string} address */
  const whole = (address) => new URL(address, document.baseURI).href;
  return { config: whole(config), weights: whole(weights), tokenizer: whole(tokenizer) };
}
