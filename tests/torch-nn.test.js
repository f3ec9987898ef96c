// torch.nn's MultiheadAttention and TransformerEncoderLayer, against PyTorch in float64: outputs, weights and gradients.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor, zeros as allZero } from 'headwise';
import { MultiheadAttention, TransformerEncoderLayer } from 'headwise/torch';
import { allClose, boolTensor, data, engine, throwsCode } from './helpers.js';
import { weighted } from './torch-gradients.js';
import { isTorchs, makeAll, noticesErrors, readGroup } from './torch.js';

const hw = await engine();
const group = readGroup('torch_nn');
const classes = { MultiheadAttention, TransformerEncoderLayer };

/** @param {any} fixture */
function runForward(fixture) {
  const { expect, seed, order } = fixture;
  const Module = classes[/** @type {keyof typeof classes} */ (fixture.class)];
  const module = new Module(hw, fixture.options).loadStateDict(makeAll(fixture.state, group));
  module.train(seed !== undefined);
  const inputs = fixture.inputs.map((/** @type {any} */ spec) => makeAll(spec, group));
  const args = order.map((/** @type {number} */ i) => inputs[i]);
  const options = makeAll(fixture.forward, group);
  const forward = () => {
    if (seed !== undefined) hw.manualSeed(seed);
    return /** @type {any} */ (module).forward(...args, options);
  };
  const plain = forward();
  for (const input of inputs) input.requiresGrad = true;
  const outputs = hw.enableGrad(forward);
  assert.deepEqual(outputs.output, plain.output, 'recorded or not');
  for (const name of ['output', 'weights'])
    if (name in expect) isTorchs(plain[name], expect[name], group, name);
  assert.equal('weights' in plain, 'weights' in expect);

  hw.enableGrad(() => weighted(hw, outputs, fixture, group)).backward();
  const leaves = [
    ...inputs.map((/** @type {any} */ { grad }, /** @type {number} */ i) => ({ name: i, grad })),
    ...module.parameters(),
  ];
  const wanted = Object.keys(expect).filter((key) => key.startsWith('grad.'));
  assert.deepEqual(leaves.map(({ name }) => `grad.${name}`).sort(), wanted.sort());
  for (const { name, grad } of leaves) isTorchs(grad, expect[`grad.${name}`], group, String(name));
  module.dispose();
}

/** @param {any} fixture */
function checkDrawn(fixture) {
  const Module = classes[/** @type {keyof typeof classes} */ (fixture.class)];
  hw.manualSeed(fixture.seed);
  const module = new Module(hw, fixture.options);
  const drawn = module.stateDict();
  const torchs = makeAll(fixture.drawn, group);
  assert.deepEqual(Object.keys(drawn), Object.keys(torchs), "torch's keys in torch's order");
  assert.deepEqual(drawn, torchs);
  module.dispose();
}

for (const fixture of /** @type {any[]} */ (group.cases))
  test(fixture.title, () => (fixture.drawn ? checkDrawn(fixture) : runForward(fixture)));

test("an encoder layer's trace recomputes every head's weights", () => {
  const layer = new TransformerEncoderLayer(hw, { dModel: 12, nhead: 3, batchFirst: true }).eval();
  const x = data(1, [2, 7, 12]);
  const { weights, trace } = layer.forward(x, { needWeights: true, trace: true });
  assert.deepEqual([...weights.shape], [2, 3, 7, 7]);
  for (let batch = 0; batch < 2; batch++)
    for (let head = 0; head < 3; head++) {
      const at = (batch * 3 + head) * 49;
      const map = tensor(weights.data.slice(at, at + 49), [7, 7]);
      allClose(trace.weights({ batch, head }), map, { atol: 1e-6, what: `head ${head}` });
    }
  trace.dispose();
  layer.dispose();
});

test("a class of layers loads nn.TransformerEncoder's state dict", () => {
  class Encoder extends hw.Module {
    constructor() {
      super();
      const options = { dModel: 12, nhead: 3, dimFeedforward: 30 };
      this.layers = [0, 1].map(() => new TransformerEncoderLayer(hw, options));
    }
  }
  const keys = (/** @type {object} */ of) => Object.keys(of);
  const encoder = new Encoder();
  const own = encoder.layers.map((layer) => layer.stateDict());
  const expected = own.flatMap((state, i) => keys(state).map((key) => `layers.${i}.${key}`));
  assert.deepEqual(keys(encoder.stateDict()), expected);
  assert.ok(expected.includes('layers.1.self_attn.in_proj_weight'));
  const turned = own.flatMap((state, i) =>
    keys(state).map((key) => [`layers.${1 - i}.${key}`, state[key]]),
  );
  encoder.loadStateDict(Object.fromEntries(turned));
  assert.deepEqual(encoder.layers[0].stateDict(), own[1]);
  encoder.dispose();
});

