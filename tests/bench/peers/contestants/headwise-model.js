/** @import { LoadedModel, ModelFile } from './model-contestant.js' */

import { load } from '../../../../web/headwise/index.js';
import { loadModel } from '../../../../web/headwise/models.js';

/** @typedef {import('../../../../web/headwise/models.js').Decoder} Decoder */

/** @param {Float32Array} values */
function likeliest(values) {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
}

/** @param {Float32Array} logits */
function logSumOf(logits) {
  const most = logits[likeliest(logits)];
  return most + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - most), 0));
}

/** @param {ModelFile} file @returns {Promise<LoadedModel>} */
export async function start({ folder, type, threads }) {
  const hw = await load({ threads });
  if (hw.info.threads !== threads) throw new Error(hw.info.threadsReason);
  const [config, weights] = await Promise.all([
    fetch(`${folder}config.json`).then((answer) => answer.json()),
    fetch(`${folder}model.safetensors`).then((answer) => answer.blob()),
  ]);
  const dtype = /** @type {'float32' | 'bfloat16' | 'int8'} */ (type);
  const model = /** @type {Decoder} */ (await loadModel(hw, { config, weights }, { dtype }));
  const cache = model.createCache();
  /** @type {number[]} */
  let prompt = [];
  const read = (/** @type {number[]} */ ids) => {
    cache.truncate(0);
    prompt = ids;
    return model.forward(ids, { cache }).logits.data;
  };
  return {
    read,
    decode(tokens) {
      cache.truncate(prompt.length - 1);
      let id = prompt[prompt.length - 1];
      for (let i = 0; i < tokens; i++) id = likeliest(model.forward([id], { cache }).logits.data);
    },
    guess(ids, count) {
      const logits = read(ids);
      const logSum = logSumOf(logits);
      const guesses = Array.from(logits, (logit, id) => ({ id, logProbability: logit - logSum }));
      return guesses.sort((a, b) => b.logProbability - a.logProbability).slice(0, count);
    },
  };
}
