// Parameters, modules made of modules, and losses of models: what a training loop is made of, and what it refuses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor, zeros } from 'headwise';
import { Gpt2 } from 'headwise/gpt2';
import { evaluate } from './child.js';
import { data, throwsCode } from './helpers.js';
import { Net, gradsOf, hw, linear, lossOf, names, x } from './net.js';

/** @typedef {import('headwise').Tensor} Tensor */

test('parameters have the state dict’s names, shapes and values', () => {
  for (const module of [linear(), new Net()]) {
    const state = module.stateDict();
    const parameters = module.parameters();
    assert.deepEqual(
      parameters.map(({ name }) => name),
      Object.keys(state),
    );
    for (const parameter of parameters) {
      assert.deepEqual(parameter.data, state[parameter.name]);
      assert.deepEqual([parameter.shape, parameter.grad], [state[parameter.name].shape, null]);
      assert.equal(parameter.requiresGrad, true);
    }
    assert.deepEqual(module.namedParameters(), parameters);
    assert.ok(module.parameters().every((parameter, i) => parameter === parameters[i]));
    assert.equal(
      module.parameterCount(),
      parameters.reduce((sum, parameter) => sum + parameter.data.data.length, 0),
    );
  }
});

test('gradients add up in parameters until they are forgotten', () => {
  const module = linear();
  const [weight, bias] = module.parameters();
  lossOf(module).backward();
  assert.deepEqual(bias.grad?.toNested(), [4, 4]);
  lossOf(module).backward();
  assert.deepEqual(bias.grad?.toNested(), [8, 8]);
  bias.grad = null;
  assert.equal(bias.grad, null);
  assert.notEqual(weight.grad, null);
  lossOf(module).backward();
  assert.deepEqual(bias.grad, tensor([4, 4]));
  bias.grad = tensor([1, 2]);
  lossOf(module).backward();
  assert.deepEqual(bias.grad, tensor([5, 6]));
  module.zeroGrad();
  assert.deepEqual(gradsOf(module.parameters()), [undefined, undefined]);
});

test('the same forward twice gives both gradients, retained ones once more', () => {
  const module = linear();
  const loss = hw.enableGrad(() => {
    const once = module.forward(x).output;
    return hw.sum(hw.add(once, module.forward(x).output));
  });
  loss.backward(undefined, { retainGraph: true });
  assert.deepEqual(module.parameters()[1].grad, tensor([8, 8]));
  loss.backward();
  assert.deepEqual(module.parameters()[1].grad, tensor([16, 16]));
  throwsCode(() => loss.backward(), 'ERR_VALUE', 'was freed');
});

test('a value is set from a tensor of its shape, and copied', () => {
  for (const parameter of [linear().parameters()[1], new Net().parameters()[2]]) {
    const value = tensor([5, 6]);
    parameter.data = value;
    value.data[0] = 0;
    assert.deepEqual(parameter.data, tensor([5, 6]));
    parameter.data.data[0] = 0;
    assert.deepEqual(parameter.data, tensor([5, 6]));
    throwsCode(
      () => (parameter.data = zeros([3])),
      'ERR_SHAPE',
      'data has shape [3]; expected [2]',
    );
    throwsCode(
      () => (parameter.grad = zeros([3])),
      'ERR_SHAPE',
      'grad has shape [3]; expected [2]',
    );
    throwsCode(() => (parameter.data = /** @type {any} */ ([5, 6])), 'ERR_VALUE', 'data is [5, 6]');
    const mode = /** @type {any} */ ('yes');
    throwsCode(() => (parameter.requiresGrad = mode), 'ERR_VALUE', 'requiresGrad is "yes"');
  }
});

