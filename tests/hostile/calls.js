// Every public call that takes something of the caller's, with arguments that fit: what the hostile cases are made of.
import { readFileSync } from 'node:fs';
import { load, Tensor, tensor, zeros } from 'headwise';
import {
  openSafetensors,
  readGpt2Config,
  readNpy,
  readSafetensors,
  writeNpy,
  writeSafetensors,
} from 'headwise/formats';
import { Gpt2, loadGpt2 } from 'headwise/gpt2';
import { Decoder, Encoder, loadModel } from 'headwise/models';
import { MultiheadAttention, TransformerEncoderLayer } from 'headwise/torch';
import {
  ablation,
  composition,
  flow,
  headScores,
  logitLens,
  patching,
  qkAttribution,
  rollout,
  sinks,
} from 'headwise/understanding';
import { transfer } from 'headwise/worker';
import { data } from '../helpers.js';

/** @typedef {import('../helpers.js').Engine} Engine */

/**
 * One call: its arguments, and what the caller can end while it runs.
 * @typedef {object} Call
 * @property {any[]} args
 * @property {(...args: any[]) => any} run
 * @property {{ dispose: () => void }[]} [owned] the module, the cache, the trace
 */

const heads = { dIn: 3, dOut: 4, contextLength: 6, numHeads: 2 };
const block = { dModel: 4, numHeads: 2, dFf: 6, dropout: 0, norm: 'pre', isCausal: true };
const gpt2 = { vocabSize: 9, contextLength: 6, dModel: 4, numHeads: 2, numLayers: 2 };

/** @param {number} seed @param {number[]} shape */
const x = (seed, shape) => resizable(data(seed, shape));

/**
 * The same values in a buffer that can grow and shrink, of which the array is all.
 * @param {import('../../web/headwise/tensor/tensor.js').AnyTensor} from
 */
function resizable({ data: values, shape }) {
  const bytes = values.byteLength;
  const buffer = new /** @type {any} */ (ArrayBuffer)(bytes, { maxByteLength: bytes + 4096 });
  const Type = values instanceof Float32Array ? Float32Array : Uint8Array;
  const array = new Type(buffer);
  array.set(values);
  const made = new Tensor(/** @type {Float32Array} */ (array), shape);
  made.shape = [...shape];
  return made;
}

