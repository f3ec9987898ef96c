/**
 * How each shape is run through the package's public names, and its right result.
 *
 * @import { Tensor } from '../../headwise/index.js'
 * @import { AttentionOptions } from '../../headwise/attention/options.js'
 * @import { Expected } from './check.js'
 * @import { AttentionShape, DecodeShape, LinearShape, MapsShape, MultiHeadShape, Shape, TrainShape, Work } from './work.js'
 */

import * as headwise from '../../headwise/index.js';
import { numbers, spread } from './data.js';
import { decoderConfig } from './decoder-config.js';
import { attentionRows, decodeRow, linearRows, mapRows, multiHeadRows } from './reference.js';
import { modelLoss } from './reference-model.js';
import { workOf } from './work.js';

/** @typedef {Awaited<ReturnType<typeof import('../../headwise/index.js').load>>} Engine */
/** @typedef {typeof headwise.tensor} MakeTensor of the package that runs the case */
/** @typedef {Record<string, Tensor>} StateDict */

/**
 * @typedef {object} Prepared
 * @property {() => Tensor} run tensors in, tensor out
 * @property {() => Tensor} [first] what is compared; default: run
 * @property {() => Expected} expected
 */

/**
 * One way to do a shape's work.
 * @typedef {object} Case
 * @property {string} name
 * @property {Work} work
 * @property {(hw: Engine) => Prepared} prepare
 */

/** Rows compared with float64: of products, and of attention with projections, which takes longer. */
const ROWS = 24;
const MULTI_HEAD_ROWS = 8;
/** Tokens of which a model's loss is compared. */
const LOSS_TOKENS = 12;
const SEED = 123;

/**
 * @param {LinearShape} shape
 * @param {MakeTensor} tensor
 * @returns {Case[]}
 */
function linearCases(shape, tensor) {
  const { rows, inFeatures, outFeatures } = shape;
  return [
    {
      name: 'linear',
      work: workOf(shape),
      prepare(hw) {
        hw.manualSeed(SEED);
        const linear = new hw.Linear({ inFeatures, outFeatures });
        const x = tensor(numbers(1, rows * inFeatures), [rows, inFeatures]);
        return {
          run: () => linear.forward(x).output,
          expected() {
            const { weight, bias } = linear.stateDict();
            const layer = { weight: weight.data, bias: bias.data, inFeatures, outFeatures };
            const chosen = spread(rows, ROWS);
            return {
              rows: chosen,
              columns: outFeatures,
              values: linearRows(x.data, layer, chosen),
            };
          },
        };
      },
    },
  ];
}

/**
 * Which keys a query sees, and the options that say so.
 * @param {AttentionShape} shape
 * @param {MakeTensor} [tensor]
 * @returns {{ options: AttentionOptions, sees: (query: number, key: number) => boolean }}
 */
export function visibility({ tokens, visible, window = tokens }, tensor = headwise.tensor) {
  const causal = (/** @type {number} */ query, /** @type {number} */ key) => key <= query;
  /** @param {(query: number, key: number) => boolean} sees */
  const bools = (sees) =>
    Uint8Array.from({ length: tokens * tokens }, (_, at) =>
      Number(sees(Math.floor(at / tokens), at % tokens)),
    );
  /** @param {(query: number, key: number) => boolean} sees */
  const boolMask = (sees) => tensor(bools(sees), [tokens, tokens], { dtype: 'bool' });
  switch (visible) {
    case 'causal':
      return { options: { isCausal: true }, sees: causal };
    case 'window':
      return {
        options: { isCausal: true, window: [window - 1, 0] },
        sees: (query, key) => causal(query, key) && key > query - window,
      };
    case 'causalBoolMask':
      return { options: { mask: boolMask(causal) }, sees: causal };
    case 'causalFloatMask': {
      const added = Float32Array.from(bools(causal), (bool) => (bool ? 0 : -Infinity));
      return { options: { mask: tensor(added, [tokens, tokens]) }, sees: causal };
    }
    case 'randomBoolMask': {
      const random = numbers(9, tokens * tokens);
      const sees = (/** @type {number} */ query, /** @type {number} */ key) =>
        random[query * tokens + key] > 0;
      return { options: { mask: boolMask(sees) }, sees };
    }
  }
}

