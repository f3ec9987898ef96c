// What traces tell besides weights, of every module: values, outputs, and norms of what a head writes.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { allClose, data, engine, throwsCode } from './helpers.js';
import { drawIds, smallModel } from './gpt2.js';

const hw = await engine();
after(() => hw.dispose());

const sizes = { dIn: 7, contextLength: 70 };
const x = data(1, [2, 67, 7]);

/**
 * weights · values, of one head.
 * @param {any} trace
 * @param {{ batch: number, head: number }} where
 */
function expectedOutput(trace, where) {
  const weights = trace.weights(where).toNested();
  const values = trace.values(where).toNested();
  return weights.map((/** @type {number[]} */ row) =>
    values[0].map((/** @type {number} */ _, /** @type {number} */ i) =>
      row.reduce((sum, weight, j) => sum + weight * values[j][i], 0),
    ),
  );
}

/** @param {any} trace @param {(output: number[][], where: { batch: number, head: number }) => void} look */
function forHeads(trace, look) {
  const [batch, heads] = trace.shape;
  for (let i = 0; i < batch * heads; i++) {
    const where = { batch: Math.floor(i / heads), head: i % heads };
    const output = trace.output(where);
    allClose(
      output,
      { shape: output.shape, data: expectedOutput(trace, where).flat() },
      { atol: 1e-5, what: `output of ${JSON.stringify(where)}` },
    );
    look(output.toNested(), where);
  }
}

/**
 * ‖x · W‖ for the columns of a projection [width, heads · headDim] that are the head's.
 * @param {number[]} value @param {number[][]} projection @param {number} head
 */
const projectedNorm = (value, projection, head) =>
  Math.hypot(
    ...projection.map((row) =>
      value.reduce((sum, each, i) => sum + each * row[head * value.length + i], 0),
    ),
  );

/** @param {any} trace @param {number[][] | undefined} projection */
function checkNorms(trace, projection) {
  const [batch, heads] = trace.shape;
  for (let i = 0; i < batch * heads; i++) {
    const where = { batch: Math.floor(i / heads), head: i % heads };
    const norms = trace.norms(where);
    const values = trace.values(where).toNested();
    const each = values.map((/** @type {number[]} */ value) =>
      projection ? projectedNorm(value, projection, where.head) : Math.hypot(...value),
    );
    const expected = trace
      .weights(where)
      .toNested()
      .flatMap((/** @type {number[]} */ row) => row.map((weight, j) => weight * each[j]));
    allClose(norms, { shape: norms.shape, data: expected }, { atol: 1e-5, what: 'norms' });
    const some = trace.norms({ ...where, rows: [3, 5] });
    assert.deepEqual(some.toNested(), norms.toNested().slice(3, 5));
  }
}

for (const [title, name, options] of /** @type {const} */ ([
  ['CausalAttention', 'CausalAttention', { dOut: 5 }],
  ['MultiHeadAttentionWrapper', 'MultiHeadAttentionWrapper', { dOut: 5, numHeads: 3 }],
  [
    'MultiHeadAttention without a projection',
    'MultiHeadAttention',
    { dOut: 9, numHeads: 3, outProj: false },
  ],
]))
  test(`${title}: heads' outputs are the module's output, and norms are of values`, () => {
    const module = new /** @type {any} */ (hw)[name]({ ...sizes, ...options, qkvBias: true });
    const { output, trace } = module.forward(x, { trace: true });
    const rows = output.toNested();
    forHeads(trace, (own, { batch, head }) => {
      const width = own[0].length;
      const part = rows[batch].map((/** @type {number[]} */ row) =>
        row.slice(head * width, (head + 1) * width),
      );
      // To the bit: the forward itself runs again.
      assert.deepEqual(own, part);
    });
    checkNorms(trace, undefined);
    trace.dispose();
    module.dispose();
  });

test('MultiHeadAttention: norms are of projected values, with masks, dropout and in batches', () => {
  const options = { ...sizes, dOut: 12, numHeads: 3, dropout: 0.4 };
  const module = new hw.MultiHeadAttention(options);
  const projection = module.stateDict()['out_proj.weight'].toNested();
  const mask = data(3, [67, 67]);
  for (const forward of [{}, { mask }]) {
    const { output, trace } = module.forward(x, { trace: true, ...forward });
    const bias = module.stateDict()['out_proj.bias'].data;
    /** @type {number[][][]} */
    const sums = /** @type {any} */ (output.toNested()).map((/** @type {number[][]} */ rows) =>
      rows.map(() => [...bias]),
    );
    forHeads(trace, (own, { batch, head }) =>
      own.forEach((row, t) =>
        sums[batch][t].forEach((__, o) => {
          row.forEach((value, i) => (sums[batch][t][o] += value * projection[o][head * 4 + i]));
        }),
      ),
    );
    allClose(output, { shape: output.shape, data: sums.flat(2) }, { atol: 1e-5 });
    checkNorms(trace, /** @type {any} */ (projection));
    trace.dispose();
  }
  module.dispose();
});

