// Training with the engine in a Worker: the same calls, awaited; the loop runs here, and pauses or ends where it likes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as here from 'headwise';
import { load } from 'headwise/worker';
import { loadCheckpoint } from './gpt2.js';
import { data, rejectsCode, throwsCode } from './helpers.js';

const sizes = { inFeatures: 3, outFeatures: 2 };
const [x, target] = [data(1, [4, 3]), data(2, [4, 2])];
const any = (/** @type {unknown} */ value) => /** @type {any} */ (value);

/**
 * @param {any} hw an engine, perhaps in a Worker
 * @param {AbortSignal} [signal]
 * @param {(loss: number, step: number) => unknown} [onProgress] may take its time
 */
async function train(hw, signal, onProgress) {
  await hw.manualSeed(3);
  const module = await new hw.Linear(sizes);
  const optimizer = await new hw.AdamW(await module.parameters(), { lr: 0.05 });
  await hw.setGradEnabled(true);
  const losses = [];
  for (let step = 0; step < 5 && !signal?.aborted; step++) {
    optimizer.lr = 0.05 / (step + 1);
    await optimizer.zeroGrad();
    const { output } = await module.forward(x);
    const loss = await hw.mseLoss(output, target);
    await loss.backward();
    await hw.clipGradNorm(await module.parameters(), 1);
    await optimizer.step();
    losses.push(loss.item());
    await onProgress?.(loss.item(), step);
  }
  return { losses, state: await module.stateDict(), kept: await optimizer.stateDict() };
}

test('a loop over an engine in a Worker gives the bits of one here', async () => {
  const [near, far] = [await here.load({ threads: 1 }), await load({ threads: 1 })];
  assert.deepEqual(await train(far), await train(near));
  await far.dispose();
  near.dispose();
});

test('a loop tells how far it is, waits, and ends on a signal', async () => {
  const hw = await load();
  const controller = new AbortController();
  /** @type {number[]} */
  const seen = [];
  const { losses } = await train(hw, controller.signal, async (loss, step) => {
    seen.push(loss);
    await new Promise((resume) => setTimeout(resume, 5));
    if (step === 2) controller.abort();
  });
  assert.deepEqual([losses.length, seen], [3, losses]);
  await hw.dispose();
});

test('what was recorded in a Worker is itself when it comes back', async () => {
  const hw = await load();
  const module = await new hw.Linear(sizes);
  const loss = /** @type {import('headwise').Tensor} */ (
    await hw.enableGrad(async () => {
      const { output } = await module.forward(x);
      assert.equal(output.requiresGrad, true);
      return hw.sum(await hw.multiply(output, target));
    })
  );
  const [, bias] = await module.parameters();
  assert.equal(await bias.name, 'bias');
  await loss.backward(undefined, { retainGraph: true });
  await loss.backward();
  const sum = here.zeros([2]);
  target.data.forEach((value, i) => (sum.data[i % 2] += 2 * value));
  const { grad } = bias;
  assert.deepEqual(Array.from(any(await grad).data, Math.fround), Array.from(sum.data));
  await rejectsCode(any(loss.backward()), 'ERR_VALUE', 'was freed');
  assert.equal((await module.forward(x)).output.requiresGrad, false, 'gradients are off again');
  bias.grad = any(null);
  assert.equal(await bias.grad, null);
  await hw.dispose();
});

test('what the shape methods give has a graph only where gradients are on, in a Worker too', async () => {
  const far = await load();
  for (const hw of [any(here), any(far)]) {
    const engine = hw === any(here) ? any(await here.load({ threads: 1 })) : hw;
    const module = await new engine.Linear(sizes);
    const { output } = await engine.enableGrad(() => module.forward(x));
    const flagsOf = () => [
      output.reshape(new Proxy([-1], {})).requiresGrad,
      output.permute([1, 0]).slice([0, 1]).requiresGrad,
      [...output][0].requiresGrad,
    ];
    assert.deepEqual(flagsOf(), [false, false, false], 'off at first');
    await assert.rejects(async () => output.reshape([-1]).slice([0, 1]).backward(), /has no graph/);
    assert.deepEqual(await engine.enableGrad(async () => flagsOf()), [true, true, true]);
    await engine.setGradEnabled(true);
    assert.deepEqual(flagsOf(), [true, true, true]);
    assert.deepEqual(await engine.noGrad(async () => flagsOf()), [false, false, false]);
    await assert.rejects(async () => engine.noGrad(() => Promise.reject(new Error('own'))), /own/);
    await assert.rejects(async () => engine.noGrad(any(3)), /fn is 3/);
    await assert.rejects(async () => engine.setGradEnabled(any(0)), /mode is 0/);
    assert.deepEqual(flagsOf(), [true, true, true], 'as before');
    /** @type {Promise<boolean[]> | undefined} */
    let flags;
    const later = async () => {
      for (let i = 0; i < 9; i++) await undefined;
      return flagsOf();
    };
    await engine.noGrad(() => void (flags = later()));
    assert.deepEqual(await flags, [true, true, true], 'before the Worker has answered');
    await output.reshape([-1]).slice([0, 1]).backward();
    await engine.dispose();
  }
});

