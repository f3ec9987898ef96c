// AdamW, SGD and clipping: groups, what is saved and loaded, and what they refuse.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor, zeros } from 'headwise';
import { readSafetensors, writeSafetensors } from 'headwise/formats';
import { engine, throwsCode } from './helpers.js';
import { Net, hw, linear, lossOf } from './net.js';

for (const kind of /** @type {const} */ (['AdamW', 'SGD']))
  test(`${kind} goes on to the bit from what a safetensors file holds`, async () => {
    const options = kind === 'SGD' ? { momentum: 0.9, nesterov: true } : { betas: [0.7, 0.9] };
    /** @param {Net} net */
    const make = (net) =>
      new hw[kind](
        [
          { params: net.inner.parameters(), lr: 0.07 },
          { params: [net.gain, ...net.parameters().slice(3, 5)] },
        ],
        /** @type {any} */ ({ ...options, lr: 0.013 }),
      );
    /** @param {Net} net @param {import("headwise").AdamW | import("headwise").SGD} optimizer */
    const step = (net, optimizer) => {
      optimizer.zeroGrad();
      lossOf(net).backward();
      optimizer.step();
    };
    const net = new Net();
    const optimizer = make(net);
    for (let i = 0; i < 3; i++) step(net, optimizer);
    optimizer.groups[1].weightDecay = 0.3;
    const files = [net.stateDict(), optimizer.stateDict()].map((dict) => writeSafetensors(dict));
    const [weights, state] = await Promise.all(files.map((file) => readSafetensors(file)));
    const again = new Net().loadStateDict(/** @type {any} */ (weights.tensors));
    const resumed = make(again);
    step(again, resumed);
    again.loadStateDict(/** @type {any} */ (weights.tensors));
    assert.equal(resumed.loadStateDict(/** @type {any} */ (state.tensors)), resumed);
    assert.deepEqual(resumed.stateDict(), optimizer.stateDict());
    assert.deepEqual(
      resumed.groups.map(({ params: _, ...settings }) => settings),
      optimizer.groups.map(({ params: _, ...settings }) => settings),
    );
    for (let i = 0; i < 3; i++) {
      step(net, optimizer);
      step(again, resumed);
    }
    assert.deepEqual(again.stateDict(), net.stateDict());
    assert.deepEqual(resumed.stateDict(), optimizer.stateDict());
  });

test('a group takes its settings alone, and what is saved can be loaded', () => {
  const optimizer = new hw.AdamW(linear().parameters());
  /** @type {any[]} */
  const [group] = optimizer.groups;
  for (const key of ['initialLr', 'weight_decay', 'name'])
    assert.throws(() => (group[key] = 0.5), TypeError);
  assert.throws(() => delete group.lr, TypeError);
  group.lr = 0.5;
  const good = optimizer.stateDict();
  group.lr = 'x';
  throwsCode(() => optimizer.stateDict(), 'ERR_VALUE', 'lr is "x"');
  group.betas = [];
  assert.equal(optimizer.loadStateDict(good).lr, 0.5);
  assert.deepEqual(optimizer.stateDict(), good);
});

test('a group may be empty, as in torch', async () => {
  const { AdamW } = hw;
  const [weight, bias] = linear().parameters();
  const make = () => new AdamW([{ params: [] }, { params: [weight] }, { params: [], lr: 0.5 }]);
  const optimizer = make();
  weight.grad = zeros([2, 3]);
  optimizer.step();
  optimizer.zeroGrad();
  const file = writeSafetensors(optimizer.stateDict());
  const { tensors } = await readSafetensors(file);
  const resumed = make().loadStateDict(/** @type {any} */ (tensors));
  assert.deepEqual(resumed.stateDict(), optimizer.stateDict());
  assert.deepEqual(resumed.groups[2], { ...resumed.groups[0], lr: 0.5 });
  new AdamW([{ params: [] }]).step();
  throwsCode(
    () => new AdamW([{ params: bias }, /** @type {any} */ ({})]),
    'ERR_VALUE',
    'undefined',
  );
});

test('an optimizer that was disposed of does nothing more, of modules and of tensors', () => {
  const own = Object.assign(tensor([1]), { requiresGrad: true, grad: tensor([1]) });
  for (const parameters of [linear().parameters(), [own]]) {
    const optimizer = new hw.AdamW(parameters);
    optimizer.step();
    const saved = optimizer.stateDict();
    optimizer.dispose();
    optimizer.dispose();
    const value = own.data[0];
    for (const call of [
      () => optimizer.step(),
      () => optimizer.stateDict(),
      () => optimizer.loadStateDict(saved),
      () => optimizer.loadStateDict({}),
      () => optimizer.zeroGrad(),
    ])
      throwsCode(call, 'ERR_DISPOSED', 'the AdamW was disposed of');
    assert.equal(own.data[0], value);
  }
});

