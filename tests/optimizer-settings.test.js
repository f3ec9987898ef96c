// Settings of AdamW and SGD: torch's where none are given, each group its own, and what of a state dict or a norm is refused;
// and where gradients are on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor } from 'headwise';
import { engine, throwsCode } from './helpers.js';
import { hw, linear } from './net.js';

/** What types do not allow. @param {unknown} value @returns {any} */
const any = (value) => value;

const leaf = (/** @type {number[]} */ values) =>
  Object.assign(tensor(values), { requiresGrad: true });

test('settings that are not given are torch’s', () => {
  const [adamw] = new hw.AdamW(linear().parameters()).groups;
  const { params, ...settings } = adamw;
  assert.equal(params.length, 2);
  const usual = { lr: 1e-3, betas: [0.9, 0.999], eps: 1e-8, weightDecay: 1e-2 };
  assert.deepEqual(settings, usual);
  const { params: _, ...others } = new hw.SGD(linear().parameters()).groups[0];
  assert.deepEqual(others, { lr: 1e-3, momentum: 0, weightDecay: 0, nesterov: false });
});

test('each group moves by its own settings, of modules and of tensors', () => {
  const parameters = linear().parameters();
  const tensors = [leaf([1]), leaf([1])];
  const all = [...parameters, ...tensors];
  for (const one of all) {
    const { shape } = one;
    const ones = tensor(new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(1), shape);
    if (!tensors.some((each) => each === one)) any(one).data = ones;
    any(one).grad = ones;
  }
  const groups = [parameters, tensors].map(([first, second], i) => [
    { params: [first], lr: 0.25 * (i + 1) },
    { params: [second], weightDecay: 2 },
  ]);
  new hw.SGD(any(groups.flat()), { lr: 0.125 }).step();
  const values = all.map((one) => Array.from(any(one.data).data ?? one.data)[0]);
  assert.deepEqual(values, [0.75, 0.625, 0.5, 0.625]);
});

test('Nesterov’s momentum may be small', () => {
  const options = { momentum: 0.01, nesterov: true };
  assert.equal(new hw.SGD(linear().parameters(), options).groups[0].momentum, 0.01);
});

test('steps that are no number of steps are refused, and options of loading', () => {
  const optimizer = new hw.AdamW(linear().parameters());
  const good = optimizer.stateDict();
  for (const steps of [-1, 2 ** 33])
    throwsCode(
      () => optimizer.loadStateDict({ ...good, 'state.0.step': tensor(steps) }),
      ...['ERR_VALUE', `state.0.step is ${steps}`],
    );
  throwsCode(
    () => any(optimizer).loadStateDict(good, { strict: false }),
    ...['ERR_VALUE', 'loadStateDict: unknown option strict'],
  );
});

test('an optimizer that a state dict’s getter disposes of loads nothing', () => {
  const optimizer = new hw.AdamW(linear().parameters());
  const good = optimizer.stateDict();
  const dict = Object.defineProperty({ ...good }, 'param_groups.0.lr', {
    enumerable: true,
    get() {
      optimizer.dispose();
      return good['param_groups.0.lr'];
    },
  });
  throwsCode(() => optimizer.loadStateDict(dict), 'ERR_DISPOSED', 'the AdamW was disposed of');
});

test('gradients that are turned on inside a stretch are on within it alone', () => {
  hw.noGrad(() => {
    hw.setGradEnabled(true);
    assert.equal(hw.isGradEnabled(), true);
  });
  assert.equal(hw.isGradEnabled(), false);
});

test('a norm is clipped to a number alone, and not after the engine’s end', async () => {
  const one = leaf([3, 4]);
  one.grad = tensor([3, 4]);
  throwsCode(() => hw.clipGradNorm([one], any('1')), 'ERR_VALUE', 'maxNorm is "1"');
  const other = await engine();
  other.dispose();
  throwsCode(() => other.clipGradNorm([one], 1), 'ERR_DISPOSED');
  assert.deepEqual(one.grad.toNested(), [3, 4]);
});

test('gradients of a leaf add up that goes back from itself', () => {
  const one = leaf([1, 2]);
  for (let i = 1; i <= 3; i++) {
    one.backward(tensor([1, 10]));
    assert.deepEqual(one.grad?.toNested(), [i, 10 * i]);
  }
});