/**
 * @param {AttentionShape} shape
 * @param {MakeTensor} tensor
 * @returns {Case[]}
 */
function attentionCases(shape, tensor) {
  const { heads, tokens, headDim } = shape;
  return [
    {
      name: 'attention',
      work: workOf(shape),
      prepare(hw) {
        const [q, k, v] = [1, 2, 3].map((seed) =>
          tensor(numbers(seed, heads * tokens * headDim), [1, heads, tokens, headDim]),
        );
        const { options, sees } = visibility(shape, tensor);
        return {
          run: () => hw.scaledDotProductAttention(q, k, v, options).output,
          expected() {
            const rows = spread(heads * tokens, ROWS);
            const values = attentionRows(q.data, k.data, v.data, { tokens, headDim, sees }, rows);
            return { rows, columns: headDim, values };
          },
        };
      },
    },
  ];
}

/**
 * @param {StateDict} state of a MultiHeadAttention
 * @returns {import('./reference.js').Projections}
 */
const fusedProjections = (state) => ({
  query: state['W_query.weight'].data,
  key: state['W_key.weight'].data,
  value: state['W_value.weight'].data,
  out: { weight: state['out_proj.weight'].data, bias: state['out_proj.bias'].data },
});

/**
 * @param {StateDict} state of a MultiHeadAttentionWrapper
 * @param {StateDict} out of the Linear that follows it
 * @param {number} heads
 * @returns {import('./reference.js').Projections}
 */
function wrapperProjections(state, out, heads) {
  const [query, key, value] = ['W_query', 'W_key', 'W_value'].map((name) => {
    const parts = Array.from({ length: heads }, (_, h) => state[`heads.${h}.${name}.weight`].data);
    const whole = new Float32Array(parts.length * parts[0].length);
    parts.forEach((part, i) => whole.set(part, i * part.length));
    return whole;
  });
  return { query, key, value, out: { weight: out.weight.data, bias: out.bias.data } };
}

/**
 * @param {MultiHeadShape} shape
 * @param {MakeTensor} tensor
 * @returns {Case[]}
 */
function multiHeadCases(shape, tensor) {
  const { batch, tokens, dIn, dOut, heads } = shape;
  const x = () => tensor(numbers(1, batch * tokens * dIn), [batch, tokens, dIn]);
  /**
   * @param {(input: Tensor) => Tensor} forward
   * @param {() => import('./reference.js').Projections} projections
   * @returns {Prepared}
   */
  const prepared = (forward, projections) => {
    const input = x();
    return {
      run: () => forward(input),
      expected() {
        const rows = spread(batch * tokens, MULTI_HEAD_ROWS);
        const values = multiHeadRows(input.data, projections(), shape, rows);
        return { rows, columns: dOut, values };
      },
    };
  };
  return [
    {
      // It has no output projection of its own: a Linear follows, so that both do the same work.
      name: 'wrapper',
      work: workOf(shape),
      prepare(hw) {
        hw.manualSeed(SEED);
        const options = { dIn, dOut: dOut / heads, contextLength: tokens, numHeads: heads };
        const module = new hw.MultiHeadAttentionWrapper(options);
        const out = new hw.Linear({ inFeatures: dOut, outFeatures: dOut });
        return prepared(
          (input) => out.forward(module.forward(input).output).output,
          () => wrapperProjections(module.stateDict(), out.stateDict(), heads),
        );
      },
    },
    {
      name: 'fused',
      work: workOf(shape),
      prepare(hw) {
        hw.manualSeed(SEED);
        const options = { dIn, dOut, contextLength: tokens, numHeads: heads };
        const module = new hw.MultiHeadAttention(options);
        return prepared(
          (input) => module.forward(input).output,
          () => fusedProjections(module.stateDict()),
        );
      },
    },
  ];
}

/**
 * @param {DecodeShape} shape
 * @param {MakeTensor} tensor
 * @returns {Case[]}
 */