test('zeroGrad of a module that is gone clears no gradient of another', () => {
  const [one, other] = [linear(), linear()];
  const optimizer = new hw.SGD([...one.parameters(), ...other.parameters()], { lr: 0.1 });
  one.parameters()[1].grad = tensor([3, 0]);
  other.dispose();
  throwsCode(() => optimizer.zeroGrad(), 'ERR_DISPOSED');
  assert.deepEqual(one.parameters()[1].grad, tensor([3, 0]));
});

test('a step of a module that is gone updates nothing of another', () => {
  const [one, other] = [linear(), linear()];
  const optimizer = new hw.SGD([...one.parameters(), ...other.parameters()], { lr: 0.1 });
  for (const each of [...one.parameters(), ...other.parameters()]) each.grad = each.data;
  const before = one.stateDict();
  other.dispose();
  throwsCode(() => optimizer.step(), 'ERR_DISPOSED', 'the Linear was disposed of');
  assert.deepEqual(one.stateDict(), before);
});

test('each parameter’s steps are saved, none of one that never had a gradient', () => {
  const [weight, bias] = linear().parameters();
  const own = Object.assign(tensor([1]), { requiresGrad: true });
  const optimizer = new hw.AdamW([weight, bias, own]);
  const steps = () => {
    const dict = optimizer.stateDict();
    return [0, 1, 2].map((i) => dict[`state.${i}.step`]?.item());
  };
  assert.deepEqual(steps(), [undefined, undefined, undefined]);
  bias.grad = bias.data;
  optimizer.step();
  weight.grad = weight.data;
  optimizer.step();
  assert.deepEqual(steps(), [1, 2, undefined]);
});

test('a state dict is a copy, and so is the list of groups', () => {
  const own = Object.assign(tensor([1]), { requiresGrad: true, grad: tensor([1]) });
  const optimizer = new hw.AdamW([own]);
  optimizer.step();
  const saved = writeSafetensors(optimizer.stateDict());
  for (const { data } of Object.values(optimizer.stateDict())) data.fill(9);
  optimizer.groups.pop();
  assert.deepEqual(writeSafetensors(optimizer.stateDict()), saved);
});

test('a state dict whose parameters stand in another order is refused', () => {
  const optimizer = new hw.AdamW(linear().parameters());
  const dict = { ...optimizer.stateDict(), 'param_groups.0.params': tensor([1, 0]) };
  const words = ['param_groups.0.params is [1, 0]', 'expected 0 and the numbers that follow'];
  throwsCode(() => optimizer.loadStateDict(dict), 'ERR_VALUE', ...words);
});

test('a step of a tensor whose data is gone, or its gradient’s, updates nothing', () => {
  for (const kind of /** @type {const} */ (['AdamW', 'SGD']))
    for (const gone of /** @type {const} */ (['data', 'grad'])) {
      const make = () =>
        /** @type {any} */ (
          Object.assign(tensor([1, 2]), { requiresGrad: true, grad: tensor([1, 1]) })
        );
      const [a, b] = [make(), make()];
      const module = linear();
      module.parameters().forEach((each) => (each.grad = each.data));
      const before = module.stateDict();
      const optimizer = new hw[kind]([{ params: module.parameters() }, { params: [a, b] }]);
      const { buffer } = gone === 'data' ? b.data : b.grad.data;
      structuredClone(buffer, { transfer: [/** @type {ArrayBuffer} */ (buffer)] });
      throwsCode(() => optimizer.step(), 'ERR_SHAPE', '0 values');
      assert.deepEqual([...a.data], [1, 2]);
      assert.deepEqual(module.stateDict(), before);
      // Of a tensor that has none, the data may be gone.
      b.grad = null;
      optimizer.step();
      assert.notDeepEqual([...a.data], [1, 2]);
    }
});

test('lr is the first group’s, and setting it sets all', () => {
  const [a, b] = [linear(), linear()];
  const optimizer = new hw.AdamW([
    { params: a.parameters(), lr: 0.5, weightDecay: 0 },
    { params: b.parameters() },
  ]);
  assert.deepEqual([optimizer.lr, ...optimizer.groups.map(({ lr }) => lr)], [0.5, 0.5, 1e-3]);
  assert.deepEqual(optimizer.groups[1].betas, [0.9, 0.999]);
  const group = /** @type {any} */ (optimizer.groups[1]);
  assert.throws(() => group.params.push(a.parameters()[0]), TypeError);
  assert.throws(() => (group.params = a.parameters()), TypeError);
  optimizer.lr = 0.25;
  assert.deepEqual(
    optimizer.groups.map(({ lr }) => lr),
    [0.25, 0.25],
  );
  const before = a.stateDict();
  optimizer.step();
  assert.deepEqual(a.stateDict(), before, 'without gradients nothing changes');
  optimizer.groups[0].lr = -1;
  throwsCode(() => optimizer.step(), 'ERR_VALUE', 'lr is -1');
});