test('frozen parameters get no gradient; a module of nothing else is not recorded', () => {
  const module = linear();
  const [weight, bias] = module.parameters();
  weight.requiresGrad = false;
  lossOf(module).backward();
  assert.deepEqual([weight.grad, bias.grad?.toNested()], [null, [4, 4]]);
  module.parameters()[1].requiresGrad = false;
  assert.equal(lossOf(module).requiresGrad, false);
  const given = data(1, [4, 3]);
  given.requiresGrad = true;
  hw.enableGrad(() => hw.sum(module.forward(given).output)).backward();
  assert.deepEqual(given.grad?.shape, [4, 3]);
  bias.requiresGrad = true;
  assert.equal(lossOf(module).requiresGrad, true);
});

test('frozen parameters of a model get no gradient from its loss', () => {
  const sizes = { vocabSize: 7, contextLength: 8, dModel: 4, numHeads: 1, numLayers: 1 };
  const model = new Gpt2(hw, sizes);
  const frozen = model.parameters().filter(({ name }) => name.startsWith('h.0.'));
  for (const each of frozen) each.requiresGrad = false;
  hw.enableGrad(() => model.loss([[1, 2, 3]])).backward();
  for (const each of model.parameters())
    assert.equal(each.grad === null, frozen.includes(each), each.name);
  model.dispose();
});

test('to freeze a parameter clears its gradient, so that no optimizer moves it', () => {
  const net = new Net();
  const parameters = net.parameters();
  const values = () => parameters.map(({ data: value }) => value);
  lossOf(net).backward();
  parameters.slice(1, 3).forEach((each) => (each.requiresGrad = false));
  assert.deepEqual([parameters[1].grad, net.gain.grad], [null, null]);
  const before = values();
  new hw.SGD(parameters).step();
  assert.deepEqual(
    values().map((value, i) => value.data.some((each, at) => each !== before[i].data[at])),
    [true, false, false, true, true, false, false],
  );
});

test('a module changed, or gone, between forward and backward is named', () => {
  const module = linear();
  const changes = [
    () => module.loadStateDict(module.stateDict()),
    () => (module.parameters()[0].data = module.parameters()[0].data),
    () => new hw.SGD(module.parameters()).step(),
    () => new hw.SGD([{ params: module.parameters() }]).step(),
  ];
  for (const change of changes) {
    lossOf(module).backward();
    const loss = lossOf(module);
    change();
    throwsCode(
      () => loss.backward(),
      'ERR_VALUE',
      'parameters of the Linear were changed',
      'again',
    );
  }
  const before = gradsOf(module.parameters());
  const other = linear();
  const both = hw.enableGrad(() => hw.add(lossOf(module), lossOf(other)));
  other.dispose();
  throwsCode(() => both.backward(), 'ERR_DISPOSED', 'the Linear was disposed of');
  assert.deepEqual(gradsOf(module.parameters()), before, 'nothing was added');
  throwsCode(() => other.parameters(), 'ERR_DISPOSED', 'the Linear was disposed of');
});

test('a module of modules finds its parts by name', () => {
  const net = new Net();
  assert.deepEqual(
    net.parameters().map(({ name }) => name),
    names,
  );
  const loss = lossOf(net);
  loss.backward();
  assert.deepEqual(
    net.parameters().map(({ grad }) => grad !== null),
    [true, true, true, true, true, false, false],
  );
  net.zeroGrad();
  assert.ok(net.parameters().every(({ grad }) => grad === null));
  assert.equal(net.train(false), net);
  assert.deepEqual([net.training, net.inner.training], [false, false]);
  net.train();
  assert.deepEqual([net.training, net.inner.training], [true, true]);
  net.dispose();
  throwsCode(() => net.parameters(), 'ERR_DISPOSED', 'the Net was disposed of');
});

test('a parameter has its name in the outermost module that has listed it, in whatever order', () => {
  const net = new Net();
  const [weight] = net.inner.parameters();
  assert.equal(weight.name, 'weight');
  assert.equal(net.parameters()[0], weight);
  assert.equal(weight.name, 'inner.weight');
  assert.equal(net.inner.parameters()[0].name, 'inner.weight');
  net.dispose();
});

