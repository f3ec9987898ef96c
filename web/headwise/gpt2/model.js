import {
  checkBoolean,
  checkChoice,
  checkEps,
  checkFloats,
  checkOptions,
  checkShape,
  checkSize,
} from '../check.js';
import { describe } from '../describe.js';
import { aligned } from '../engine.js';
import { HeadwiseError } from '../error.js';
import { random } from '../functions.js';
import { engineOf, Headwise } from '../headwise.js';
import { optionWords, writeOptions } from '../modules/attention-module.js';
import { checkIds } from '../modules/embedding.js';
import { KeyValueCache } from '../modules/key-value-cache.js';
import { createModule, Module } from '../modules/module.js';
import { sizeOf, Tensor, tensor } from '../tensor.js';
import { Trace } from '../trace.js';
import { generate } from './generate.js';
import { canonicalName, gpt2Parameters, isImplied, wteRows } from './parameters.js';

/** @typedef {import('../modules/embedding.js').Ids} Ids */
/** @typedef {import('../tensor.js').NestedArray} NestedArray */

/**
 * What a Gpt2 is made with.
 * @typedef {object} Gpt2Options
 * @property {number} vocabSize how many token ids there are
 * @property {number} contextLength the most tokens
 * @property {number} dModel width of the embeddings
 * @property {number} numHeads a divisor of dModel
 * @property {number} numLayers blocks
 * @property {number} [dFf] of the feed-forward's hidden activations; default 4 · dModel
 * @property {number} [eps] what the layer norms add to the variance; default 1e-5
 * @property {'tanh' | 'none'} [approximate] how GELU is computed; default 'tanh', as GPT-2's gelu_new
 */

/**
 * What a forward may be asked for.
 * @typedef {object} Gpt2ForwardOptions
 * @property {'last' | 'all' | 'none' | readonly [number, number]} [logits] of which tokens: the last (default), all, none, or
 *   those from start up to but not including end
 * @property {boolean} [trace] default false: keep what exact weights can be recomputed from
 * @property {boolean} [needWeights] default false: return every layer's exact weights, which are quadratic in tokens
 * @property {Tensor | NestedArray} [headMask] [numLayers, numHeads]: what each head's output is multiplied by; 0 mutes it.
 *   Its own layer's trace and weights stay as they are; later layers read what is left
 * @property {KeyValueCache} [cache] of this model's createCache: the ids are appended to it
 */

/**
 * What a forward returns: what it was asked for.
 * @typedef {object} Gpt2Result
 * @property {Tensor} [logits] [batch, tokens, vocabSize] of the tokens that were asked for; without batch if ids had none
 * @property {Trace[]} [trace] one for each layer, the caller's to dispose of
 * @property {Tensor[]} [weights] one for each layer, [batch, heads, Lq, Lkv]
 */

const optionNames = /** @type {const} */ ([
  ...['vocabSize', 'contextLength', 'dModel', 'numHeads', 'numLayers'],
  ...['dFf', 'eps', 'approximate'],
]);

const forwardNames = ['logits', 'trace', 'needWeights', 'headMask', 'cache'];

/** Standard deviation of GPT-2's initial weights. */
const initialDeviation = 0.02;

/** @param {unknown} hw */
export function checkEngine(hw) {
  if (!(hw instanceof Headwise)) {
    throw new HeadwiseError('ERR_VALUE', `hw is ${describe(hw)}; expected what load() gives`);
  }
  return engineOf(hw);
}

/** @param {unknown} options */
function checkGpt2Options(options) {
  const given = checkOptions(options, optionNames, 'Gpt2');
  const dModel = checkSize(given.dModel, 'dModel');
  const checked = {
    vocabSize: checkSize(given.vocabSize, 'vocabSize'),
    contextLength: checkSize(given.contextLength, 'contextLength'),
    dModel,
    numHeads: checkSize(given.numHeads, 'numHeads'),
    numLayers: checkSize(given.numLayers, 'numLayers'),
    dFf: checkSize(given.dFf ?? 4 * dModel, 'dFf'),
    eps: checkEps(given.eps),
    approximate: checkChoice(given.approximate ?? 'tanh', 'approximate', ['tanh', 'none']),
  };
  if (dModel % checked.numHeads !== 0) {
    throw new HeadwiseError(
      'ERR_SHAPE',
      `dModel is ${dModel}; expected a multiple of numHeads, ${checked.numHeads}`,
    );
  }
  return checked;
}

/**
 * @param {unknown} logits
 * @param {number} tokens
 * @returns {readonly [number, number]}
 */
function checkLogits(logits, tokens) {
  /** @type {Map<unknown, unknown>} */
  const named = new Map([
    ['last', [tokens - 1, tokens]],
    ['all', [0, tokens]],
    ['none', [0, 0]],
  ]);
  const range = named.get(logits) ?? logits;
  const isPair = Array.isArray(range) && range.length === 2 && range.every(Number.isInteger);
  const [start, end] = isPair ? range : [1, 0];
  if (start < 0 || end < start || end > tokens) {
    const pair = `[start, end] with 0 <= start <= end <= ${tokens}`;
    throw new HeadwiseError(
      'ERR_VALUE',
      `logits is ${describe(logits)}; expected "last", "all", "none" or ${pair}`,
    );
  }
  return [start, end];
}

