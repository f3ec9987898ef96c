// positionIds of decoders: learned positions and rotary angles follow them, against float64 loops.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor } from 'headwise';
import { load as loadWorker } from 'headwise/worker';
import { engine, throwsCode } from './helpers.js';
import { runModel } from './reference-models.js';

/** @typedef {import('headwise/models').Decoder} Decoder */

const hw = await engine();
const IDS = [3, 1, 4, 1, 5, 2];
const POSITIONS = [7, 2, 2, 15, 0, 9];
const TARGETS = [2, 7, 1, 8, 2, 6];

const sizes = {
  ...{ vocab_size: 9, initializer_range: 0.4, hidden_size: 8, num_hidden_layers: 2 },
  ...{ num_attention_heads: 2, intermediate_size: 12, max_position_embeddings: 16 },
};
const configs = {
  'learned positions': {
    ...{ model_type: 'gpt2', vocab_size: 9, initializer_range: 0.4, n_embd: 8, n_layer: 2 },
    ...{ n_head: 2, n_inner: 12, n_positions: 16 },
  },
  'rotary positions': { model_type: 'llama', ...sizes },
  'rotary positions of a part of each head': { model_type: 'gpt_neox', ...sizes, rotary_pct: 0.5 },
  'rotary positions of two kinds, and a window of places': {
    ...{ model_type: 'gemma3_text', ...sizes, head_dim: 4, num_key_value_heads: 1 },
    ...{ sliding_window: 3, layer_types: ['sliding_attention', 'full_attention'] },
  },
};

/** @param {object} config @param {any} [own] an engine @returns {Decoder} */
function make(config, own = hw) {
  own.manualSeed(5);
  return new own.Decoder(config);
}

/** @param {Decoder} model @param {readonly number[]} positions @param {Record<string, any>} [state] */
const reference = (model, positions, state = model.stateDict()) =>
  /** @type {Float64Array[]} */ (
    runModel(
      model.config,
      (name) => state[name],
      IDS,
      undefined,
      undefined,
      undefined,
      (i) => positions[i],
    ).logits
  );

/** @param {ArrayLike<number>} actual @param {readonly Float64Array[]} expected */
function close(actual, expected) {
  const flat = expected.flatMap((row) => [...row]);
  assert.equal(actual.length, flat.length);
  flat.forEach((value, i) => assert.ok(Math.abs(actual[i] - value) < 2e-5, `${i}: ${actual[i]}`));
}

/** Mean cross-entropy. @param {readonly Float64Array[]} logits */
const lossOf = (logits) =>
  logits.reduce((sum, row, i) => {
    const total = row.reduce((all, value) => all + Math.exp(value), 0);
    return sum + (Math.log(total) - row[TARGETS[i]]) / logits.length;
  }, 0);

for (const [name, config] of Object.entries(configs)) {
  test(`${name} follow positionIds, in batches and after a cache too`, () => {
    const model = make(config);
    const all = /** @type {const} */ ('all');
    const options = { logits: all, positionIds: POSITIONS };
    const expected = reference(model, POSITIONS);
    const alone = model.forward(IDS, options).logits;
    close(alone.data, expected);
    const plain = model.forward(IDS, { logits: all }).logits;
    assert.ok(plain.data.some((value, i) => Math.abs(value - alone.data[i]) > 1e-3));
    const counted = model.forward(IDS, { logits: all, positionIds: IDS.map((_, i) => i) });
    assert.deepEqual(counted.logits, plain);
    const both = model.forward([IDS, IDS], {
      logits: all,
      positionIds: [IDS.map((_, at) => at), POSITIONS],
    });
    assert.deepEqual(both.logits.toNested(), [plain.toNested(), alone.toNested()]);
    const cache = model.createCache();
    model.forward(IDS.slice(0, 4), { cache, positionIds: POSITIONS.slice(0, 4) });
    const rest = { logits: all, cache, positionIds: POSITIONS.slice(4) };
    close(model.forward(IDS.slice(4), rest).logits.data, expected.slice(4));
    cache.dispose();
    model.dispose();
  });

  test(`${name}: the loss and its gradients follow positionIds, which may change before the backward`, () => {
    const model = make(config);
    const positionIds = tensor(Float32Array.from(POSITIONS), [6]);
    const loss = hw.enableGrad(() => model.loss(IDS, TARGETS, { positionIds }));
    const state = model.stateDict();
    assert.ok(Math.abs(loss.item() - lossOf(reference(model, POSITIONS, state))) < 1e-5);
    positionIds.data.fill(0);
    loss.backward();
    for (const { name: key, grad } of model.namedParameters()) {
      assert.ok(grad, key);
      // Along the gradient the loss rises by its square.
      const square = grad.data.reduce((sum, value) => sum + value * value, 0);
      const step = 1e-4 / Math.sqrt(square || 1);
      const [above, below] = [step, -step].map((by) => {
        const { shape, data } = state[key];
        const moved = Float64Array.from(data, (value, i) => value + by * grad.data[i]);
        return lossOf(reference(model, POSITIONS, { ...state, [key]: { shape, data: moved } }));
      });
      const slope = (above - below) / (2 * step);
      assert.ok(Math.abs(slope - square) <= 1e-4 * square + 1e-9, `${key}: ${slope}, ${square}`);
    }
    model.dispose();
  });
}