for (const normFirst of [false, true]) {
  const title = `a layer without biases is one whose biases are zero, normFirst: ${normFirst}`;
  test(title, () => {
    const sizes = {
      dModel: 6,
      nhead: 2,
      dimFeedforward: 8,
      dropout: 0,
      batchFirst: true,
      normFirst,
    };
    const [bare, full] = [false, true].map(
      (bias) => new TransformerEncoderLayer(hw, { ...sizes, bias }),
    );
    const isBias = (/** @type {string} */ key) => key.endsWith('bias');
    const zeros = Object.entries(full.stateDict()).map(([key, { shape }]) => [key, allZero(shape)]);
    const state = bare.stateDict();
    assert.deepEqual(
      Object.keys(state),
      zeros.map(([key]) => String(key)).filter((key) => !isBias(key)),
      "torch's keys without biases, in torch's order",
    );
    full.loadStateDict({ ...Object.fromEntries(zeros), ...state });
    const x = data(7, [2, 5, 6]);
    const [ofBare, ofFull] = [bare, full].map((layer) => {
      const { output } = hw.enableGrad(() => layer.forward(x));
      hw.enableGrad(() => hw.sum(hw.multiply(output, x))).backward();
      const weights = layer.parameters().filter(({ name }) => !isBias(name));
      return { output: output.detach(), grads: weights.map(({ name, grad }) => [name, grad]) };
    });
    assert.deepEqual(ofBare, ofFull);
    // A step of an optimizer changes no bias that is not there.
    const optimizer = new hw.SGD(bare.parameters(), { lr: 0.1 });
    optimizer.step();
    full.loadStateDict({ ...Object.fromEntries(zeros), ...bare.stateDict() });
    assert.deepEqual(bare.forward(x), full.forward(x));
    assert.equal(bare.options.bias, false);
    assert.throws(() => bare.loadStateDict(full.stateDict()), /unexpected: .*norm1\.bias/);
    bare.dispose();
    full.dispose();
  });
}

test('a query whose keys are all masked gives zeros from its heads', () => {
  const module = new MultiheadAttention(hw, { embedDim: 6, numHeads: 2, bias: false });
  const x = data(2, [3, 6]);
  const attnMask = boolTensor([1, 1, 1, 0, 0, 0, 0, 1, 0].map(Boolean), [3, 3]);
  const { output, weights } = module.forward(x, x, x, { attnMask });
  assert.deepEqual([...output.data.slice(0, 6)], Array(6).fill(0));
  assert.deepEqual([...weights.data.slice(0, 3)], [0, 0, 0]);
  assert.equal(weights.data[7], 0);
  module.dispose();
});

test('an added attnMask gets its gradient', () => {
  const module = new MultiheadAttention(hw, { embedDim: 6, numHeads: 2 });
  const x = data(2, [3, 6]);
  const attnMask = data(3, [3, 3]);
  attnMask.requiresGrad = true;
  const loss = () => hw.sum(hw.multiply(module.forward(x, x, x, { attnMask }).output, x));
  hw.enableGrad(loss).backward();
  const step = 1e-2;
  for (const at of [0, 4, 8]) {
    const value = attnMask.data[at];
    attnMask.data[at] = value + step;
    const above = loss().item();
    attnMask.data[at] = value - step;
    const below = loss().item();
    attnMask.data[at] = value;
    const slope = (above - below) / (2 * step);
    const gradient = /** @type {any} */ (attnMask.grad).data[at];
    assert.ok(Math.abs(slope - gradient) < 1e-3, `${slope} and ${gradient}`);
  }
  module.dispose();
});

test('training changes all weights and lowers the loss', () => {
  hw.manualSeed(3);
  const layer = new TransformerEncoderLayer(hw, {
    ...{ dModel: 6, nhead: 2, dimFeedforward: 8, dropout: 0, batchFirst: true },
  });
  const optimizer = new hw.AdamW(layer.parameters(), { lr: 0.01 });
  const [x, wanted] = [data(4, [2, 5, 6]), data(5, [2, 5, 6])];
  const before = layer.stateDict();
  const step = () => {
    optimizer.zeroGrad();
    const loss = hw.enableGrad(() => hw.mseLoss(layer.forward(x).output, wanted));
    loss.backward();
    optimizer.step();
    return loss.item();
  };
  const losses = Array.from({ length: 30 }, step);
  assert.ok(losses[29] < 0.7 * losses[0], losses.join(', '));
  for (const [key, { data: now }] of Object.entries(layer.stateDict()))
    assert.notDeepEqual(now, before[key].data, key);
  layer.dispose();
});

test('every fixture of torch_nn notices a number that is off by more than its tolerance', () => {
  assert.ok(group.cases.length > 0);
  for (const fixture of group.cases) noticesErrors(fixture, group);
});

test('a module that was disposed of is named itself, not a part of it', () => {
  const x = data(1, [2, 4]);
  const attention = new MultiheadAttention(hw, { embedDim: 4, numHeads: 2 });
  attention.dispose();
  throwsCode(() => attention.forward(x, x, x), 'ERR_DISPOSED', 'the MultiheadAttention was');
  for (const normFirst of [false, true]) {
    const layer = new TransformerEncoderLayer(hw, { dModel: 4, nhead: 2, normFirst });
    layer.dispose();
    throwsCode(() => layer.forward(x), 'ERR_DISPOSED', 'the TransformerEncoderLayer was');
  }
});