test('a module of modules finds what arrays and plain objects hold, in the order in which it was put there', () => {
  class Branches extends hw.Module {
    /** @type {Record<string, any>} */ heads = { b: linear(), a: [linear()], lr: 0.1, none: null };
    list = [{ gain: Object.assign(tensor([1]), { requiresGrad: true }) }];
  }
  const net = new Branches();
  const keys = ['heads.b.weight', 'heads.b.bias', 'heads.a.0.weight', 'heads.a.0.bias'];
  const found = [...keys, 'list.0.gain'];
  assert.deepEqual(
    net.parameters().map(({ name }) => name),
    found,
  );
  net.heads.self = net.heads;
  net.heads.list = [net.heads];
  assert.deepEqual(Object.keys(net.eval().stateDict()), found, 'circles end');
  assert.equal(net.heads.a[0].training, false);
  net.loadStateDict(new Branches().stateDict());
});

test('a module of modules is saved and loaded strictly', () => {
  const [net, other] = [new Net(), new Net()];
  assert.equal(other.loadStateDict(net.stateDict()), other);
  assert.deepEqual(other.stateDict(), net.stateDict());
  const before = other.stateDict();
  const { gain: _, ...rest } = net.stateDict();
  throwsCode(
    () => other.loadStateDict({ ...rest, more: zeros([1]) }),
    ...['ERR_VALUE', 'dict does not fit Net: missing: gain; unexpected: more'],
  );
  const wrong = { ...rest, gain: zeros([3]), 'inner.bias': zeros([2]) };
  throwsCode(() => other.loadStateDict(wrong), 'ERR_SHAPE', 'gain has shape [3], expected [2]');
  assert.deepEqual(other.stateDict(), before);
  class Wrapped extends hw.Module {
    attention = new hw.MultiHeadAttention({ dIn: 4, dOut: 4, contextLength: 3, numHeads: 2 });
  }
  const wrapped = new Wrapped();
  const old = Object.entries(wrapped.stateDict()).map(([key, value]) => [
    key.replace('out_proj', 'fc_out'),
    value,
  ]);
  new Wrapped().loadStateDict(Object.fromEntries(old));
});

test('what is shared counts once, circles end, and depth has a limit', () => {
  class Tied extends hw.Module {
    first = linear();
    second = this.first;
    /** @type {any} */ self = this;
    gain = Object.assign(tensor([1]), { requiresGrad: true });
    bias = this.gain;
  }
  const tied = new Tied();
  assert.deepEqual(
    tied.parameters().map(({ name }) => name),
    ['first.weight', 'first.bias', 'gain'],
  );
  assert.equal(tied.parameterCount(), 9);
  assert.equal(Object.keys(tied.stateDict()).length, 6);
  tied.loadStateDict(tied.stateDict()).eval();
  class Deep extends hw.Module {
    /** @type {any} */ inner;
  }
  const top = new Deep();
  let at = top;
  for (let i = 0; i < 70; i++) at = at.inner = new Deep();
  at.inner = linear();
  throwsCode(() => top.parameters(), 'ERR_VALUE', 'expected at most 64');
});

test('a model learns from its loss, and generates while gradients are on', () => {
  hw.manualSeed(1);
  const sizes = { vocabSize: 7, contextLength: 8, dModel: 16, numHeads: 2, numLayers: 1 };
  const model = new Gpt2(hw, sizes);
  const optimizer = new hw.AdamW(model.parameters(), { lr: 0.01 });
  const ids = [[1, 2, 3, 4, 5, 6]];
  const losses = Array.from({ length: 60 }, () => {
    optimizer.zeroGrad();
    const loss = hw.enableGrad(() => model.loss(ids));
    loss.backward();
    optimizer.step();
    return loss.item();
  });
  assert.ok(losses[0] > 1.9 && losses[59] < 0.1, `${losses[0]} to ${losses[59]}`);
  hw.setGradEnabled(true);
  assert.deepEqual([...model.generate([1, 2], { maxTokens: 3 })], [3, 4, 5]);
  hw.setGradEnabled(false);
  const parts = Array.from(
    { length: 3 },
    (_, i) => new hw.TransformerBlock({ dModel: 4, numHeads: 2, dFf: 4 + i }),
  );
  const before = hw.memoryBytes;
  for (let i = 0; i < 5; i++)
    for (const part of parts)
      hw.enableGrad(() => hw.sum(part.forward(data(2, [8, 4])).output)).backward();
  assert.ok(hw.memoryBytes <= before + 2 ** 20);
  for (const each of [model, ...parts]) each.dispose();
});