test('clipGradNorm gives the norm before, over modules and tensors', () => {
  const module = linear();
  const own = Object.assign(tensor([0, 0]), { requiresGrad: true });
  module.parameters()[1].grad = tensor([3, 0]);
  own.grad = tensor([0, 4]);
  const all = [...module.parameters(), own, own];
  assert.equal(hw.clipGradNorm(all, 10), 5);
  assert.deepEqual(own.grad, tensor([0, 4]));
  assert.equal(hw.clipGradNorm(all, 1), 5);
  const near = (/** @type {number} */ a, /** @type {number} */ b) =>
    assert.ok(Math.abs(a - b) < 1e-6);
  near(own.grad.data[1], 0.8);
  near(Number(module.parameters()[1].grad?.data[0]), 0.6);
  assert.equal(hw.clipGradNorm(linear().parameters(), 1), 0);
  throwsCode(() => hw.clipGradNorm(all, NaN), 'ERR_VALUE', 'maxNorm is NaN');
  const any = (/** @type {unknown} */ value) => /** @type {any} */ (value);
  throwsCode(() => hw.clipGradNorm(all, 1, any(Infinity)), 'ERR_VALUE', 'clipGradNorm: options');
  throwsCode(() => hw.clipGradNorm(all, 1, any({ normType: 1 })), 'ERR_VALUE', 'option normType');
});

test('clipGradNorm of squares beyond float32 is Infinity, as in torch, of modules and of tensors', () => {
  const module = linear();
  const own = Object.assign(tensor([0, 0]), { requiresGrad: true });
  for (const [value, norm, after] of [
    [1e30, Infinity, 0],
    [1e-30, 0, 1e-30],
  ]) {
    own.grad = module.parameters()[1].grad = tensor([value, 0]);
    assert.equal(hw.clipGradNorm(module.parameters(), 1), norm);
    assert.equal(hw.clipGradNorm([own], 1), norm);
    assert.deepEqual(own.grad, tensor([after, 0]));
    assert.deepEqual(module.parameters()[1].grad, own.grad);
  }
});

test('clipGradNorm divides by the norm and a millionth, as in torch, of modules and of tensors', () => {
  const module = linear();
  const own = Object.assign(tensor([0, 0]), { requiresGrad: true });
  const small = Math.fround(1e-6);
  own.grad = module.parameters()[1].grad = tensor([small, 0]);
  const near = (/** @type {number} */ a, /** @type {number} */ b) =>
    assert.ok(Math.abs(a - b) < 1e-12, `${a}, expected ${b}`);
  for (const parameters of [module.parameters(), [own]])
    near(hw.clipGradNorm(parameters, small), small);
  near(own.grad.data[0], small / 2);
  assert.deepEqual(module.parameters()[1].grad, own.grad);
});

test('clipGradNorm of no parameters is 0, as in torch', () => {
  assert.equal(hw.clipGradNorm([], 1), 0);
  assert.equal(hw.clipGradNorm([], 0), 0);
  const any = (/** @type {unknown} */ value) => /** @type {any} */ (value);
  throwsCode(() => hw.clipGradNorm([], NaN), 'ERR_VALUE', 'maxNorm is NaN');
  throwsCode(() => hw.clipGradNorm(any(undefined), 1), 'ERR_VALUE', 'parameters is undefined');
});

test('clipGradNorm makes all gradients NaN if one is, as in torch', () => {
  const module = linear();
  const [weight, bias] = module.parameters();
  weight.grad = tensor(new Float32Array(6).fill(1), weight.shape);
  bias.grad = tensor([NaN, 1]);
  const own = Object.assign(tensor([0]), { requiresGrad: true, grad: tensor([1]) });
  assert.equal(hw.clipGradNorm([...module.parameters(), own], 1), NaN);
  const all = [weight, bias, own].flatMap(({ grad }) => [...(grad?.data ?? [])]);
  assert.deepEqual(all, new Array(9).fill(NaN));
});