test('a stack knows the projection of each layer', () => {
  const stack = new hw.TransformerStack({ dModel: 8, numHeads: 2, dFf: 8, numLayers: 3 });
  const { trace } = stack.forward(data(5, [1, 9, 8]), { trace: true });
  trace.forEach((each, layer) => {
    const projection = stack.stateDict()[`blocks.${layer}.attn.out_proj.weight`].toNested();
    checkNorms(each, /** @type {any} */ (projection));
    each.dispose();
  });
  stack.dispose();
});

const sizesOfModel = {
  ...{ vocab_size: 20, hidden_size: 8, num_hidden_layers: 2, num_attention_heads: 2 },
  ...{ intermediate_size: 8, max_position_embeddings: 12, pad_token_id: 0 },
};
const distilbert = { vocab_size: 20, dim: 8, n_layers: 2, n_heads: 2, hidden_dim: 8 };
for (const [Class, config, projectionKey] of /** @type {const} */ ([
  ['Decoder', { model_type: 'llama', ...sizesOfModel }, 'self_attn.o_proj.weight'],
  ['Encoder', { model_type: 'bert', ...sizesOfModel }, 'attention.output.dense.weight'],
  ['Encoder', { model_type: 'roberta', ...sizesOfModel }, 'attention.output.dense.weight'],
  ['Encoder', { model_type: 'distilbert', ...distilbert }, 'attention.out_lin.weight'],
]))
  test(`${config.model_type}: norms are of values projected by each layer`, () => {
    const model = new /** @type {any} */ (hw)[Class](config);
    const { trace } = model.forward([drawIds(6, 9, 20), drawIds(7, 9, 20)], { trace: true });
    const state = model.stateDict();
    const keys = Object.keys(state).filter((key) => key.endsWith(projectionKey));
    assert.equal(keys.length, trace.length);
    keys.forEach((key, layer) => {
      checkNorms(trace[layer], state[key].toNested());
      trace[layer].dispose();
    });
    model.dispose();
  });

test('with a cache, values are of all keys and outputs of the new tokens', () => {
  const model = smallModel(hw);
  const ids = drawIds(3, 12);
  const whole = model.forward(ids, { trace: true });
  const cache = model.createCache();
  model.forward(ids.slice(0, 7), { cache });
  const rest = model.forward(ids.slice(7), { cache, trace: true });
  rest.trace.forEach((trace, layer) => {
    const of = { head: 2 };
    assert.deepEqual(trace.values(of).shape, [12, 4]);
    allClose(trace.values(of), whole.trace[layer].values(of));
    const output = whole.trace[layer].output(of).slice([7, 12]);
    allClose(trace.output(of), output, { atol: 1e-5 });
    allClose(trace.norms(of), whole.trace[layer].norms({ ...of, rows: [7, 12] }), { atol: 1e-5 });
  });
  [...whole.trace, ...rest.trace].forEach((trace) => trace.dispose());
  cache.dispose();
  model.dispose();
});

test('a trace outlives its model, but for norms', () => {
  const model = smallModel(hw);
  const { trace } = model.forward(drawIds(4, 5), { trace: true });
  const values = trace[0].values({ head: 0 });
  const output = trace[0].output({ head: 0 });
  model.dispose();
  assert.deepEqual(trace[0].values({ head: 0 }), values);
  assert.deepEqual(trace[0].output({ head: 0 }), output);
  throwsCode(() => trace[0].norms({ head: 0 }), 'ERR_DISPOSED', 'Gpt2');
  trace.forEach((each) => each.dispose());
  throwsCode(() => trace[0].values({ head: 0 }), 'ERR_DISPOSED', 'trace');
});

test('heads, entries and rows that are not there are named', () => {
  const model = smallModel(hw);
  const { trace } = model.forward(drawIds(4, 5), { trace: true });
  const [each] = /** @type {any[]} */ (trace);
  for (const name of ['values', 'output', 'norms']) {
    throwsCode(() => each[name]({ head: 3 }), 'ERR_VALUE', 'head', '3');
    throwsCode(() => each[name]({}), 'ERR_VALUE', 'head');
    throwsCode(() => each[name]({ head: 0, batch: 1 }), 'ERR_VALUE', 'batch');
    throwsCode(() => each[name]({ head: 0, layer: 1 }), 'ERR_VALUE', 'layer', `trace.${name}`);
  }
  throwsCode(() => each.norms({ head: 0, rows: [4, 6] }), 'ERR_VALUE', 'rows');
  trace.forEach((one) => one.dispose());
  model.dispose();
});
