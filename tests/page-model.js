// A model that comes with the page, opened in Node as the page opens it.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { openModel } from '../web/page/explore/worker/model.js';

/** @import { DecoderModel, Engine } from '../web/page/explore/worker/model.js' */

/** @param {string} name */
export async function pageModelFiles(name) {
  const file = async (/** @type {string} */ part) =>
    new Blob([await readFile(new URL(`../web/page/models/${name}/${part}`, import.meta.url))]);
  return {
    config: await file('config.json'),
    weights: await file('model.safetensors'),
    tokenizer: await file('tokenizer.json'),
  };
}

/** @param {Engine} hw @param {string} name @returns {Promise<DecoderModel>} */
export async function openPageModel(hw, name) {
  const model = await openModel(hw, await pageModelFiles(name));
  assert.ok('decoder' in model);
  return model;
}