test('gradients go back through reshape, permute, slice and the first axis of what was recorded in a Worker', async () => {
  /** @param {any} hw */
  async function gradient(hw) {
    await hw.manualSeed(3);
    const module = await new hw.Linear(sizes);
    await hw.setGradEnabled(true);
    const { output } = await module.forward(x);
    const [first, second] = output.permute([1, 0]).slice([0, 2], [1, 4]);
    const product = await hw.multiply(await first.reshape([3, 1]), second);
    const plain = await hw.noGrad(() => hw.multiply(output.reshape([-1]), 5));
    assert.equal(plain.requiresGrad, false);
    const loss = await hw.sum(await hw.multiply(product, product));
    await loss.backward(undefined, { retainGraph: true });
    await first.reshape([-1]).slice([0, 1]).backward();
    assert.deepEqual(first.reshape([-1], () => 1).shape, [3], 'what it does not take is not sent');
    return (await module.parameters())[0].grad;
  }
  const [near, far] = [await here.load({ threads: 1 }), await load({ threads: 1 })];
  const expected = await gradient(near);
  assert.ok(any(expected).data.every((/** @type {number} */ value) => value !== 0));
  assert.deepEqual(await gradient(far), expected);
  await far.dispose();
  near.dispose();
});

test('sums and sums’ gradients of no elements are in a Worker what they are here', async () => {
  const hw = await load();
  const empty = here.zeros([2, 0]);
  assert.deepEqual(await hw.sum(empty, { axis: [] }), here.tensor(0));
  assert.deepEqual(await hw.mean(empty, { axis: 0 }), here.zeros([0]));
  assert.deepEqual(await hw.add(empty, 1), empty);
  const module = await new hw.Linear(sizes);
  await hw.enableGrad(async () => {
    const { output } = await module.forward(x);
    await (await hw.sum(await hw.multiply(output.slice([1, 1]), 2))).backward();
  });
  assert.equal(await hw.clipGradNorm(await module.parameters(), 1), 0);
  assert.equal(await hw.clipGradNorm([], 1), 0);
  await hw.dispose();
});

test('settings of one group of an optimizer in a Worker can be changed', async () => {
  const hw = await load();
  const module = await new hw.Linear(sizes);
  const [weight, bias] = await module.parameters();
  const optimizer = any(await new hw.SGD([{ params: [weight] }, { params: [bias] }], { lr: 1 }));
  const groups = await optimizer.groups;
  groups[1].lr = 0.25;
  assert.equal(groups[1].lr, 0.25);
  assert.ok(Object.isFrozen(groups[1].params));
  const again = await optimizer.groups;
  assert.deepEqual(
    again.map((/** @type {{ lr: number }} */ { lr }) => lr),
    [1, 0.25],
  );
  const before = /** @type {any} */ (await bias.data);
  bias.grad = any(here.tensor([1, 2]));
  await optimizer.step();
  const after = any(await bias.data);
  assert.deepEqual(after.data, Float32Array.of(before.data[0] - 0.25, before.data[1] - 0.5));
  await hw.dispose();
});

test('a group in a Worker takes its settings alone, as here', async () => {
  const hw = await load();
  const module = await new hw.Linear(sizes);
  const optimizer = any(await new hw.AdamW(await module.parameters()));
  const [group] = await optimizer.groups;
  assert.throws(() => (group.initialLr = 0.5), TypeError);
  await optimizer.loadStateDict(await optimizer.stateDict());
  await rejectsCode(
    optimizer.step(() => 1),
    'ERR_VALUE',
    'step: options is a function',
  );
  await rejectsCode(
    any(hw).clipGradNorm(await module.parameters(), 1, Infinity),
    ...['ERR_VALUE', 'clipGradNorm: options is Infinity'],
  );
  await optimizer.dispose();
  await rejectsCode(optimizer.step(), 'ERR_DISPOSED', 'the AdamW was disposed of');
  await hw.dispose();
});

