import {
  checkBelow,
  checkBoolean,
  checkContext,
  checkOptions,
  checkProbability,
  checkSignal,
  checkSize,
} from '../checks/check.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { copyList, isA } from '../checks/foreign.js';
import { checkSeedWord, random } from '../tensor/functions.js';
import { unnested } from '../modules/forward-options.js';
import { checkCacheType, KeyValueCache } from '../modules/key-value-cache.js';
import { checkId, checkTexts } from '../tensor/ids.js';
import { noValueYet, withoutSteps } from '../worker/steps.js';
import { MersenneTwister } from './mersenne-twister.js';
import { sample } from './sample.js';

/** @typedef {import('./language-model.js').LanguageModel} LanguageModel */
/** @typedef {import('../tensor/ids.js').Ids} Ids */
/** @typedef {import('../tensor/make-tensor.js').NumberArray} NumberArray */
/** @typedef {import('../tensor/make-tensor.js').BigIntArray} BigIntArray */

/**
 * A generated token with its log-probability.
 * @typedef {object} Generated
 * @property {number} id of the token
 * @property {number} logProbability the natural logarithm of the token's probability in the softmax of all logits, without
 *   temperature, topK and topP
 */

/**
 * Options of `generate`.
 * @template {boolean} [WithLogProbability=false]
 * @typedef {object} GenerateOptions
 * @property {number} [maxTokens] the largest number of tokens; default 20; Infinity: until something else ends it
 * @property {number} [temperature] 0: take the most likely token, the first of equals; above 0: draw. Default 1, of a Gpt2 0
 * @property {number} [topK] draw among the topK most likely tokens, and those as likely as the last of them; default 0: all
 * @property {number} [topP] of these, draw among the fewest most likely tokens whose probabilities sum to topP, the first of equals;
 *   default 1: all; 0: the most likely
 * @property {number | bigint} [seed] seeds this generation's own random numbers: they equal those of hw.rand after
 *   hw.manualSeed(seed). Default: drawn from the engine's generator with the first token
 * @property {number | bigint} [eosTokenId] of a Gpt2 only: stop after this token, which is returned. A Decoder takes `stop`
 * @property {number | bigint | readonly (number | bigint)[] | NumberArray | BigIntArray} [stop] stop before this token, or before any
 *   of several
 * @property {AbortSignal} [signal] aborts between tokens, and in a Worker between 256 tokens of the ids; the loop throws its reason
 * @property {WithLogProbability} [logProbabilities] default false; true gives each token as { id, logProbability }
 * @property {import('../tensor/tensor.js').Tensor | import('../tensor/make-tensor.js').NestedNumbers} [headMask] as in forward
 * @property {KeyValueCache | Pick<import('../modules/key-value-cache.js').CacheOptions, 'dtype'>} [cache] from this model's createCache, batch 1: the ids
 *   and all generated tokens but the last are appended to it. Or options of a cache for this call only, the default: see createCache
 */

const known = [
  ...['maxTokens', 'temperature', 'topK', 'topP', 'seed', 'stop', 'signal'],
  ...['logProbabilities', 'headMask', 'cache'],
];

/** @param {number} batch @param {string} name */
function checkOne(batch, name) {
  if (batch !== 1) {
    throw new HeadwiseError(
      'ERR_SHAPE',
      `${name} has ${batch} sequences; expected 1, which generate continues`,
    );
  }
}

/** @param {unknown} ids @param {number} vocabSize */
function checkText(ids, vocabSize) {
  const { data, shape } = checkTexts(ids, vocabSize);
  checkOne(shape.length > 1 ? shape[0] : 1, 'ids');
  return data;
}

/** @param {unknown} stop an id, or a list of them @param {number} vocabSize @returns {Set<number>} */
function checkStop(stop, vocabSize) {
  const list = copyList(stop ?? []);
  if (list === undefined && typeof stop === 'object') {
    throw misfit(stop, 'stop', 'a token id or an array of them');
  }
  return new Set(
    list?.map((id, i) => checkId(id, `stop[${i}]`, vocabSize)) ?? [
      checkId(stop, 'stop', vocabSize),
    ],
  );
}

/**
 * @param {unknown} cache forward checks the rest of one
 * @returns {KeyValueCache | Pick<import('../modules/key-value-cache.js').CacheOptions, 'dtype'>} a cache, or options of one
 */
function checkGivenCache(cache) {
  if (!isA(cache, KeyValueCache)) {
    const { dtype } = checkOptions(cache, ['dtype'], 'cache', 'cache');
    return { dtype: checkCacheType(dtype, 'cache.dtype') };
  }
  checkOne(cache.batch, 'cache');
  return cache;
}

