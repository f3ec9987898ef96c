import { checkBoolean, checkIndex, checkOptions, checkSignal, checkSize } from '../checks/check.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { copyArray, isA } from '../checks/foreign.js';
import { checkSeed, random } from '../tensor/functions.js';
import { KeyValueCache } from '../modules/key-value-cache.js';
import { MersenneTwister } from './mersenne-twister.js';
import { draw, likeliest, logProbability } from './sample.js';

/** @typedef {import('./gpt2.js').Gpt2} Gpt2 */
/** @typedef {import('../modules/embedding.js').Ids} Ids */

/**
 * A token with what the model thought of it.
 * @typedef {object} Generated
 * @property {number} id of the token
 * @property {number} logProbability the logarithm of its probability by the model: of the softmax of all logits, whatever
 *   temperature, topK and topP are
 */

/**
 * How tokens are chosen.
 * @template {boolean} [WithLogProbability=false]
 * @typedef {object} GenerateOptions
 * @property {number} [maxTokens] how many at most; default 20
 * @property {number} [temperature] default 0: the likeliest token, the first of several; above, drawn
 * @property {number} [topK] draw among so many likeliest; default: all
 * @property {number} [topP] and among the fewest likeliest of these that have this probability together; default 1: all
 * @property {number | bigint} [seed] of this generation's own random numbers, which are those of hw.rand after
 *   hw.manualSeed(seed); default: drawn from the engine's generator with the first token
 * @property {number} [eosTokenId] ends after this token
 * @property {number | readonly number[]} [stop] ends before this token, or any of several
 * @property {AbortSignal} [signal] ends with its reason, between tokens
 * @property {WithLogProbability} [logProbabilities] default false: give each token as { id, logProbability }
 * @property {import('../tensor/tensor.js').Tensor | import('../tensor/make-tensor.js').NestedNumbers} [headMask] as forward's
 * @property {KeyValueCache} [cache] of this model, batch 1, for the ids to be appended to; all tokens but the last will be in
 *   it. Default: one for this call
 */

const known = [
  ...['maxTokens', 'temperature', 'topK', 'topP', 'seed', 'eosTokenId', 'stop', 'signal'],
  ...['logProbabilities', 'headMask', 'cache'],
];

/** @param {unknown} value */
function checkTemperature(value) {
  if (typeof value !== 'number' || !(value >= 0 && value < Infinity)) {
    throw misfit(value, 'temperature', 'a finite number of at least 0');
  }
  return value;
}

/** @param {unknown} value */
function checkTopP(value) {
  if (typeof value !== 'number' || !(value > 0 && value <= 1)) {
    throw misfit(value, 'topP', 'a number above 0, at most 1');
  }
  return value;
}

/** @param {unknown} stop an id, or a list of them @param {number} vocabSize @returns {Set<number>} */
function checkStop(stop, vocabSize) {
  const list = stop === undefined ? [] : copyArray(stop, vocabSize);
  return list === undefined
    ? new Set([checkIndex(stop, 'stop', vocabSize)])
    : new Set(list.map((id, i) => checkIndex(id, `stop[${i}]`, vocabSize)));
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
 * What a generation was asked for.
 * @typedef {object} Plan
 * @property {number} maxTokens
 * @property {number} temperature
 * @property {number} topK
 * @property {number} topP
 * @property {number | undefined} seed
 * @property {number} eosTokenId -1: none
 * @property {Set<number>} stop
 * @property {AbortSignal | undefined} signal
 * @property {boolean} logProbabilities
 */

/**
 * How one generation chooses its tokens.
 * @param {Gpt2} model
 * @param {Plan} plan
 * @returns {(logits: Float32Array) => number}
 */
function chooser(model, { seed, ...options }) {
  if (options.temperature === 0) {
    return likeliest;
  }
  const numbers = new MersenneTwister(seed ?? drawSeed(model));
  return (logits) => draw(logits, options, numbers.uniform());
}

/**
 * @template {boolean} [WithLogProbability=false]
 * @param {Gpt2} model
 * @param {Ids} ids
 * @param {GenerateOptions<WithLogProbability>} [options]
 * @returns {Generator<WithLogProbability extends true ? Generated : number, void, void>}
 */
export function generate(model, ids, options) {
  const given = checkOptions(options, known, 'generate');
  const { vocabSize } = model.options;
  const plan = {
    maxTokens: checkSize(given.maxTokens ?? 20, 'maxTokens'),
    temperature: checkTemperature(given.temperature ?? 0),
    topK: checkSize(given.topK ?? vocabSize, 'topK'),
    topP: checkTopP(given.topP ?? 1),
    eosTokenId:
      given.eosTokenId === undefined ? -1 : checkIndex(given.eosTokenId, 'eosTokenId', vocabSize),
    stop: checkStop(given.stop, vocabSize),
    seed: given.seed === undefined ? undefined : Number(BigInt.asUintN(32, checkSeed(given.seed))),
    signal: checkSignal(given.signal),
    logProbabilities: checkBoolean(given.logProbabilities ?? false, 'logProbabilities'),
  };
  checkCacheBatch(given.cache);
  return /** @type {any} */ (tokens(model, ids, given, plan));
}

/**
 * @param {Gpt2} model
 * @param {Ids} ids
 * @param {GenerateOptions<boolean>} given
 * @param {Plan} plan
 * @returns {Generator<number | Generated, void, void>}
 */
function* tokens(model, ids, { headMask, cache: given }, plan) {
  const cache = given ?? model.createCache();
  /** @type {ReturnType<typeof chooser> | undefined} */
  let choose;
  try {
    /** @type {Ids} */
    let next = ids;
    for (let count = 1; ; count++) {
      plan.signal?.throwIfAborted();
      const { logits } = model.forward(next, { headMask, cache });
      const values = checkLogits(/** @type {Float32Array} */ (logits?.data));
      choose ??= chooser(model, plan);
      const id = choose(values);
      if (plan.stop.has(id)) {
        return;
      }
      yield plan.logProbabilities ? { id, logProbability: logProbability(values, id) } : id;
      if (count === plan.maxTokens || id === plan.eosTokenId) {
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