/**
 * GPT-2 (Radford et al. 2019) for inference: embeddings of tokens and positions, pre-norm blocks, a last layer norm, and the
 * token embedding as output head. State dict: Hugging Face's, wte.weight, wpe.weight, h.0.ln_1.weight,
 * h.0.attn.c_attn.weight [dModel, 3 · dModel] and so on; names may begin with transformer. on loading.
 */
export class Gpt2 extends Module {
  #parameters;

  /**
   * Weights are drawn by randn, times 0.02 as GPT-2's, in the state dict's order; biases are zeros.
   * @param {Headwise} hw the engine that it lives in
   * @param {Gpt2Options} options
   * @param {boolean} [draw] false: leave the weights zero and the generator where it is
   * @throws {HeadwiseError} ERR_SHAPE, ERR_VALUE, ERR_MEMORY
   */
  constructor(hw, options, draw = true) {
    const engine = checkEngine(hw);
    const checked = checkGpt2Options(options);
    const { vocabSize, dModel, numLayers, approximate } = checked;
    // Of the engine's config a zero eps is the default; to any variance the least double is a zero.
    const engineOptions = { ...checked, eps: checked.eps || Number.MIN_VALUE };
    const values = optionNames.slice(0, -1).map((name) => Number(engineOptions[name]));
    const what = `a Gpt2 of ${numLayers} layers × ${dModel} and ${vocabSize} tokens`;
    const pointer = createModule(
      engine,
      'gpt2_create',
      [...values, approximate === 'tanh' ? 1 : 0],
      what,
    );
    const parameters = gpt2Parameters(engine, pointer, checked);
    super(engine, { pointer, destroy: 'gpt2_destroy', parameters });
    /**
     * What the model was made with, defaults filled in.
     * @type {Readonly<Required<Gpt2Options>>}
     */
    this.options = Object.freeze(checked);
    this.#parameters = parameters;
    if (draw) {
      this.#draw();
    }
  }

  #draw() {
    try {
      for (const { shape, write } of this.#parameters.filter((each) => each.shape.length === 2)) {
        const drawn = random(this.engine, 'randn', shape);
        drawn.data.forEach((value, i) => (drawn.data[i] = value * initialDeviation));
        write(this.engine, drawn);
      }
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  /**
   * @override
   * @protected
   * @param {string} key
   */
  canonicalKey(key) {
    return canonicalName(key);
  }

  /**
   * @override
   * @protected
   * @param {string} key
   */
  ignoresEntry(key) {
    return isImplied(canonicalName(key));
  }

  /** @internal */
  parametersByKey() {
    return new Map(this.#parameters.map((parameter) => [parameter.key, parameter]));
  }

  /**
   * @internal
   * @param {number} firstRow
   * @param {Float32Array} data whole rows of wte.weight
   */
  loadEmbeddingRows(firstRow, data) {
    const { dModel } = this.options;
    const rows = data.length / dModel;
    const part = wteRows(this.engine, this.pointer, firstRow, rows, this.options);
    part.write(this.engine, new Tensor(data, [rows, dModel]));
  }

  /**
   * Room for the keys and values of all layers and up to contextLength tokens, for `forward` to append to.
   * @param {{ batch?: number }} [options] batch: sequences; default 1
   * @returns {KeyValueCache}
   * @throws {HeadwiseError} ERR_VALUE, ERR_MEMORY, ERR_DISPOSED
   */
  createCache(options) {
    const { engine, pointer } = this;
    const { dModel, numHeads, contextLength } = this.options;
    const owner = {
      module: this,
      heads: numHeads,
      headDim: dModel / numHeads,
      contextLength,
      create: (/** @type {number} */ batch) => engine.call.gpt2_create_cache(pointer, batch),
    };
    return new KeyValueCache(engine, owner, checkOptions(options, ['batch'], 'createCache'));
  }

  /**
   * @param {Ids} ids
   * @param {KeyValueCache | undefined} cache
   */
  #checkInput(ids, cache) {
    const { vocabSize, contextLength } = this.options;
    const checked = checkIds(ids, vocabSize);
    const { shape } = checked;
    if (shape.length !== 1 && shape.length !== 2) {
      const expected = '[tokens] or [batch, tokens]';
      throw new HeadwiseError(
        'ERR_SHAPE',
        `ids has shape ${describe(shape)}; expected ${expected}`,
      );
    }
    const tokens = shape[shape.length - 1];
    const batch = shape.length === 2 ? shape[0] : 1;
    const stored = cache?.checkRoom(batch, tokens, 'ids') ?? 0;
    if (tokens > contextLength) {
      throw new HeadwiseError(
        'ERR_SHAPE',
        `ids has ${tokens} tokens; expected at most contextLength, ${contextLength}`,
      );
    }
    return { ids: checked.ids, batch, tokens, stored, leading: shape.slice(0, -1) };
  }

  /** @param {Tensor | NestedArray | undefined} headMask */
  #checkHeadMask(headMask) {
    if (headMask === undefined) {
      return undefined;
    }
    const { numLayers, numHeads } = this.options;
    const isNested = Array.isArray(headMask);
    const mask = checkFloats(isNested ? tensor(headMask) : headMask, 'headMask');
    const fits = describe(mask.shape) === describe([numLayers, numHeads]);
    const expected = `[${numLayers}, ${numHeads}], layers and heads`;
    checkShape(mask, 'headMask', fits, () => expected);
    return mask;
  }

