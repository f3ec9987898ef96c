import { checkContext, checkIndex, checkOptions, checkSize, oneOf, or } from '../checks/check.js';
import { checkFloats } from '../tensor/operand.js';
import { describe } from '../checks/describe.js';
import { HeadwiseError, misfit, misshapen } from '../checks/error.js';
import { isObject } from '../checks/foreign.js';
import { matrixType } from '../engine/abi.js';
import { addressOf, Owned } from '../engine/owned.js';
import { sameShape } from '../tensor/shape.js';

/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */

/**
 * Options of `createCache`.
 * @typedef {object} CacheOptions
 * @property {number} [batch] the number of sequences; default 1, or the batch of past
 * @property {import('../attention/operands.js').Past} [past] the first contents of the cache, copied; key and value are
 *   [batch, heads, n, headDim]; n may be 0. Default: an empty cache
 * @property {'float32' | 'bfloat16' | 'float16'} [dtype] of keys and values in the cache; default 'float32'. With 16 bits it takes
 *   half the memory. Keys and values are rounded as they come, and are infinite as float16 beyond 65,504. Results, weights and traces
 *   are those of the rounded keys and values: traces are exact for what is stored
 */

/** A check of a cache's dtype. */
export const checkCacheType = or(
  oneOf(/** @type {const} */ (['float32', 'bfloat16', 'float16'])),
  'float32',
);

/** @typedef {{ heads: number, headDim: number, contextLength: number }} CacheSizes of a sequence in it */

/**
 * @param {unknown} past
 * @param {number | undefined} batch
 * @param {CacheSizes} sizes
 * @returns {{ key: FloatOperand, value: FloatOperand }}
 */
function checkPast(past, batch, { heads, headDim, contextLength }) {
  const given = checkOptions(past, ['key', 'value'], 'past', 'past');
  const key = checkFloats(given.key, 'past.key');
  const value = checkFloats(given.value, 'past.value');
  const [own, ownHeads, tokens, width] = key.shape;
  const fits = key.shape.length === 4 && ownHeads === heads && width === headDim;
  if (!fits || own === 0 || own !== (batch ?? own)) {
    throw misshapen(key.shape, 'past.key', `[${batch ?? 'batch'}, ${heads}, n, ${headDim}]`);
  }
  if (!sameShape(value.shape, key.shape)) {
    throw misshapen(value.shape, 'past.value', `${describe(key.shape)}, as past.key`);
  }
  checkContext(tokens, 'past', contextLength, 'ERR_VALUE');
  return { key, value };
}

/** Whether a value is a cache, and not only a Proxy of one. @type {(value: unknown) => value is KeyValueCache} */
let isCache;

/**
 * @param {unknown} value
 * @returns {KeyValueCache | undefined}
 * @throws {HeadwiseError} ERR_VALUE: neither a cache nor undefined
 */
export function checkCache(value) {
  if (value !== undefined && !isCache(value)) {
    throw misfit(value, 'cache', 'what createCache returns');
  }
  return value;
}

/** @param {readonly number[]} lengths of sequences */
const longest = (lengths) => lengths.reduce((most, length) => Math.max(most, length));

/**
 * The keys and values of earlier tokens of an attention module, so that `forward` computes new tokens only. `createCache`
 * of the module makes it. Its memory grows with its tokens, and `dispose` frees it.
 */
export class KeyValueCache extends Owned {
  #engine;
  #module;
  #batch;
  #capacity;

  static {
    isCache = (value) => isObject(value) && #batch in value;
  }

  /**
   * @internal
   * @param {import('./module.js').Module} module that it is for
   * @param {CacheSizes} sizes
   * @param {CacheOptions} [options]
   */
  constructor(module, sizes, options) {
    const given = checkOptions(options, ['batch', 'past', 'dtype'], 'createCache');
    const asked = given.batch === undefined ? undefined : checkSize(given.batch, 'batch');
    const dtype = checkCacheType(given.dtype, 'dtype');
    const past = given.past === undefined ? undefined : checkPast(given.past, asked, sizes);
    // No code of the caller's runs from here on.
    const { engine } = module;
    const pointer = addressOf(module);
    const { contextLength } = sizes;
    const batch = past?.key.shape[0] ?? asked ?? 1;
    const [key, value] = engine.lay([past?.key, past?.value]);
    const tokens = past?.key.shape[2] ?? 0;
    engine.check(
      engine.call.module_create_cache(pointer, batch, key, value, tokens, matrixType[dtype]),
      `a cache of ${batch} × ${contextLength} tokens`,
    );
    super(engine, engine.result, 'cache_destroy');
    this.#engine = engine;
    this.#module = module;
    /** The number of sequences. @readonly */
    this.batch = batch;
    /** The largest number of tokens of each sequence: the module's contextLength. @readonly */
    this.capacity = contextLength;
    /** The type of keys and values in the cache. @readonly */
    this.dtype = dtype;
    this.#batch = batch;
    this.#capacity = contextLength;
  }

  #live() {
    return addressOf(this, 'cache');
  }

  /**
   * @internal
   * @param {object} module the one that is about to append
   * @returns {number} the cache's address
   */
  addressFor(module) {
    const pointer = this.#live();
    if (this.#module !== module) {
      throw new HeadwiseError(
        'ERR_VALUE',
        'cache belongs to another module; expected one that this module created',
      );
    }
    return pointer;
  }

  /**
   * @internal
   * @param {number} batch
   * @param {number} tokens that are about to be appended
   * @param {string} name of what they are in
   * @param {ArrayLike<number> | undefined} lengths of sequences that differ
   * @returns {number} the most tokens of a sequence that is there
   */
  checkRoom(batch, tokens, name, lengths) {
    if (batch !== this.#batch) {
      throw new HeadwiseError(
        'ERR_SHAPE',
        `${name} has ${batch} sequences; expected ${this.#batch}, the cache's batch`,
      );
    }
    const capacity = this.#capacity;
    const stored = this.#lengths();
    stored.forEach((length, row) => {
      const more = lengths?.[row] ?? tokens;
      if (more > capacity - length) {
        throw new HeadwiseError(
          'ERR_VALUE',
          `${name} has ${more} tokens and cache ${length}; expected at most contextLength, ${capacity}, together`,
        );
      }
    });
    return longest(stored);
  }

  /** The number of tokens in the cache; of sequences that differ, the largest. */
  get length() {
    return longest(this.#lengths());
  }

  /** The number of tokens of each sequence in the cache. */
  get lengths() {
    return this.#lengths();
  }

  #lengths() {
    const at = this.#engine.call.cache_lengths(this.#live()) >>> 2;
    return [...this.#engine.words.subarray(at, at + this.#batch)];
  }

  /**
   * Keeps the first `length` tokens and drops the others.
   * @param {number} length the number of tokens to keep
   * @returns {this}
   * @throws {HeadwiseError} ERR_VALUE: not an integer from 0 to this.length
   */
  truncate(length) {
    const kept = checkIndex(length, 'length', longest(this.#lengths()) + 1);
    this.#engine.call.cache_truncate(this.#live(), kept);
    return this;
  }

  /** The class name, for consoles. Vue makes no proxy of an object that has a tag. */
  get [Symbol.toStringTag]() {
    return 'KeyValueCache';
  }
}
