// A model of one contestant in a browser: what model-page.html runs for model-in-chromium.js.

/** @import { LoadedModel, ModelContestant, ModelFile } from './contestants/model-contestant.js' */

/** @type {LoadedModel} */
let model;

/** @param {string} module in contestants/ @param {ModelFile} file */
export async function start(module, file) {
  /** @type {ModelContestant} */
  const contestant = await import(`./contestants/${module}.js`);
  model = await contestant.start(file);
}

/** @param {() => unknown} work @returns {Promise<number>} ms */
async function time(work) {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

export const read = (/** @type {number[]} */ ids) => time(() => model.read(ids));
export const decode = (/** @type {number} */ tokens) => time(() => model.decode(tokens));
export const guess = (/** @type {number[]} */ ids, /** @type {number} */ count) =>
  model.guess(ids, count);