test('what an engine here has made is refused in a Worker as another engine’s', async () => {
  const [near, far] = [await here.load(), await load()];
  const module = new near.Linear(sizes);
  const optimizer = new near.SGD(module.parameters());
  for (const [given, name] of /** @type {const} */ ([
    [module.parameters(), 'Parameter'],
    [[{ params: module.parameters() }], 'Parameter'],
    [module, 'Linear'],
    [optimizer, 'SGD'],
    [near, 'Headwise'],
  ]))
    await rejectsCode(
      any(new far.AdamW(any(given))),
      ...['ERR_VALUE', `an argument is a ${name} of another engine`],
    );
  near.dispose();
  await far.dispose();
});

test('to freeze a parameter in a Worker clears its gradient', async () => {
  const hw = await load();
  const module = await new hw.Linear(sizes);
  const [weight] = await module.parameters();
  weight.grad = any(here.zeros([2, 3]));
  weight.requiresGrad = any(false);
  assert.equal(await weight.grad, null);
  await hw.dispose();
});

test('a stretch in a Worker gives what its function returned, itself', async () => {
  const hw = await load();
  const values = { tensor: here.tensor([1, 2]), name: Symbol('of mine'), call: () => 1 };
  assert.equal(await hw.noGrad(async () => values), values);
  assert.deepEqual(values.tensor, here.tensor([1, 2]));
  await rejectsCode(hw.enableGrad(any(3)), 'ERR_VALUE', 'fn is 3');
  await hw.dispose();
});

test('a stretch whose function throws has ended in the Worker before the next call', async () => {
  const hw = await load();
  const reason = new Error('enough');
  const fails = async () => {
    throw reason;
  };
  await assert.rejects(hw.enableGrad(fails), (error) => error === reason);
  assert.equal(await hw.isGradEnabled(), false);
  await hw.setGradEnabled(true);
  await assert.rejects(hw.noGrad(fails), (error) => error === reason);
  assert.equal(await hw.isGradEnabled(), true);
  await hw.dispose();
});

test('a tensor of the page that requires gradients is refused, as none reach it', async () => {
  const hw = await load();
  const own = here.tensor([1, 2]);
  own.requiresGrad = true;
  await rejectsCode(
    hw.sum(own),
    'ERR_VALUE',
    "a Worker computes gradients of its modules' parameters",
  );
  await hw.dispose();
});

test("a Worker's recorded tensor used by an engine here says that no gradient leads back, until it is detached", async () => {
  const [near, far, other] = [await here.load(), await load(), await load()];
  await far.setGradEnabled(true);
  const module = await new far.Linear(sizes);
  const { output } = await module.forward(x);
  const loss = near.enableGrad(() => near.mseLoss(output, target));
  throwsCode(() => loss.backward(), 'ERR_VALUE', 'backward', 'a tensor of a Worker', 'detach()');
  const part = near.enableGrad(() => near.sum(output.slice([0, 2])));
  throwsCode(() => part.backward(), 'ERR_VALUE', 'a tensor of a Worker');
  await rejectsCode(other.sum(output), 'ERR_VALUE', 'an argument is a tensor with requiresGrad');
  assert.equal(near.enableGrad(() => near.sum(output.detach())).requiresGrad, false);
  assert.deepEqual(await other.sum(output.detach()), near.sum(output));
  await (await far.sum(output)).backward();
  assert.ok((await module.parameters())[0].grad !== null);
  await Promise.all([near, far, other].map((hw) => hw.dispose()));
});

test('a model in a Worker learns from its loss', async () => {
  const hw = await load();
  const model = await loadCheckpoint(/** @type {any} */ (hw), 'f32');
  const optimizer = await new hw.AdamW(any(await model.parameters()), { lr: 1e-3 });
  await hw.setGradEnabled(true);
  const losses = [];
  for (let step = 0; step < 3; step++) {
    await optimizer.zeroGrad();
    const loss = await model.loss([[1, 2, 3, 4]]);
    await loss.backward();
    await optimizer.step();
    losses.push(loss.item());
  }
  assert.ok(losses[2] < losses[1] && losses[1] < losses[0], String(losses));
  await hw.dispose();
});
