import { checkIndex, checkOptions, checkSize } from '../checks/check.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { isA } from '../checks/foreign.js';
import { checkSeed, random } from '../tensor/functions.js';
import { KeyValueCache } from '../modules/key-value-cache.js';
import { MersenneTwister } from './mersenne-twister.js';

/** @typedef {import('./gpt2.js').Gpt2} Gpt2 */
/** @typedef {import('../modules/embedding.js').Ids} Ids */

/**
 * How tokens are chosen.
 * @typedef {object} GenerateOptions
 * @property {number} [maxTokens] how many at most; default 20
 * @property {number} [temperature] default 0: the likeliest token, the first of several; above, drawn
 * @property {number} [topK] draw among so many likeliest; default: all
 * @property {number | bigint} [seed] of this generation's own random numbers, which are those of hw.rand after
 *   hw.manualSeed(seed); default: drawn from the engine's generator with the first token
 * @property {number} [eosTokenId] ends after this token
 * @property {import('../tensor/tensor.js').Tensor | import('../tensor/make-tensor.js').NestedNumbers} [headMask] as forward's
 * @property {KeyValueCache} [cache] of this model, batch 1, for the ids to be appended to; all tokens but the last will be in
 *   it. Default: one for this call
 */

const known = ['maxTokens', 'temperature', 'topK', 'seed', 'eosTokenId', 'headMask', 'cache'];

/** @param {unknown} value */
function checkTemperature(value) {
  if (typeof value !== 'number' || !(value >= 0 && value < Infinity)) {
    throw misfit(value, 'temperature', 'a finite number of at least 0');
  }
  return value;
}

/** @param {unknown} cache what else is wrong with it, forward says */
function checkCacheBatch(cache) {
  if (isA(cache, KeyValueCache) && cache.batch !== 1) {
    throw new HeadwiseError(
      'ERR_SHAPE',
      `cache has ${cache.batch} sequences; expected 1, which is continued`,
    );
  }
}

/** @param {ArrayLike<number>} logits */
function likeliest(logits) {
  let best = 0;
  for (let id = 1; id < logits.length; id++) {
    if (logits[id] > logits[best]) {
      best = id;
    }
  }
  return best;
}

/** Up to so many largest, inserting is quicker than sorting all. */
const mostInserted = 1000;

/**
 * What a logit must at least be to be among the topK.
 * @param {Float32Array} logits
 * @param {number} topK
 */
function lowest(logits, topK) {
  if (topK >= logits.length) {
    return -Infinity;
  }
  if (topK > mostInserted) {
    return logits.slice().sort()[logits.length - topK];
  }
  const largest = logits.slice(0, topK).sort();
  for (let id = topK; id < logits.length; id++) {
    const logit = logits[id];
    if (logit > largest[0]) {
      let at = 1;
      for (; at < topK && largest[at] < logit; at++) {
        largest[at - 1] = largest[at];
      }
      largest[at - 1] = logit;
    }
  }
  return largest[0];
}

/**
 * A token drawn from softmax(logits / temperature) among the topK; tokens as likely as the last of these are among them.
 * @param {Float32Array} logits
 * @param {{ temperature: number, topK: number }} options
 * @param {number} uniform in [0, 1)
 */
export function draw(logits, { temperature, topK }, uniform) {
  const threshold = lowest(logits, topK);
  const top = logits[likeliest(logits)];
  const weights = Float64Array.from(logits, (logit) =>
    logit >= threshold ? Math.exp((logit - top) / temperature) : 0,
  );
  let left = uniform * weights.reduce((sum, weight) => sum + weight, 0);
  // Of rounding at the end of the sum the last token that may be drawn gets the rest.
  let chosen = likeliest(logits);
  for (let id = 0; id < weights.length && left >= 0; id++) {
    if (weights[id] > 0) {
      chosen = id;
      left -= weights[id];
    }
  }
  return chosen;
}

/** @param {Float32Array} logits of one token */
function checkLogits(logits) {
  const bad = logits.findIndex(Number.isNaN);
  if (bad >= 0) {
    const hint = 'are there NaN among the weights?';
    throw new HeadwiseError('ERR_VALUE', `logits[${bad}] is NaN; expected numbers (${hint})`);
  }
  return logits;
}

/** @param {Gpt2} model whose engine's generator goes on by two numbers */
function drawSeed({ engine }) {
  const [upper, lower] = random(engine, 'rand', [2]).data;
  return upper * 2 ** 32 + Math.floor(lower * 256);
}

/**
 * How one generation chooses its tokens.
 * @param {Gpt2} model
 * @param {{ temperature: number, topK: number, seed: number | undefined }} options
 * @returns {(logits: Float32Array) => number}
 */
function chooser(model, { temperature, topK, seed }) {
  if (temperature === 0) {
    return likeliest;
  }
  const numbers = new MersenneTwister(seed ?? drawSeed(model));
  return (logits) => draw(logits, { temperature, topK }, numbers.uniform());
}

/** @param {Gpt2} model @param {Ids} ids @param {GenerateOptions} [options] */
export function generate(model, ids, options) {
  const given = checkOptions(options, known, 'generate');
  const { vocabSize } = model.options;
  const checked = {
    maxTokens: checkSize(given.maxTokens ?? 20, 'maxTokens'),
    temperature: checkTemperature(given.temperature ?? 0),
    topK: checkSize(given.topK ?? vocabSize, 'topK'),
    eosTokenId:
      given.eosTokenId === undefined ? -1 : checkIndex(given.eosTokenId, 'eosTokenId', vocabSize),
    seed: given.seed === undefined ? undefined : Number(BigInt.asUintN(32, checkSeed(given.seed))),
  };
  checkCacheBatch(given.cache);
  return tokens(model, ids, given, checked);
}

/**
 * @param {Gpt2} model
 * @param {Ids} ids
 * @param {GenerateOptions} given
 * @param {{ maxTokens: number, temperature: number, topK: number, eosTokenId: number, seed: number | undefined }} checked
 * @returns {Generator<number, void, void>}
 */
function* tokens(model, ids, { headMask, cache: given }, checked) {
  const cache = given ?? model.createCache();
  /** @type {ReturnType<typeof chooser> | undefined} */
  let choose;
  try {
    /** @type {Ids} */
    let next = ids;
    for (let count = 1; ; count++) {
      const { logits } = model.forward(next, { headMask, cache });
      const values = checkLogits(/** @type {Float32Array} */ (logits?.data));
      choose ??= chooser(model, checked);
      const id = choose(values);
      yield id;
      if (count === checked.maxTokens || id === checked.eosTokenId) {
        return;
      }
      if (cache.length === cache.capacity) {
        return;
      }
      next = [id];
    }
  } finally {
    if (given === undefined) {
      cache.dispose();
    }
  }
}