const bools = (/** @type {number[]} */ shape) =>
  resizable(
    new Tensor(/** @type {any} */ (new Uint8Array(zeros(shape).data.length).fill(1)), shape),
  );

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
const modules = {
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

const layer = { dModel: 4, nhead: 2, dimFeedforward: 6, dropout: 0, batchFirst: true };

/** @type {Record<string, (hw: Engine) => Call>} */
const torchModules = {
  'new MultiheadAttention': (hw) => ({
    args: [hw, { embedDim: 4, numHeads: 2, kdim: 3, vdim: 5, bias: true, batchFirst: true }],
    run(...given) {
      hw.manualSeed(1);
      return new MultiheadAttention(.../** @type {[any, any]} */ (given));
    },
  }),
  'MultiheadAttention.forward': (hw) => {
    const module = new MultiheadAttention(hw, { embedDim: 4, numHeads: 2 });
    const masks = { attnMask: x(5, [3, 2]), keyPaddingMask: bools([1, 2]) };
    return {
      args: [x(1, [3, 1, 4]), x(2, [2, 1, 4]), x(3, [2, 1, 4]), { ...masks, isCausal: true }],
      run: module.forward.bind(module),
      owned: [module],
    };
  },
  'new TransformerEncoderLayer': (hw) => ({
    args: [hw, { ...layer, activation: 'gelu', normFirst: true, layerNormEps: 1e-5 }],
    run(...given) {
      hw.manualSeed(1);
      return new TransformerEncoderLayer(.../** @type {[any, any]} */ (given));
    },
  }),
  'TransformerEncoderLayer.forward': (hw) => {
    const module = new TransformerEncoderLayer(hw, layer);
    const masks = { srcMask: bools([3, 3]), srcKeyPaddingMask: x(6, [1, 3]) };
    return {
      args: [x(1, [1, 3, 4]), { ...masks, isCausal: true, needWeights: true, trace: true }],
      run: module.forward.bind(module),
      owned: [module],
    };
  },
  'TransformerEncoderLayer.loadStateDict': (hw) => {
    const module = new TransformerEncoderLayer(hw, layer);
    const entries = Object.entries(module.stateDict());
    const dict = Object.fromEntries(entries.map(([key, { shape }], i) => [key, x(i, [...shape])]));
    return { args: [dict], run: (given) => module.loadStateDict(given), owned: [module] };
  },
};

/** @type {Record<string, (hw: Engine) => Call>} */
const caches = {
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

/** @param {(model: Gpt2, ...given: any[]) => any} run @param {(model: Gpt2) => any[]} args @returns {(hw: Engine) => Call} */
const gpt2Call = (run, args) => (hw) => {
  hw.manualSeed(5);
  const model = new Gpt2(hw, gpt2);
  return { args: args(model), run: (...given) => run(model, ...given), owned: [model] };
};

const bert = {
  ...{ model_type: 'bert', vocab_size: 7, hidden_size: 6, intermediate_size: 8 },
  ...{ num_hidden_layers: 2, num_attention_heads: 2, max_position_embeddings: 5 },
};

/** @param {(model: any, ...given: any[]) => any} run @param {() => any[]} args @returns {(hw: Engine) => Call} */
const encoderCall = (run, args) => (hw) => {
  hw.manualSeed(5);
  const model = new hw.Encoder(bert);
  return { args: args(), run: (...given) => run(model, ...given), owned: [model] };
};

const decoder = {
  ...{ model_type: 'gpt2', vocab_size: 9, n_positions: 6, n_embd: 4, n_head: 2, n_layer: 1 },
};

/** @param {any} Model @param {object} given its config @returns {(hw: Engine) => Call} */
const modelCall = (Model, given) => (hw) => ({
  args: [hw, { ...given }, { dropout: 0 }],
  run(...all) {
    hw.manualSeed(1);
    return new Model(...all);
  },
});

/** @type {Record<string, (hw: Engine) => Call>} */
const models = {
  'new Gpt2': (hw) => ({
    args: [hw, { ...gpt2 }],
    run(...given) {
      hw.manualSeed(1);
      return new Gpt2(.../** @type {[any, any]} */ (given));
    },
  }),
  'new Decoder': modelCall(Decoder, decoder),
  'new Encoder': modelCall(Encoder, bert),
  'Gpt2.loss': (hw) => {
    hw.manualSeed(1);
    const model = new Gpt2(hw, gpt2);
    return {
      args: [[[1, 2, 3]], [[2, -1, 4]], { ignoreIndex: -1, positionIds: [[2, 0, 1]] }],
      run: (ids, targets, options) => model.loss(ids, targets, options),
      owned: [model],
    };
  },
  'Encoder.loss': encoderCall(
    (model, ids, targets, options) => model.loss(ids, targets, options),
    () => [[[1, 2, 3]], [[2, -1, 4]], { ignoreIndex: -1, tokenTypes: [[0, 1, 1]], lengths: [2] }],
  ),
  'Encoder.forward': encoderCall(
    (model, ids, options) => model.forward(ids, options),
    () => [
      [[1, 2, 3]],
      {
        ...{ logits: 'all', tokenTypes: [[0, 1, 1]], lengths: [2], trace: true, needWeights: true },
        headMask: x(1, [2, 2]),
      },
    ],
  ),
  'Gpt2.forward': gpt2Call(
    (model, ids, options) => model.forward(ids, options),
    (model) => [
      [[1, 2, 3]],
      {
        logits: [1, 3],
        trace: true,
        needWeights: true,
        headMask: x(1, [2, 2]),
        cache: model.createCache(),
        positionIds: [[2, 0, 1]],
      },
    ],
  ),
  'Gpt2.forward from a layer': gpt2Call(
    (model, ids, options) => model.forward(ids, options),
    () => [
      [1, 2, 3],
      { start: { layer: 1, residual: x(2, [3, gpt2.dModel]) }, residuals: true, needWeights: true },
    ],
  ),
  ablation: gpt2Call(
    (_, ...given) => ablation(.../** @type {[any, any, any]} */ (given)),
    (model) => [
      model,
      [1, 2, 3],
      {
        ...{ target: 4, against: 2, position: 1, method: 'mean', texts: [[3, 1], [2]], seed: 3 },
        headMask: x(1, [2, 2]),
      },
    ],
  ),
  patching: gpt2Call(
    (_, ...given) => patching(.../** @type {[any, any]} */ (given)),
    (model) => [
      model,
      { clean: [1, 2, 3], corrupted: [1, 4, 3], target: 4, against: 2, of: 'heads', at: 1 },
    ],
  ),
  logitLens: gpt2Call(
    (_, ...given) => logitLens(.../** @type {[any, any, any]} */ (given)),
    (model) => [model, [1, 2, 3], { top: 2, target: 4, positions: [2, 0], headMask: x(1, [2, 2]) }],
  ),
  'Gpt2.createCache': gpt2Call(
    (model, given) => model.createCache(given).length,
    () => [{ batch: 1, dtype: 'float16' }],
  ),
  'Gpt2.generate with options of its cache': gpt2Call(
    (model, ids, options) => [...model.generate(ids, options)],
    () => [[1, 2], { maxTokens: 2, cache: { dtype: 'bfloat16' } }],
  ),
  'Gpt2.generate': gpt2Call(
    (model, ids, options) => [...model.generate(ids, options)],
    (model) => [
      Int32Array.of(1, 2),
      {
        maxTokens: 3,
        temperature: 1,
        topK: 4,
        topP: 0.9,
        seed: 3,
        eosTokenId: 8,
        stop: [7],
        logProbabilities: true,
        headMask: [
          [1, 0],
          [1, 1],
        ],
        cache: model.createCache(),
      },
    ],
  ),
  'Gpt2.loadStateDict': gpt2Call(
    (model, dict) => model.loadStateDict(dict),
    (model) => [
      Object.fromEntries(
        Object.entries(model.stateDict()).map(([key, { shape }], i) => [key, x(i, [...shape])]),
      ),
    ],
  ),
};

/** What a function over weights is given: a text of a model, and the traces of a forward. */
const overWeights = (/** @type {any} */ run, /** @type {object} */ options) => ({
  [`${run.name} of a text`]: gpt2Call(
    (_, ...given) => run(...given),
    (model) => [model, [1, 2, 3], { ...options }],
  ),
  [`${run.name} of traces`]: gpt2Call(
    (_, ...given) => run(...given),
    (model) => [model.forward([1, 2, 3], { trace: true }).trace, { ...options }],
  ),
});

/** @type {Record<string, (hw: Engine) => Call>} */
const understanding = {
  'Gpt2.forward with replace': gpt2Call(
    (model, ids, options) => model.forward(ids, options),
    () => [[1, 2, 3], { replace: [{ layer: 1, head: 0, output: x(1, [3, 2]) }] }],
  ),
  'Gpt2.attribution': gpt2Call(
    (model, ids, options) => model.attribution(ids, options),
    () => [
      [1, 2, 3],
      { position: 2, target: 4, against: 5, directions: true, headMask: x(1, [2, 2]) },
    ],
  ),
  'Gpt2.headCircuits': gpt2Call(
    (model, where) => model.headCircuits(where),
    () => [{ layer: 1, head: 0 }],
  ),
  ...overWeights(rollout, { residual: 0.5, upTo: 1, position: 2, batch: 0 }),
  ...overWeights(flow, { residual: 0.5, upTo: 1, position: 2, batch: 0 }),
  ...overWeights(sinks, { threshold: 0.4 }),
  headScores: gpt2Call(
    (_, ...given) => headScores(.../** @type {[any, any]} */ (given)),
    (model) => [model, { tokens: 3, seed: 1, batch: 2 }],
  ),
  composition: gpt2Call(
    (_, ...given) => composition(.../** @type {[any, any]} */ (given)),
    (model) => [model, { from: { layer: 0, head: 1 }, to: { layer: 1, head: 0 }, gains: true }],
  ),
  qkAttribution: gpt2Call(
    (_, ...given) => qkAttribution(.../** @type {[any, any, any]} */ (given)),
    (model) => [
      model,
      [1, 2, 3],
      { layer: 1, head: 0, query: 2, key: 1, pairs: true, headMask: x(1, [2, 2]) },
    ],
  ),
};

/** @type {Record<string, (hw: Engine) => Call>} */
const functions = {
  tensor: () => ({
    args: [
      [
        [1, 2],
        [3, 4],
      ],
      [4],
    ],
    run: tensor,
  }),
  'tensor of an array': () => ({ args: [x(1, [4]).data, [2, 2]], run: tensor }),
  'tensor of typed rows': () => ({
    args: [[x(1, [2]).data, Float64Array.of(1, 2)], [4]],
    run: tensor,
  }),
  zeros: () => ({ args: [[2, 3]], run: zeros }),
  reshape: () => ({ args: [[3, -1]], run: (shape) => data(1, [2, 3]).reshape(shape) }),
  permute: () => ({ args: [[1, 0]], run: (axes) => data(1, [2, 3]).permute(axes) }),
  slice: () => ({ args: [[0, 1]], run: (range) => data(1, [2, 3]).slice(range) }),
  'new Tensor': () => ({
    args: [x(1, [4]).data, [2, 2]],
    run: (...given) => new Tensor(.../** @type {[any, any]} */ (given)),
  }),
  manualSeed: (hw) => ({
    args: [7n],
    run(seed) {
      hw.manualSeed(seed);
      return hw.rand([2]);
    },
  }),
  rand: (hw) => ({
    args: [[2, 3]],
    run(shape) {
      hw.manualSeed(1);
      return hw.rand(shape);
    },
  }),
  matmul: (hw) => ({
    args: [x(1, [2, 2, 3]), x(2, [3, 4])],
    run: (...given) => hw.matmul(.../** @type {[any, any]} */ (given)),
  }),
  transpose: (hw) => ({ args: [x(1, [2, 3])], run: (a) => hw.transpose(a) }),
  add: (hw) => ({ args: [x(1, [2, 3]), x(2, [3])], run: (a, b) => hw.add(a, b) }),
  sum: (hw) => ({
    args: [x(1, [2, 3]), { axis: [0], keepDim: true }],
    run: (a, options) => hw.sum(a, options),
  }),
  dropout: (hw) => ({
    args: [x(1, [2, 3]), { p: 0.5 }],
    run(a, options) {
      hw.manualSeed(1);
      return hw.dropout(a, options);
    },
  }),
  embedding: (hw) => ({
    args: [[1, 0], x(1, [2, 3])],
    run: (ids, weight) => hw.embedding(ids, weight),
  }),
  mseLoss: (hw) => ({
    args: [x(1, [2, 3]), x(2, [2, 3]), { reduction: 'sum' }],
    run: (input, target, options) => hw.mseLoss(input, target, options),
  }),
  crossEntropy: (hw) => ({
    args: [x(1, [2, 3]), [1, -1], { ignoreIndex: -1, labelSmoothing: 0.5, reduction: 'none' }],
    run: (logits, targets, options) => hw.crossEntropy(logits, targets, options),
  }),
  rmsNorm: (hw) => ({
    args: [x(1, [2, 3]), { weight: x(2, [3]), eps: 0.5 }],
    run: (a, options) => hw.rmsNorm(a, options),
  }),
  relu: (hw) => ({ args: [x(1, [2, 3])], run: (a) => hw.relu(a) }),
  backward: (hw) => {
    const leaf = data(1, [2, 3]);
    leaf.requiresGrad = true;
    const loss = hw.enableGrad(() => hw.multiply(leaf, leaf));
    return {
      args: [x(2, [2, 3]), { retainGraph: true }],
      run(gradient, options) {
        loss.backward(gradient, options);
        return leaf.grad;
      },
    };
  },
  softmax: (hw) => ({ args: [x(1, [2, 3])], run: (a) => hw.softmax(a) }),
  gelu: (hw) => ({
    args: [x(1, [2, 3]), { approximate: 'tanh' }],
    run: (...given) => hw.gelu(.../** @type {[any]} */ (given)),
  }),
  layerNorm: (hw) => ({
    args: [x(1, [2, 3]), { weight: x(2, [3]), bias: x(3, [3]), eps: 0.1 }],
    run: (...given) => hw.layerNorm(.../** @type {[any]} */ (given)),
  }),
  causalMask: (hw) => ({ args: [3], run: (n) => hw.causalMask(n) }),
  scaledDotProductAttention: (hw) => ({
    args: [
      x(1, [1, 2, 3, 4]),
      x(2, [1, 2, 3, 4]),
      x(3, [1, 2, 3, 2]),
      {
        isCausal: true,
        causalOffset: 2,
        mask: bools([3, 4]),
        scale: 0.5,
        softcap: 3,
        window: [4, 1],
        enableGqa: true,
        kvLengths: [4],
        past: { key: x(4, [1, 2, 2, 4]), value: x(5, [1, 2, 2, 2]) },
        dropoutP: 0,
        needWeights: true,
      },
    ],
    run: (...given) => hw.scaledDotProductAttention(.../** @type {[any, any, any]} */ (given)),
  }),
  'Embedding.forward': (hw) => {
    const module = new hw.Embedding({ numEmbeddings: 5, embeddingDim: 3 });
    return {
      args: [
        [
          [1, 2],
          [0, 4],
        ],
      ],
      run: (ids) => module.forward(ids),
      owned: [module],
    };
  },
  'Embedding.forward of a tensor': (hw) => {
    const module = new hw.Embedding({ numEmbeddings: 5, embeddingDim: 3 });
    const ids = resizable(tensor([1, 2, 4]));
    return { args: [ids], run: (given) => module.forward(given), owned: [module] };
  },
  transfer: () => ({ args: [x(1, [2, 3])], run: (given) => void transfer(given) }),
  writeNpy: () => ({ args: [x(1, [2, 3])], run: writeNpy }),
  writeSafetensors: () => ({
    args: [{ a: x(1, [2, 3]), b: bools([2]) }, { format: 'pt' }],
    run: writeSafetensors,
  }),
};

/** @param {Engine} hw */
function trained(hw) {
  hw.manualSeed(4);
  const module = new hw.Linear({ inFeatures: 3, outFeatures: 2 });
  hw.enableGrad(() => hw.sum(module.forward(data(1, [2, 3])).output)).backward();
  return module;
}

/** @type {Record<string, (hw: Engine) => Call>} */
const training = {
  'Parameter.data': (hw) => {
    const module = trained(hw);
    const [, bias] = module.parameters();
    return {
      args: [x(1, [2])],
      run(value) {
        bias.data = value;
        return module.stateDict();
      },
      owned: [module],
    };
  },
  AdamW: (hw) => {
    const module = trained(hw);
    const [weight, bias] = module.parameters();
    return {
      args: [
        [{ params: [weight], lr: 0.5, betas: [0.5, 0.5] }, { params: [bias] }],
        { weightDecay: 0, eps: 1e-8 },
      ],
      run(groups, options) {
        new hw.AdamW(groups, options).step();
        return module.stateDict();
      },
      owned: [module],
    };
  },
  'SGD.loadStateDict': (hw) => {
    const module = trained(hw);
    const optimizer = new hw.SGD(module.parameters().slice(1), { momentum: 0.5 });
    optimizer.step();
    return {
      args: [
        Object.fromEntries(
          Object.entries(optimizer.stateDict()).map(([key, value]) => [key, resizable(value)]),
        ),
      ],
      run: (dict) => optimizer.loadStateDict(dict).stateDict(),
      owned: [module, optimizer],
    };
  },
  clipGradNorm: (hw) => {
    const module = trained(hw);
    return {
      args: [module.parameters(), 1],
      run: (parameters, maxNorm) => hw.clipGradNorm(parameters, maxNorm),
      owned: [module],
    };
  },
  'loadStateDict of modules in a module': (hw) => {
    class Net extends hw.Module {
      inner = trained(hw);
      gain = Object.assign(data(1, [2]), { requiresGrad: true });
    }
    const net = new Net();
    const dict = { 'inner.weight': x(1, [2, 3]), 'inner.bias': x(2, [2]), gain: x(3, [2]) };
    return {
      args: [dict],
      run: (given) => net.loadStateDict(given).stateDict(),
      owned: [net],
    };
  },
};

const wasm = new URL('../../web/headwise/wasm/headwise-simd128.wasm', import.meta.url);
const wasmBytes = readFileSync(wasm);
const config = { vocab_size: 9, n_positions: 6, n_embd: 4, n_head: 2, n_layer: 1 };

/** @param {Engine} hw */
function checkpoint(hw) {
  hw.manualSeed(3);
  const model = new Gpt2(hw, { ...gpt2, numLayers: 1 });
  return writeSafetensors(model.stateDict());
}

/** @type {Record<string, (hw: Engine) => Call>} */
const files = {
  load: () => ({
    args: [{ wasm: wasmBytes.buffer.slice(0), simd: 'simd128', threads: 1 }],
    run: async (options) => (await load(options)).info,
  }),
  readNpy: () => ({ args: [writeNpy(data(1, [2])), { name: 'x' }], run: readNpy }),
  readSafetensors: () => ({
    args: [writeSafetensors({ a: data(1, [2]) }), { name: 'x', pieceBytes: 64 }],
    run: readSafetensors,
  }),
  openSafetensors: () => ({
    args: [writeSafetensors({ a: data(1, [2]) }), { name: 'x' }],
    run: async (source, options) => (await openSafetensors(source, options)).byteLength,
  }),
  readGpt2Config: () => ({ args: [{ ...config }, { name: 'x' }], run: readGpt2Config }),
  loadGpt2: (hw) => ({
    args: [hw, { config: { ...config }, weights: checkpoint(hw), onProgress: undefined }],
    run: loadGpt2,
  }),
  loadModel: (hw) => ({
    args: [
      hw,
      { config: { ...config, model_type: 'gpt2' }, weights: checkpoint(hw) },
      { dtype: 'float32', revision: 'main', onProgress: undefined, fetch: undefined },
    ],
    run: loadModel,
  }),
};

/** @type {Record<string, (hw: Engine) => Call>} */
export const calls = {
  ...files,
  ...functions,
  ...modules,
  ...torchModules,
  ...training,
  ...caches,
  'trace.weights': traceCall('weights', () => ({ rows: [0, 2] })),
  'trace.map': traceCall('map', () => ({ size: 2 })),
  'trace.norms': traceCall('norms', () => ({ rows: [0, 2] })),
  'trace.values': traceCall('values', () => ({})),
  'trace.output': traceCall('output', () => ({})),
  ...understanding,
  ...models,
};
