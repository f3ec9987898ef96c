/**
 * The files of a model in Hugging Face's format: the page's own, a folder each; those that a name or an address finds.
 *
 * @typedef {object} ModelFiles addresses, or files that the visitor opened
 * @property {string | Blob} config
 * @property {string | Blob | Blob[]} weights a list: shards
 * @property {string | Blob} [tokenizer] missing: the text is token ids
 *
 * @typedef {object} HostedModel
 * @property {string} source a name on Hugging Face's hub, or the address of a folder
 */

import { OPENED, pageModel } from './models.js';

/** @type {Map<string, string>} by path */
const addresses = new Map(
  Object.entries(
    import.meta.glob(
      ['../models/*/config.json', '../models/*/model.safetensors', '../models/*/tokenizer.json'],
      { query: '?url', import: 'default', eager: true },
    ),
  ),
);

/** `org/name`, as the hub has them. A model of the page is one word. */
const HUB_NAME = /^[\w.-]+\/[\w.-]+$/;

/** @param {string} model */
export const isHosted = (model) => HUB_NAME.test(model) || /^https?:\/\/./.test(model);

/** @param {string} model of an address: neither one of the page, nor where one may be, nor the visitor's files */
export const isNowhere = (model) =>
  !isHosted(model) && model !== OPENED && pageModel(model) === undefined;

/** By name: what is open is known by its files. @type {Map<string, HostedModel>} */
const hosted = new Map();

/** @param {string} source @returns {HostedModel} */
export function hostedModel(source) {
  const found = hosted.get(source) ?? { source };
  hosted.set(source, found);
  return found;
}

/** @param {string} model @returns {ModelFiles | HostedModel | null} null: the page has none of that name */
export function filesOf(model) {
  if (isHosted(model)) return hostedModel(model);
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
