// Modules and tensors with requiresGrad inside modules of the engine, and what a module asks of those inside it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor, zeros } from 'headwise';
import { Decoder } from 'headwise/models';
import { allClose, data, engine, throwsCode } from './helpers.js';

/** @import { Tensor } from 'headwise' */

const hw = await engine();

/** @param {Tensor} value */
const parameter = (value) => Object.assign(value, { requiresGrad: true });

/** LoRA (Hu et al. 2021): x·Wᵀ + b + x·downᵀ·upᵀ. */
class Lora extends hw.Linear {
  /** @param {{ inFeatures: number, outFeatures: number, rank: number }} options */
  constructor({ rank, ...options }) {
    super(options);
    this.down = parameter(hw.randn([rank, options.inFeatures]));
    this.up = parameter(zeros([options.outFeatures, rank]));
  }

  /** @override @param {Tensor} x */
  forward(x) {
    const added = hw.matmul(hw.matmul(x, hw.transpose(this.down)), hw.transpose(this.up));
    return { output: hw.add(super.forward(x).output, added) };
  }
}

const lora = () => new Lora({ inFeatures: 3, outFeatures: 2, rank: 1 });
const x = data(1, [4, 3]);

test('LoRA of one’s own trains, is saved and is loaded', () => {
  const layer = lora();
  const keys = ['weight', 'bias', 'down', 'up'];
  assert.deepEqual(Object.keys(layer.stateDict()), keys);
  assert.equal(layer.parameterCount(), 13);
  const [weight, bias] = layer.parameters();
  weight.requiresGrad = bias.requiresGrad = false;
  const before = layer.stateDict();
  const target = data(2, [4, 2]);
  const optimizer = new hw.AdamW(
    layer.parameters().filter(({ requiresGrad }) => requiresGrad),
    { lr: 0.1 },
  );
  const losses = Array.from({ length: 30 }, () => {
    const loss = hw.enableGrad(() => hw.mseLoss(layer.forward(x).output, target));
    layer.zeroGrad();
    loss.backward();
    optimizer.step();
    return loss.item();
  });
  assert.ok(losses[29] < losses[0] / 2, `${losses[0]} to ${losses[29]}`);
  const after = layer.stateDict();
  assert.deepEqual([after.weight, after.bias], [before.weight, before.bias]);
  assert.notDeepEqual(after.up, before.up);
  const other = lora().loadStateDict(after);
  assert.deepEqual(other.forward(x), layer.forward(x));
  const { up: _, ...rest } = after;
  throwsCode(() => other.loadStateDict(rest), 'ERR_VALUE', 'dict does not fit Lora: missing: up');
});

test('what is inside a module of the engine is found wherever that module is', () => {
  class Net extends hw.Module {
    layer = lora();
  }
  const net = new Net();
  const keys = ['layer.weight', 'layer.bias', 'layer.down', 'layer.up'];
  assert.deepEqual(Object.keys(net.stateDict()), keys);
  assert.deepEqual(
    net.parameters().map(({ name }) => name),
    keys,
  );
  new Net().loadStateDict(net.stateDict());
});

test('a block with a module of its own trains, evaluates and frees it', () => {
  class Gated extends hw.TransformerBlock {
    attentions = [
      new hw.MultiHeadAttention({ dIn: 4, dOut: 4, contextLength: 3, numHeads: 2, dropout: 0.5 }),
    ];
  }
  const block = new Gated({ dModel: 4, numHeads: 2, dFf: 8 });
  const [attention] = block.attentions;
  assert.deepEqual([block.eval().training, attention.training], [false, false]);
  assert.deepEqual([block.train().training, attention.training], [true, true]);
  const state = block.stateDict();
  const own = Object.keys(attention.stateDict()).map((key) => `attentions.0.${key}`);
  assert.deepEqual(Object.keys(state).slice(-own.length), own);
  // A key that the inner module accepts beside its own.
  const renamed = Object.entries(state).map(([key, value]) => [
    key.replace(/^(attentions.*)out_proj/, '$1fc_out'),
    value,
  ]);
  block.loadStateDict(Object.fromEntries(renamed));
  block.dispose();
  throwsCode(() => attention.stateDict(), 'ERR_DISPOSED', 'the MultiHeadAttention');
});

test('a model with a head of its own lists it', () => {
  const config = { model_type: 'gpt2', vocab_size: 7, n_embd: 4, n_layer: 1, n_head: 2, n_ctx: 5 };
  class Classifier extends Decoder {
    score = new hw.Linear({ inFeatures: 4, outFeatures: 2, bias: false });
  }
  const model = new Classifier(hw, config);
  const plain = new Decoder(hw, config);
  assert.deepEqual(Object.keys(model.stateDict()), [
    ...Object.keys(plain.stateDict()),
    'score.weight',
  ]);
  allClose(
    model.loadStateDict({ ...model.stateDict(), ...plain.stateDict() }).forward([1, 2]).logits,
    plain.forward([1, 2]).logits,
  );
});