  /** @param {unknown} cache */
  #checkCache(cache) {
    if (cache !== undefined && !(cache instanceof KeyValueCache)) {
      const found = describe(cache);
      throw new HeadwiseError('ERR_VALUE', `cache is ${found}; expected what createCache returns`);
    }
    return cache;
  }

  /**
   * Predicts the token after each of the ids.
   * @param {Ids} ids [tokens] or [batch, tokens]: nested arrays, a typed array or a float32 tensor
   * @param {Gpt2ForwardOptions} [options]
   * @returns {Gpt2Result}
   * @throws {HeadwiseError} ERR_SHAPE: more tokens than contextLength, or a cache of another batch; ERR_VALUE: an id that is
   *   none, or no room in the cache; ERR_MEMORY; ERR_DISPOSED. After any error the cache is as it was
   */
  forward(ids, options) {
    const { pointer, engine } = this;
    const given = checkOptions(options, forwardNames, 'Gpt2.forward');
    const cache = this.#checkCache(given.cache);
    const cacheAt = cache?.addressFor(this) ?? 0;
    const input = this.#checkInput(ids, cache);
    const { batch, tokens, stored } = input;
    const { numLayers, numHeads, vocabSize } = this.options;
    const [start, end] = checkLogits(given.logits ?? 'last', tokens);
    const headMask = this.#checkHeadMask(given.headMask);
    const needWeights = checkBoolean(given.needWeights ?? false, 'needWeights');
    const trace = checkBoolean(given.trace ?? false, 'trace');
    const weightsShape = [batch, numHeads, tokens, stored + tokens];
    const logitsShape = [...input.leading, end - start, vocabSize];

    const idBytes = aligned(input.ids.byteLength);
    const logitsBytes = aligned(sizeOf(logitsShape, 'logits') * 4);
    const layerBytes = needWeights ? sizeOf(weightsShape, 'weights') * 4 : 0;
    const weightsBytes = aligned(numLayers * layerBytes);
    const maskBytes = aligned(headMask?.data.byteLength ?? 0);
    const bytes = idBytes + logitsBytes + weightsBytes + maskBytes + (optionWords + numLayers) * 4;
    const at = engine.stage(bytes);
    const logitsAt = at + idBytes;
    const weightsAt = logitsAt + logitsBytes;
    const maskAt = weightsAt + weightsBytes;
    engine.words.set(input.ids, at / 4);
    if (headMask !== undefined) {
      engine.write(maskAt, headMask);
    }
    const asked = writeOptions(engine, maskAt + maskBytes, {
      weights: needWeights ? weightsAt : 0,
      trace,
      cache: cacheAt,
      headMask: headMask === undefined ? 0 : maskAt,
    });
    const status = engine.call.gpt2_forward(
      ...[pointer, at, batch, tokens, start, end, logitsAt, asked],
    );
    engine.check(status, 'Gpt2.forward');
    const tracesAt = asked / 4 + optionWords;
    const traces = Array.from(
      engine.words.slice(tracesAt, tracesAt + (trace ? numLayers : 0)),
      (each) => new Trace(engine, each, weightsShape),
    );
    try {
      /** @type {Gpt2Result} */
      const result = {};
      if (end > start) {
        result.logits = engine.read(logitsAt, logitsShape);
      }
      if (needWeights) {
        result.weights = Array.from({ length: numLayers }, (_, layer) =>
          engine.read(weightsAt + layer * layerBytes, weightsShape),
        );
      }
      if (trace) {
        result.trace = traces;
      }
      return result;
    } catch (error) {
      traces.forEach((each) => each.dispose());
      cache?.truncate(stored);
      throw error;
    }
  }

  /**
   * Continues the ids, one token after another: greedily, or drawn from the softmax of logits / temperature by the engine's
   * random numbers; with topK among the likeliest only (Fan, Lewis & Dauphin 2018). To end early, leave the loop. It ends by
   * itself where the context is full.
   * @param {Ids} ids [tokens]
   * @param {import('./generate.js').GenerateOptions} [options]
   * @returns {Generator<number, void, void>} of ids. Options are checked at once, ids and cache when the first one is asked for
   * @throws {HeadwiseError} ERR_VALUE, ERR_SHAPE: a bad option; otherwise as forward
   */
  generate(ids, options) {
    return generate(this, ids, options);
  }
}