test('a backward through scores says that they have no gradient', () => {
  const given = hw.randn([2, 4, 6]);
  given.requiresGrad = true;
  const call = () => hw.scaledDotProductAttention(given, given, given, { needWeights: 'scores' });
  const [mixed, apart] = hw.enableGrad(() => {
    const { output, weights } = call();
    return [weights, weights.detach()].map((each) => hw.add(hw.sum(output), hw.sum(each)));
  });
  throwsCode(() => mixed.backward(), 'ERR_VALUE', 'backward', 'returned scores');
  assert.equal(given.grad, null);
  apart.backward();
  assert.ok(given.grad);
  assert.equal(call().weights.requiresGrad, false, 'without gradients');
});

test('a loss of a model’s weights reaches its parameters and its head mask, with checkpointing too', () => {
  hw.manualSeed(3);
  const model = new hw.Decoder({
    ...{ model_type: 'llama', vocab_size: 9, hidden_size: 8, num_hidden_layers: 3 },
    ...{ num_attention_heads: 4, num_key_value_heads: 2, intermediate_size: 12 },
    max_position_embeddings: 6,
  });
  const headMask = hw.add(1, hw.rand([3, 4]));
  headMask.requiresGrad = true;
  const ids = [[1, 4, 2, 8, 5, 7]];
  const lossOfWeights = (/** @type {'last' | 'none'} */ logits = 'last') => {
    const { weights } = model.forward(ids, { needWeights: true, headMask, logits });
    const squares = weights.map((/** @type {Tensor} */ each) => hw.sum(hw.multiply(each, each)));
    return squares.reduce((/** @type {Tensor} */ sum, /** @type {Tensor} */ one) =>
      hw.add(sum, one),
    );
  };
  const gradients = (/** @type {'last' | 'none'} */ logits = 'last') => {
    headMask.grad = null;
    for (const parameter of model.parameters()) parameter.grad = null;
    hw.enableGrad(() => lossOfWeights(logits)).backward();
    return [headMask.grad, ...gradsOf(model.parameters())].map(
      (grad) => grad?.toNested?.() ?? grad,
    );
  };
  const plain = gradients();
  assert.deepEqual(gradients('none'), plain, 'without logits');
  model.gradientCheckpointingEnable();
  assert.deepEqual(gradients(), plain);
  model.gradientCheckpointingDisable();
  const slope = (/** @type {Float32Array} */ values, /** @type {number} */ i) => {
    const [before, h] = [values[i], 1 / 64];
    const at = (/** @type {number} */ step) => {
      values[i] = before + step;
      return lossOfWeights().item();
    };
    const result = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
    values[i] = before;
    return result;
  };
  const [ofMask] = /** @type {number[][][]} */ (plain);
  for (const i of [0, 5]) {
    const got = ofMask[Math.floor(i / 4)][i % 4];
    assert.ok(Math.abs(got - slope(headMask.data, i)) < 2e-4, `head ${i}: ${got}`);
  }
  assert.deepEqual(
    ofMask[2],
    [0, 0, 0, 0],
    'what the last layer’s heads write comes behind all weights',
  );
  model.dispose();
});

