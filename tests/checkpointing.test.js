// Gradient checkpointing of models: the same losses and gradients to the bit, in less memory. tests/native/test_checkpointing.c
// has all options of models, threads, and stacks of blocks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from 'headwise';
import { Gpt2 } from 'headwise/gpt2';
import { load as loadWorker } from 'headwise/worker';
import { engine, throwsCode } from './helpers.js';

/** @typedef {import('headwise').Headwise} Headwise */
/** @typedef {import('headwise/models').Decoder} Decoder */
/** @typedef {import('headwise/models').Encoder} Encoder */

const hw = await engine();
const IDS = [
  [3, 1, 4, 1, 5],
  [2, 6, 5, 3, 5],
];
const TARGETS = [
  [1, 4, 1, 5, -100],
  [-100, 5, 3, 5, 2],
];
const llama = {
  ...{ model_type: 'llama', vocab_size: 9, hidden_size: 8, intermediate_size: 12 },
  ...{ num_hidden_layers: 3, num_attention_heads: 2, max_position_embeddings: 256 },
};
const bert = { ...llama, model_type: 'bert' };
const dropout = { dropout: 0.3 };

/** @type {Record<string, () => any>} */
const models = {
  Decoder: () => new hw.Decoder(llama, dropout),
  Encoder: () => new hw.Encoder(bert, dropout),
  Gpt2: () =>
    new Gpt2(hw, {
      ...{ vocabSize: 9, contextLength: 8, dModel: 8, numHeads: 2, numLayers: 3 },
      ...dropout,
    }),
};

/** @param {any} model @param {(loss: import('headwise').Tensor) => void} [first] what goes back first */
function train(model, first) {
  hw.manualSeed(7);
  const loss = hw.enableGrad(() => model.loss(IDS, TARGETS));
  first?.(loss);
  loss.backward();
  const grads = model.parameters().map((/** @type {any} */ { grad }) => grad?.data);
  for (const parameter of model.parameters()) {
    parameter.grad = null;
  }
  return { loss: loss.item(), grads, next: hw.rand([1]).item() };
}

for (const [name, make] of Object.entries(models)) {
  test(`${name}: losses, gradients and what is drawn next are the same to the bit with blocks that run again`, () => {
    const model = make();
    const kept = train(model);
    assert.ok(kept.grads.some((/** @type {Float32Array} */ grad) => grad?.some((x) => x !== 0)));
    assert.equal(model.gradientCheckpointingEnable(), undefined);
    assert.deepEqual(train(model), kept);
    model.gradientCheckpointingDisable();
    assert.deepEqual(train(model), kept);
    model.dispose();
    throwsCode(() => model.gradientCheckpointingEnable(), 'ERR_DISPOSED');
  });
}

test('a graph that is kept goes back twice', () => {
  const model = models.Decoder();
  const twice = () => train(model, (loss) => loss.backward(undefined, { retainGraph: true }));
  const kept = twice();
  model.gradientCheckpointingEnable();
  assert.deepEqual(twice(), kept);
});

test('a loss recorded before a switch does not go back', () => {
  const model = models.Decoder();
  const before = hw.enableGrad(() => model.loss(IDS));
  model.gradientCheckpointingEnable();
  throwsCode(() => before.backward(), 'ERR_VALUE', /changed after its forward/);
  const dropped = hw.enableGrad(() => model.loss(IDS));
  model.eval();
  throwsCode(() => dropped.backward(), 'ERR_VALUE', /changed after its forward/);
});

test('the gradient of hidden states goes back through blocks that run again', () => {
  const model = models.Encoder().eval();
  const run = () => {
    const { hidden } = hw.enableGrad(() => model.forward(IDS, { logits: 'none' }));
    hw.enableGrad(() => hw.sum(hw.multiply(hidden, hidden))).backward();
    const { grad } = model.parameters()[0];
    model.parameters()[0].grad = null;
    return grad.data;
  };
  const kept = run();
  model.gradientCheckpointingEnable();
  assert.deepEqual(run(), kept);
});

test('a deep model takes less memory', async () => {
  const deep = { ...llama, hidden_size: 32, intermediate_size: 128, num_hidden_layers: 12 };
  const ids = [Array.from({ length: 256 }, (_, i) => (i * 5) % 9)];
  const bytes = [];
  for (const checkpoints of [false, true]) {
    const own = await load({ threads: 1 });
    const model = new own.Decoder(deep);
    if (checkpoints) {
      model.gradientCheckpointingEnable();
    }
    for (let step = 0; step < 2; step++) {
      own.enableGrad(() => model.loss(ids)).backward();
    }
    bytes.push(own.memoryBytes);
    own.dispose();
  }
  assert.ok(bytes[1] < bytes[0] - 1e6, `${bytes}`);
});

test('models in a Worker have it', async () => {
  const there = await loadWorker({ threads: 1 });
  try {
    await there.manualSeed(3);
    const model = /** @type {any} */ (await new there.Decoder(llama));
    await model.gradientCheckpointingEnable();
    const loss = /** @type {any} */ (await there.enableGrad(() => model.loss(IDS)));
    await loss.backward();
    hw.manualSeed(3);
    const here = new hw.Decoder(llama);
    hw.enableGrad(() => here.loss(IDS)).backward();
    const [{ grad }] = await model.parameters();
    assert.deepEqual((await grad).data, here.parameters()[0].grad?.data);
  } finally {
    await there.dispose();
  }
});