/** @param {LanguageModel} model whose engine's generator goes on by two numbers */
function drawSeed({ engine }) {
  const [upper, lower] = random(engine, 'rand', [2]).data;
  return upper * 2 ** 32 + Math.floor(lower * 256);
}

/**
 * The checked options of a generation.
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
 * How one generation chooses its tokens. A seed that is not given is drawn with the first token.
 * @param {LanguageModel} model
 * @param {number} vocabSize
 * @param {Plan} plan
 * @returns {(logits: number) => import('./generate.js').Generated} from the address of a token's logits
 */
function chooser(model, vocabSize, plan) {
  const { engine } = model;
  /** @type {MersenneTwister | undefined} */
  let numbers;
  return (logits) => {
    if (plan.temperature > 0) {
      numbers ??= new MersenneTwister(plan.seed ?? drawSeed(model));
    }
    // Ahead of them, where the input was, nobody looks any more.
    return sample(engine, plan, numbers?.uniform() ?? 0, logits, vocabSize, engine.stage(0));
  };
}

/**
 * What differs between classes of models.
 * @typedef {object} Defaults
 * @property {number} temperature
 * @property {boolean} takesEos whether there is an option eosTokenId
 */

/**
 * @template {boolean} [WithLogProbability=false]
 * @param {LanguageModel} model
 * @param {number} vocabSize
 * @param {Ids} ids
 * @param {GenerateOptions<WithLogProbability> | undefined} options
 * @param {Defaults} defaults
 * @returns {Generator<WithLogProbability extends true ? Generated : number, void, void>}
 */
export function generate(model, vocabSize, ids, options, { temperature, takesEos }) {
  const names = takesEos ? [...known, 'eosTokenId'] : known;
  const given = checkOptions(options, names, 'generate');
  const plan = {
    maxTokens:
      given.maxTokens === Infinity
        ? Infinity
        : checkSize(given.maxTokens ?? 20, 'maxTokens', 1, Infinity),
    temperature: checkBelow(given.temperature ?? temperature, 'temperature', Infinity),
    topK: Math.min(vocabSize, checkSize(given.topK ?? 0, 'topK', 0, Infinity) || vocabSize),
    topP: checkProbability(given.topP ?? 1, 'topP'),
    eosTokenId:
      given.eosTokenId === undefined ? -1 : checkId(given.eosTokenId, 'eosTokenId', vocabSize),
    stop: checkStop(given.stop, vocabSize),
    seed: given.seed === undefined ? undefined : checkSeedWord(given.seed),
    signal: checkSignal(given.signal),
    logProbabilities: checkBoolean(given.logProbabilities ?? false, 'logProbabilities'),
  };
  const own = {
    headMask: unnested(given.headMask, 'headMask'),
    cache: checkGivenCache(given.cache),
  };
  const text = checkText(ids, vocabSize);
  return /** @type {any} */ (withoutSteps(tokens(model, vocabSize, text, own, plan)));
}

/** So many of the first ids are read at a time. */
const readAtOnce = 256;

/**
 * @param {LanguageModel} model
 * @param {number} vocabSize
 * @param {Uint32Array} ids
 * @param {Pick<GenerateOptions<boolean>, 'headMask' | 'cache'>} given
 * @param {Plan} plan
 * @returns {Generator<number | Generated | typeof noValueYet, void, void>}
 */
function* tokens(model, vocabSize, ids, { headMask, cache: given }, plan) {
  const cache = isA(given, KeyValueCache) ? given : model.createCache(given);
  const options = { headMask, cache };
  const choose = chooser(model, vocabSize, plan);
  const { length } = cache;
  // Of what does not fit nothing is read: forward says so.
  const fits = ids.length <= cache.capacity - length;
  let next = ids;
  let count = 0;
  try {
    if (cache !== given) checkContext(ids.length, 'ids', cache.capacity, 'ERR_VALUE');
    for (;;) {
      plan.signal?.throwIfAborted();
      if (fits && next.length > readAtOnce) {
        model.forward(next.slice(0, readAtOnce), { ...options, logits: 'none' });
        next = next.slice(readAtOnce);
        yield noValueYet;
        continue;
      }
      const chosen = model.choose(next, options, choose);
      const { id } = chosen;
      count++;
      if (plan.stop.has(id)) {
        return;
      }
      yield plan.logProbabilities ? chosen : id;
      const isLast = count === plan.maxTokens || id === plan.eosTokenId;
      if (isLast || cache.length === cache.capacity) {
        return;
      }
      next = Uint32Array.of(id);
    }
  } finally {
    if (cache !== given) {
      cache.dispose();
    } else if (count === 0) {
      try {
        cache.truncate(length);
      } catch {
        // Between two steps the caller has disposed of it, or truncated it.
      }
    }
  }
}