function decodeCases(shape, tensor) {
  const { past, dIn, dOut, heads } = shape;
  return [
    {
      name: 'decode',
      work: workOf(shape),
      prepare(hw) {
        hw.manualSeed(SEED);
        const options = { dIn, dOut, contextLength: past + 1, numHeads: heads };
        const module = new hw.MultiHeadAttention(options);
        const x = tensor(numbers(1, dIn), [1, dIn]);
        const [key, value] = [2, 3].map((seed) =>
          tensor(numbers(seed, past * dOut), [1, heads, past, dOut / heads]),
        );
        const cache = module.createCache({ past: { key, value } });
        return {
          run() {
            cache.truncate(past);
            return module.forward(x, { cache }).output;
          },
          expected() {
            const state = fusedProjections(module.stateDict());
            const cached = { key: key.data, value: value.data };
            return { rows: [0], columns: dOut, values: decodeRow(x.data, cached, state, shape) };
          },
        };
      },
    },
  ];
}

/**
 * @param {MapsShape} shape
 * @param {MakeTensor} tensor
 * @returns {Case[]}
 */
function mapsCases(shape, tensor) {
  const { tokens, dIn, dOut, heads, size } = shape;
  return [
    {
      name: 'maps',
      work: workOf(shape),
      prepare(hw) {
        hw.manualSeed(SEED);
        const options = { dIn, dOut, contextLength: tokens, numHeads: heads };
        const module = new hw.MultiHeadAttention(options);
        const x = tensor(numbers(1, tokens * dIn), [tokens, dIn]);
        const { trace } = module.forward(x, { trace: true });
        if (!trace) throw new Error('no trace');
        const maps = new Float32Array(heads * size * size);
        return {
          run() {
            for (let head = 0; head < heads; head++)
              maps.set(trace.map({ head, size }).data, head * size * size);
            return tensor(maps, [heads * size, size]);
          },
          expected() {
            const rows = spread(heads * size, MULTI_HEAD_ROWS);
            const state = fusedProjections(module.stateDict());
            return { rows, columns: size, values: mapRows(x.data, state, shape, rows) };
          },
        };
      },
    },
  ];
}

/**
 * @param {TrainShape} shape
 * @param {MakeTensor} tensor
 * @returns {Case[]}
 */
function trainCases(shape, tensor) {
  const { vocabulary, tokens, batch, microBatch, checkpointing } = shape;
  return [
    {
      name: 'train',
      work: workOf(shape),
      prepare(hw) {
        hw.manualSeed(SEED);
        const model = new hw.Decoder(decoderConfig(shape));
        if (checkpointing) {
          model.gradientCheckpointingEnable();
        }
        const optimizer = new hw.AdamW(model.parameters(), { lr: 1e-3 });
        const rows = Array.from({ length: batch }, (_, row) =>
          Array.from(numbers(row + 1, tokens), (x) => Math.floor(((x + 1) / 2) * vocabulary)),
        );
        const share = tensor(microBatch / batch);
        const short = rows[0].slice(0, LOSS_TOKENS);
        return {
          first: () => model.loss([short]),
          run() {
            for (let row = 0; row < batch; row += microBatch) {
              const loss = hw.enableGrad(() => model.loss(rows.slice(row, row + microBatch)));
              loss.backward(share);
            }
            hw.clipGradNorm(model.parameters(), 1);
            optimizer.step();
            optimizer.zeroGrad();
            return share;
          },
          expected: () => ({
            rows: [0],
            columns: 1,
            values: Float64Array.of(modelLoss(model.stateDict(), shape, short)),
          }),
        };
      },
    },
  ];
}

/**
 * @param {Shape} shape
 * @param {MakeTensor} [tensor]
 * @returns {Case[]}
 */
export function casesOf(shape, tensor = headwise.tensor) {
  switch (shape.kind) {
    case 'linear':
      return linearCases(shape, tensor);
    case 'attention':
      return attentionCases(shape, tensor);
    case 'multiHeadAttention':
      return multiHeadCases(shape, tensor);
    case 'decode':
      return decodeCases(shape, tensor);
    case 'maps':
      return mapsCases(shape, tensor);
    case 'train':
      return trainCases(shape, tensor);
  }
}