test('a parameter is the same object whoever lists it, so that a part can be frozen or left out', () => {
  class Net extends hw.Module {
    body = new hw.Linear({ inFeatures: 3, outFeatures: 3 });
    head = lora();
  }
  const net = new Net();
  const head = new Set(net.head.parameters());
  const body = net.parameters().filter((each) => !head.has(each));
  assert.deepEqual(
    body.map(({ name }) => name),
    ['body.weight', 'body.bias'],
  );
  body.forEach((each) => (each.requiresGrad = false));
  assert.ok(net.head.parameters().every(({ requiresGrad }) => requiresGrad));
  const groups = [{ params: [...head], lr: 0.1 }, { params: body }];
  assert.equal(new hw.SGD(groups, { lr: 0.01 }).groups.length, 2);
});

test('named parameters have the names of the state dict of whoever lists them', () => {
  class Net extends hw.Module {
    part = new hw.Linear({ inFeatures: 3, outFeatures: 2 });
  }
  const net = new Net();
  const namesOf = (/** @type {import('headwise').Module} */ module) =>
    module.namedParameters().map(({ name }) => name);
  assert.deepEqual(namesOf(net.part), ['weight', 'bias']);
  assert.deepEqual(namesOf(net), ['part.weight', 'part.bias']);
  assert.deepEqual(namesOf(net.part), ['weight', 'bias']);
  // The same parameters, wherever they are met.
  const [weight] = net.part.namedParameters();
  weight.requiresGrad = false;
  assert.ok(!net.parameters()[0].requiresGrad);
  throwsCode(() => new hw.SGD([weight, ...net.parameters()], { lr: 1 }), 'ERR_VALUE', 'twice');
});

test('train and dispose of an inner module are asked, also where a class has its own', () => {
  let freed = 0;
  class Frozen extends hw.Module {
    feedForward = new hw.FeedForward({ dModel: 4, dFf: 8, dropout: 0.5 });
    /** @override */
    train() {
      return super.train(false);
    }
    /** @override */
    dispose() {
      freed++;
      super.dispose();
    }
  }
  class Net extends hw.Module {
    backbone = new Frozen();
    head = new hw.FeedForward({ dModel: 4, dFf: 8 });
    /** @type {object | undefined} */ top = undefined;
  }
  const net = new Net();
  net.backbone.train();
  /** @type {any} */ (net.backbone).net = net;
  const modes = () =>
    [net, net.backbone, net.backbone.feedForward, net.head].map((m) => m.training);
  assert.equal(net.train(), net);
  assert.deepEqual(modes(), [true, false, false, true]);
  net.training = false;
  assert.deepEqual(modes(), [false, false, false, false]);
  net.dispose();
  net.dispose();
  assert.ok(freed > 0);
  throwsCode(() => net.parameters(), 'ERR_DISPOSED', 'the Net was disposed of');
});

test('train and eval change nothing where a part is gone', () => {
  class Two extends hw.Module {
    a = lora();
    b = lora();
  }
  const net = new Two();
  net.b.dispose();
  throwsCode(() => net.eval(), 'ERR_DISPOSED');
  assert.deepEqual([net.training, net.a.training], [true, true]);
});

test('the grad of a parameter that is a tensor is a copy, which clipping leaves as it is', () => {
  const layer = lora();
  layer.up.grad = tensor([[3], [4]]);
  const up = layer.parameters().at(-1);
  const { grad } = /** @type {NonNullable<typeof up>} */ (up);
  assert.ok(grad);
  assert.equal(hw.clipGradNorm(layer.parameters(), 1), 5);
  grad.data[1] = 7;
  assert.deepEqual(grad, tensor([[3], [7]]));
  allClose(/** @type {Tensor} */ (layer.up.grad), tensor([[0.6], [0.8]]));
});

test('the grad of a parameter that is a tensor is set to a copy', () => {
  const layer = lora();
  const up = /** @type {import('headwise').Parameter} */ (layer.parameters().at(-1));
  const given = tensor([[3], [4]]);
  up.grad = given;
  given.data[0] = 9;
  assert.deepEqual(layer.up.grad, tensor([[3], [4]]));
  const before = [...layer.up.data];
  new hw.SGD([up], { lr: 1 }).step();
  allClose(layer.up, tensor([[before[0] - 3], [before[1] - 4]]));
  throwsCode(() => (up.grad = tensor([1])), 'ERR_SHAPE', 'grad has shape [1]; expected [2, 1]');
});

test('a class may use the names that the package uses inside', () => {
  class Named extends hw.Linear {
    pointer = 65536;
    places = 4;
    trains = false;
    inner = 'mine';
  }
  const named = new Named({ inFeatures: 3, outFeatures: 2 });
  const loss = hw.enableGrad(() => hw.sum(named.train().forward(x).output));
  loss.backward();
  assert.ok(named.parameters().every(({ grad }) => grad !== null));
  assert.deepEqual([named.pointer, named.places, named.trains], [65536, 4, false]);
  assert.equal(tensor([named.parameterCount()]).item(), 8);
});
