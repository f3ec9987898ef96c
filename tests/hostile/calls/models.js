import { Gpt2 } from 'headwise/gpt2';
import { Decoder, Encoder } from 'headwise/models';
import { x } from './inputs.js';

/** @typedef {import('../../helpers.js').Engine} Engine */
/** @typedef {import('./inputs.js').Call} Call */

export const gpt2 = { vocabSize: 9, contextLength: 6, dModel: 4, numHeads: 2, numLayers: 2 };

/** @param {(model: Gpt2, ...given: any[]) => any} run @param {(model: Gpt2) => any[]} args @returns {(hw: Engine) => Call} */
export const gpt2Call = (run, args) => (hw) => {
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
export const models = {
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