test('rows without a token at a position leave its embedding without a gradient', () => {
  const model = make(configs['learned positions']);
  hw.enableGrad(() => model.loss(IDS, TARGETS, { positionIds: POSITIONS })).backward();
  const { grad } = /** @type {any} */ (
    model.namedParameters().find(({ name }) => name.endsWith('wpe.weight'))
  );
  grad.toNested().forEach((/** @type {number[]} */ row, /** @type {number} */ position) => {
    assert.equal(
      row.some((value) => value !== 0),
      POSITIONS.includes(position),
    );
  });
  model.dispose();
});

test('checkpointing gives the same gradients of given positions, to the bit', () => {
  const model = make(configs['rotary positions']);
  const pass = () => {
    model.parameters().forEach((parameter) => (parameter.grad = null));
    hw.enableGrad(() => model.loss(IDS, TARGETS, { positionIds: POSITIONS })).backward();
    return model.parameters().map(({ grad }) => grad?.data);
  };
  const kept = pass();
  model.gradientCheckpointingEnable();
  assert.deepEqual(pass(), kept);
  model.dispose();
});

test('positionIds of another shape, out of range or not integers are refused, and the model goes on', () => {
  const model = make(configs['learned positions']);
  const refused = (/** @type {any} */ positionIds, /** @type {any} */ ...expected) => {
    throwsCode(() => model.forward(IDS, { positionIds }), expected[0], ...expected.slice(1));
    throwsCode(() => model.loss(IDS, TARGETS, { positionIds }), expected[0], ...expected.slice(1));
  };
  refused([0, 1, 2], 'ERR_SHAPE', 'positionIds', '[3]', '[6]');
  refused([POSITIONS], 'ERR_SHAPE', 'positionIds', '[1, 6]');
  refused([0, 1, 2, 3, 4, 16], 'ERR_VALUE', 'positionIds[5]', '16');
  refused([0, 1, 2, 3, 4, -1], 'ERR_VALUE', 'positionIds[5]', '-1');
  refused([0, 1, 2, 3, 4, 0.5], 'ERR_VALUE', 'positionIds[5]', '0.5');
  refused('text', 'ERR_VALUE', 'positionIds');
  const ragged = [IDS, [1, 2]];
  throwsCode(
    () => model.forward(ragged, { positionIds: [POSITIONS, POSITIONS] }),
    'ERR_SHAPE',
    'positionIds',
  );
  const { logits } = model.forward(ragged, { positionIds: [POSITIONS, [3, 8]] });
  const alone = model.forward([1, 2], { positionIds: [3, 8] }).logits;
  assert.deepEqual(logits.toNested()[1], alone.toNested());
  model.dispose();
});

test('a model in a worker takes positionIds', async () => {
  const there = await loadWorker({ threads: 1 });
  try {
    const config = configs['rotary positions'];
    const local = make(config);
    await there.manualSeed(5);
    const remote = /** @type {any} */ (await new there.Decoder(config));
    const options = { positionIds: POSITIONS };
    const { logits } = await remote.forward(IDS, options);
    assert.deepEqual(logits, local.forward(IDS, options).logits);
    const loss = await remote.loss(IDS, TARGETS, options);
    assert.equal(await loss.item(), local.loss(IDS, TARGETS, options).item());
    local.dispose();
  } finally {
    await there.dispose();
  }
});