test('optimizers refuse what they cannot use, in words', async () => {
  const module = linear();
  const parameters = module.parameters();
  const any = (/** @type {unknown} */ value) => /** @type {any} */ (value);
  const { AdamW, SGD } = hw;
  throwsCode(() => new AdamW([]), 'ERR_VALUE', 'parameters is []');
  throwsCode(() => new AdamW(any(undefined)), 'ERR_VALUE', 'parameters is undefined');
  throwsCode(() => new AdamW(any(null)), 'ERR_VALUE', 'parameters is null');
  throwsCode(
    () => new AdamW([zeros([2])]),
    'ERR_VALUE',
    'parameters[0] is a Tensor',
    'requiresGrad',
  );
  throwsCode(() => new AdamW(any([1])), 'ERR_VALUE', 'parameters[0] is 1');
  throwsCode(() => new AdamW(any([{ lr: 1 }])), 'ERR_VALUE', 'parameters[0].params is undefined');
  throwsCode(() => new AdamW([...parameters, parameters[0]]), 'ERR_VALUE', 'a parameter twice');
  throwsCode(
    () => new AdamW(parameters, any({ momentum: 1 })),
    'ERR_VALUE',
    'AdamW: unknown option momentum',
  );
  // What float32 does not hold was NaN in a state dict.
  for (const name of ['lr', 'eps', 'weightDecay'])
    throwsCode(() => new AdamW(parameters, { [name]: 1e39 }), 'ERR_VALUE', `${name} is 1e+39`);
  for (const name of ['lr', 'momentum', 'weightDecay'])
    throwsCode(() => new SGD(parameters, { [name]: 1e39 }), 'ERR_VALUE', `${name} is 1e+39`);
  throwsCode(() => new AdamW(parameters, { lr: -1 }), 'ERR_VALUE', 'lr is -1');
  throwsCode(() => new AdamW(parameters, { betas: [0.9, 1] }), 'ERR_VALUE', 'betas[1] is 1');
  throwsCode(() => new AdamW(parameters, { betas: any(0.9) }), 'ERR_VALUE', 'betas is 0.9');
  throwsCode(() => new AdamW(parameters, { eps: NaN }), 'ERR_VALUE', 'eps is NaN');
  throwsCode(
    () => new SGD(parameters, { nesterov: true }),
    'ERR_VALUE',
    'nesterov is true',
    'momentum',
  );
  const other = await engine();
  throwsCode(() => new other.SGD(parameters), 'ERR_VALUE', 'parameters[0] is of another engine');
  const optimizer = new AdamW(parameters);
  throwsCode(() => (optimizer.lr = NaN), 'ERR_VALUE', 'lr is NaN');
  throwsCode(() => optimizer.step(any(() => 1)), 'ERR_VALUE', 'step: options is a function');
  throwsCode(() => optimizer.zeroGrad(any({ setToNone: true })), 'ERR_VALUE', 'option setToNone');
  throwsCode(() => module.zeroGrad(any(true)), 'ERR_VALUE', 'zeroGrad: options is true');
  throwsCode(() => new Net().zeroGrad(any(true)), 'ERR_VALUE', 'zeroGrad: options is true');
  const good = optimizer.stateDict();
  throwsCode(() => any(optimizer).stateDict({ prefix: 'a' }), 'ERR_VALUE', 'option prefix');
  throwsCode(() => optimizer.loadStateDict(any(null)), 'ERR_VALUE', 'dict is null');
  throwsCode(() => optimizer.loadStateDict({}), 'ERR_VALUE', 'dict has no param_groups.0.params');
  throwsCode(
    () => optimizer.loadStateDict({ ...good, 'state.0.exp_avg': zeros([3]) }),
    ...['ERR_SHAPE', 'state.0.exp_avg has shape [3]; expected [2, 3]'],
  );
  throwsCode(
    () => optimizer.loadStateDict({ ...good, 'state.0.step': tensor(0.5) }),
    ...['ERR_VALUE', 'state.0.step is 0.5'],
  );
  throwsCode(
    () => optimizer.loadStateDict({ ...good, more: zeros([1]) }),
    'ERR_VALUE',
    'unexpected: more',
  );
  throwsCode(
    () =>
      optimizer.loadStateDict({
        ...good,
        'param_groups.0.lr': zeros([3]),
        'param_groups.0.betas': tensor([
          [2, 0, 0],
          [0, 0, 0],
        ]),
      }),
    ...['ERR_VALUE', 'betas[0] is 2'],
  );
  assert.deepEqual(optimizer.stateDict(), good);
  module.dispose();
  throwsCode(() => optimizer.step(), 'ERR_DISPOSED', 'the Linear was disposed of');
  optimizer.dispose();
  other.dispose();
});
