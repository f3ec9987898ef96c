import { data } from '../../helpers.js';
import { bools, x } from './inputs.js';

/** @typedef {import('../../helpers.js').Engine} Engine */
/** @typedef {import('./inputs.js').Call} Call */

const heads = { dIn: 3, dOut: 4, contextLength: 6, numHeads: 2 };
const block = { dModel: 4, numHeads: 2, dFf: 6, dropout: 0, norm: 'pre', isCausal: true };

/**
 * A class of modules: its constructor, and what comes out of a forward.
 * @param {string} name
 * @param {object} options
 * @param {number[]} [shape] of the forward's x
 * @param {() => object} [forwardOptions]
 * @returns {Record<string, (hw: Engine) => Call>}
 */
function moduleCalls(name, options, shape, forwardOptions) {
  const make = (/** @type {Engine} */ hw, /** @type {any} */ given = options) =>
    new /** @type {any} */ (hw)[name](given);
  return {
    [`new ${name}`]: (hw) => ({
      args: [{ ...options }],
      run(given) {
        hw.manualSeed(1);
        return make(hw, given);
      },
    }),
    [`${name}.loadStateDict`]: (hw) => {
      const module = make(hw);
      const entries = Object.entries(module.stateDict());
      const dict = Object.fromEntries(
        entries.map(([key, value], i) => [key, x(i, [.../** @type {any} */ (value).shape])]),
      );
      return { args: [dict], run: (given) => module.loadStateDict(given), owned: [module] };
    },
    [`${name}.train`]: (hw) => {
      const module = make(hw);
      return { args: [false], run: (mode) => module.train(mode), owned: [module] };
    },
    ...(shape === undefined
      ? {}
      : {
          [`${name}.forward`]: (/** @type {Engine} */ hw) => {
            const module = make(hw);
            const args = [x(1, shape), ...(forwardOptions ? [forwardOptions()] : [])];
            return {
              args,
              run: module.forward.bind(module),
              owned: [module],
            };
          },
        }),
  };
}

const asked = () => ({
  mask: bools([3, 3]),
  isCausal: true,
  keyPaddingMask: bools([3]),
  needWeights: true,
  trace: true,
});

/** @type {Record<string, (hw: Engine) => Call>} */
export const modules = {
  ...moduleCalls('Linear', { inFeatures: 3, outFeatures: 4, bias: true }, [2, 3]),
  ...moduleCalls('Embedding', { numEmbeddings: 5, embeddingDim: 3 }),
  ...moduleCalls('LayerNorm', { dim: 3, eps: 1e-5 }, [2, 3]),
  ...moduleCalls('SelfAttentionV1', { dIn: 3, dOut: 2 }, [3, 3], asked),
  ...moduleCalls('SelfAttentionV2', { dIn: 3, dOut: 2, qkvBias: true }, [3, 3], asked),
  ...moduleCalls('CausalAttention', { dIn: 3, dOut: 2, contextLength: 6 }, [3, 3], asked),
  ...moduleCalls('MultiHeadAttentionWrapper', { ...heads, isCausal: true }, [3, 3], asked),
  ...moduleCalls('MultiHeadAttention', { ...heads, packedQkv: false }, [3, 3], asked),
  ...moduleCalls('FeedForward', { dModel: 3, dFf: 5, dropout: 0 }, [2, 3]),
  ...moduleCalls('TransformerBlock', block, [3, 4], asked),
  ...moduleCalls('TransformerStack', { ...block, numLayers: 2 }, [3, 4], asked),
};

/** @type {Record<string, (hw: Engine) => Call>} */
export const caches = {
  'forward with a cache': (hw) => {
    const module = new hw.MultiHeadAttention(heads);
    const cache = module.createCache();
    module.forward(data(4, [1, 2, 3]), { cache });
    return {
      args: [x(1, [1, 2, 3]), { cache, mask: bools([2, 4]) }],
      run(given, options) {
        const result = module.forward(given, options);
        return [result, cache.length];
      },
      owned: [module, cache],
    };
  },
  createCache: (hw) => {
    const module = new hw.MultiHeadAttention(heads);
    const past = { key: x(1, [1, 2, 3, 2]), value: x(2, [1, 2, 3, 2]) };
    return {
      args: [{ batch: 1, past, dtype: 'bfloat16' }],
      run: (given) => module.createCache(given).length,
      owned: [module],
    };
  },
  truncate: (hw) => {
    const module = new hw.MultiHeadAttention(heads);
    const cache = module.createCache();
    module.forward(data(4, [1, 3, 3]), { cache });
    return {
      args: [2],
      run: (length) => cache.truncate(length).length,
      owned: [module, cache],
    };
  },
  fromWrapper: (hw) => {
    const wrapper = new hw.MultiHeadAttentionWrapper(heads);
    return {
      args: [wrapper],
      run: (given) => hw.MultiHeadAttention.fromWrapper(given),
      owned: [wrapper],
    };
  },
};

/**
 * @param {string} method
 * @param {() => object} where
 * @returns {(hw: Engine) => Call}
 */
const traceCall = (method, where) => (hw) => {
  const module = new hw.MultiHeadAttention(heads);
  const { trace } = module.forward(data(4, [1, 3, 3]), { trace: true });
  return {
    args: [{ batch: 0, head: 1, ...where() }],
    run: (given) => /** @type {any} */ (trace)[method](given),
    owned: [module, /** @type {any} */ (trace)],
  };
};

/** @type {Record<string, (hw: Engine) => Call>} */
export const traces = {
  'trace.weights': traceCall('weights', () => ({ rows: [0, 2] })),
  'trace.map': traceCall('map', () => ({ size: 2 })),
  'trace.norms': traceCall('norms', () => ({ rows: [0, 2] })),
  'trace.values': traceCall('values', () => ({})),
  'trace.output': traceCall('output', () => ({})),
};