test('a forward with a cache computes with gradients on, and a backward through it says why it cannot', () => {
  const sizes = { dIn: 4, dOut: 4, contextLength: 4, numHeads: 2 };
  const model = new Gpt2(hw, {
    ...{ vocabSize: 7, contextLength: 8, dModel: 4, numHeads: 2, numLayers: 1 },
  });
  const layers = [new hw.MultiHeadAttention(sizes), new hw.MultiHeadAttention(sizes)];
  const caches = layers.map((layer) => layer.createCache());
  const given = data(1, [2, 4]);
  const through = (/** @type {any} */ from) =>
    layers.reduce((each, layer, i) => layer.forward(each, { cache: caches[i] }).output, from);
  const refused = (/** @type {any} */ of) =>
    throwsCode(() => of.backward(), 'ERR_VALUE', 'backward', 'a forward with the option cache');
  const expected = through(given);
  assert.equal(expected.requiresGrad, false);
  for (const requiresGrad of [false, true]) {
    given.requiresGrad = requiresGrad;
    caches.forEach((cache) => cache.truncate(0));
    const output = hw.enableGrad(() => through(given));
    assert.deepEqual([output.requiresGrad, output.data], [true, expected.data]);
    assert.equal(caches[1].length, 2);
    refused(hw.enableGrad(() => hw.sum(output)));
  }
  for (const layer of layers) layer.parameters().forEach((each) => (each.requiresGrad = false));
  given.requiresGrad = false;
  assert.equal(hw.enableGrad(() => through(given)).requiresGrad, false, 'nothing leads anywhere');

  // A sum of what is recorded and what is not: nothing of it is passed over.
  const ids = [1, 2, 3];
  const loss = hw.enableGrad(() => {
    const { logits } = model.forward(ids, { cache: model.createCache(), logits: 'all' });
    return hw.add(model.loss(ids), hw.crossEntropy(logits, [2, 3, 4]));
  });
  refused(loss);
  assert.ok(model.parameters().every(({ grad }) => grad === null));
  const headMask = Object.assign(tensor([[1, 1]]), { requiresGrad: true });
  model.parameters().forEach((each) => (each.requiresGrad = false));
  const muted = () => model.forward(ids, { cache: model.createCache(), headMask }).logits;
  refused(hw.enableGrad(() => hw.sum(muted())));
  assert.equal(hw.noGrad(muted).requiresGrad, false);
  for (const each of [model, ...layers]) each.dispose();
});

test('a thousand steps do not grow, nor do graphs without a backward', async () => {
  const script = `
    const { load, tensor } = await import(${JSON.stringify(import.meta.resolve('headwise'))});
    const hw = await load({ threads: 1 });
    const module = new hw.Linear({ inFeatures: 64, outFeatures: 64 });
    const optimizer = new hw.AdamW(module.parameters());
    const x = hw.randn([64, 64]);
    hw.setGradEnabled(true);
    const wait = () => new Promise((done) => setTimeout(done, 10));
    const steps = async (count, backward) => {
      for (let i = 0; i < count; i++) {
        const loss = hw.mean(module.forward(x).output);
        if (backward) {
          optimizer.zeroGrad();
          loss.backward();
          optimizer.step();
        }
        if (i % 50 === 0) { gc(); await wait(); }
      }
      for (let i = 0; i < 3; i++) { gc(); await wait(); }
      return { wasm: hw.memoryBytes, arrays: process.memoryUsage().arrayBuffers };
    };
    await steps(100, true);
    const before = await steps(100, false);
    await steps(1000, true);
    report({ before, after: await steps(200, false) });`;
  const { before, after } = await evaluate('a thousand steps', script, { flags: ['--expose-gc'] });
  assert.ok(after.wasm <= before.wasm, `${after.wasm} bytes, ${before.wasm} at first`);
  assert.ok(after.arrays <= before.arrays + 5e5, `${after.arrays}, ${before.arrays} at first`);
});
