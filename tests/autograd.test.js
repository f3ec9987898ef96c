// The graph of what was computed: when it is recorded, how a backward goes through it, and what becomes of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor, zeros } from 'headwise';
import { evaluate } from './child.js';
import { allClose, boolData, data, engine, throwsCode } from './helpers.js';

const hw = await engine();

/** @param {number | any[]} values */
function leaf(values) {
  const x = tensor(/** @type {any} */ (values));
  x.requiresGrad = true;
  return x;
}

test('nothing is recorded unless gradients are on', () => {
  const x = leaf([1, 2]);
  assert.equal(hw.isGradEnabled(), false);
  assert.equal(hw.multiply(x, 3).requiresGrad, false);
  assert.equal(x.reshape([2, 1]).requiresGrad, false);
  hw.setGradEnabled(true);
  assert.equal(hw.isGradEnabled(), true);
  const y = hw.multiply(x, 3);
  assert.ok(y.requiresGrad && x.reshape([2, 1]).requiresGrad);
  assert.equal(hw.multiply(tensor([1, 2]), 3).requiresGrad, false, 'of nothing that requires it');
  assert.equal(
    hw.noGrad(() => hw.multiply(y, 3).requiresGrad || y.reshape([2, 1]).requiresGrad),
    false,
  );
  hw.setGradEnabled(false);
  assert.equal(hw.multiply(y, 3).requiresGrad, false);
});

test('enableGrad and noGrad return what their function returns, and end with it', () => {
  assert.equal(
    hw.enableGrad(() => hw.noGrad(() => hw.enableGrad(() => (hw.isGradEnabled() ? 7 : 0)))),
    7,
  );
  assert.throws(
    () =>
      hw.enableGrad(() => {
        throw new Error('own');
      }),
    /own/,
  );
  assert.equal(hw.isGradEnabled(), false);
});

test('an async function has its mode until it ends, whichever ends first', async () => {
  const x = leaf([1, 2]);
  /** @type {(() => void)[]} */
  const resumes = [];
  const wait = () => new Promise((/** @type {(value?: any) => void} */ go) => resumes.push(go));
  const first = hw.enableGrad(async () => {
    await wait();
    return 1;
  });
  const second = hw.noGrad(async () => {
    await wait();
    return hw.add(x, 1).requiresGrad;
  });
  assert.equal(hw.isGradEnabled(), false);
  resumes[0]();
  assert.equal(await first, 1);
  resumes[1]();
  assert.equal(await second, false);
  assert.equal(hw.isGradEnabled(), false);
  await assert.rejects(async () => hw.enableGrad(() => Promise.reject(new Error('own'))), /own/);
  assert.equal(hw.isGradEnabled(), false);
});

test('one engine’s gradients are not another one’s', async () => {
  const other = await engine();
  const x = leaf([1, 2]);
  hw.enableGrad(() => {
    assert.equal(other.isGradEnabled(), false);
    assert.equal(other.add(x, 1).requiresGrad, false);
    const y = hw.add(x, 1);
    assert.equal(other.add(y, 1).requiresGrad, false);
  });
  other.setGradEnabled(true);
  other.dispose();
  assert.equal(x.reshape([2, 1]).requiresGrad, false, 'of an engine that has ended');
});

test('gradients add up until they are set to null, each time in a new tensor', () => {
  const x = leaf([1, -2]);
  const step = () => hw.enableGrad(() => hw.sum(hw.multiply(x, x))).backward();
  const grad = () => x.grad?.toNested();
  assert.ok(x.grad === null);
  step();
  const first = x.grad;
  assert.equal(x.grad, first);
  assert.deepEqual(grad(), [2, -4]);
  step();
  assert.deepEqual(grad(), [4, -8]);
  assert.deepEqual(/** @type {any} */ (first).toNested(), [2, -4]);
  x.grad = null;
  step();
  assert.deepEqual(x.grad, first);
});

test('a tensor that is used often gets the sum of all its gradients, and none shares memory', () => {
  const [x, y] = [leaf([1, 2]), leaf([3, 4])];
  hw.enableGrad(() => hw.sum(hw.add(hw.add(x, y), hw.add(x, x)))).backward();
  assert.deepEqual(x.grad?.toNested(), [3, 3]);
  assert.deepEqual(y.grad?.toNested(), [1, 1]);
  const [a, b] = [leaf([1, 2]), leaf([3, 4])];
  const gradient = tensor([1, 1]);
  hw.enableGrad(() => hw.add(a, b)).backward(gradient);
  /** @type {any} */ (a.grad).data[0] = 9;
  assert.deepEqual(b.grad?.toNested(), [1, 1]);
  assert.deepEqual(gradient.toNested(), [1, 1]);
});

test('a gradient goes through a number, a leaf itself and a diamond', () => {
  const x = leaf(3);
  x.backward();
  assert.equal(x.grad?.item(), 1);
  const y = leaf(2);
  const shared = hw.enableGrad(() => hw.multiply(y, y));
  hw.enableGrad(() => hw.multiply(hw.add(shared, 1), hw.subtract(shared, 3))).backward();
  // d/dy (y² + 1)(y² − 3) = 4y³ − 4y
  assert.equal(y.grad?.item(), 24);
});

test('a backward frees its graph, unless it is told to keep it', () => {
  const x = leaf([1, 2]);
  const y = hw.enableGrad(() => hw.multiply(x, x));
  const loss = hw.enableGrad(() => hw.sum(y));
  loss.backward(undefined, { retainGraph: true });
  loss.backward(null);
  assert.deepEqual(x.grad?.toNested(), [4, 8]);
  for (const again of [() => loss.backward(), () => y.backward(tensor([1, 1]))])
    throwsCode(again, 'ERR_VALUE', 'backward: the graph was freed', 'retainGraph');
  throwsCode(() => hw.enableGrad(() => hw.sum(y)).backward(), 'ERR_VALUE', 'was freed');
  assert.deepEqual(x.grad?.toNested(), [4, 8], 'nothing was added');
});

test('what is changed after the forward does not change the gradients', () => {
  const [x, w] = [leaf([[1, 2]]), leaf([[3], [4]])];
  const y = hw.enableGrad(() => hw.matmul(x, w));
  x.data.fill(100);
  w.data.fill(100);
  y.data.fill(100);
  y.backward();
  assert.deepEqual([x.grad?.toNested(), w.grad?.toNested()], [[[3, 4]], [[1], [2]]]);
});

test('a module’s input that is changed after the forward does not change the gradients', () => {
  const linear = new hw.Linear({ inFeatures: 2, outFeatures: 1 });
  const [weight] = linear.parameters();
  for (const x of [tensor([[1, 2]]), leaf([[1, 2]])]) {
    const { output } = hw.enableGrad(() => linear.forward(x));
    x.data.fill(100);
    output.backward();
    assert.deepEqual(weight.grad?.toNested(), [[1, 2]]);
    weight.grad = null;
  }
});

test('detach ends a graph, and a frozen tensor gets nothing', () => {
  const x = leaf([1, 2]);
  const y = hw.enableGrad(() => hw.multiply(x, 2));
  const alone = y.detach();
  assert.equal(alone.requiresGrad, false);
  assert.deepEqual(alone, hw.multiply(x, 2));
  alone.data[0] = 9;
  assert.equal(y.data[0], 2, 'a copy');
  alone.requiresGrad = true;
  hw.enableGrad(() => hw.sum(alone)).backward();
  assert.equal(x.grad, null);
  const z = hw.enableGrad(() => hw.sum(y));
  x.requiresGrad = false;
  z.backward();
  assert.equal(x.grad, null);
  assert.deepEqual(boolData(1, [2]).detach(), boolData(1, [2]));
});

test('wrong calls are refused in words, and change nothing', () => {
  const x = leaf([1, 2]);
  const y = hw.enableGrad(() => hw.multiply(x, 2));
  throwsCode(() => y.backward(), 'ERR_SHAPE', 'backward: the tensor has shape [2]', 'one element');
  throwsCode(() => y.backward(zeros([3])), 'ERR_SHAPE', 'gradient has shape [3]; expected [2]');
  throwsCode(() => y.backward(/** @type {any} */ (1)), 'ERR_VALUE', 'gradient is 1');
  throwsCode(
    () => y.backward(/** @type {any} */ (boolData(1, [2]))),
    'ERR_VALUE',
    'gradient has dtype bool',
  );
  const bad = /** @type {any} */ ({ retainGraph: 1 });
  throwsCode(() => y.backward(zeros([2]), bad), 'ERR_VALUE', 'retainGraph is 1');
  throwsCode(
    () => tensor(1).backward(),
    'ERR_VALUE',
    'backward: the tensor has no graph',
    'enableGrad',
  );
  throwsCode(() => (y.requiresGrad = false), 'ERR_VALUE', 'requiresGrad is false', 'detach');
  throwsCode(() => (x.grad = /** @type {any} */ (0)), 'ERR_VALUE', 'grad is 0');
  throwsCode(() => (x.grad = zeros([3])), 'ERR_SHAPE', 'grad has shape [3]; expected [2]');
  throwsCode(() => (tensor([1]).grad = zeros([1])), 'ERR_VALUE', 'grad is', 'without requiresGrad');
  throwsCode(
    () => (y.grad = zeros([2])),
    'ERR_VALUE',
    'grad is',
    'expected null, as it was computed',
  );
  const mask = boolData(1, [2]);
  throwsCode(() => (mask.requiresGrad = true), 'ERR_VALUE', 'the tensor has dtype bool');
  throwsCode(() => hw.enableGrad(/** @type {any} */ (1)), 'ERR_VALUE', 'fn is 1', 'a function');
  throwsCode(() => hw.setGradEnabled(/** @type {any} */ (1)), 'ERR_VALUE', 'mode is 1');
  y.requiresGrad = true;
  y.grad = null;
  y.backward(tensor([1, 10]));
  assert.deepEqual(x.grad?.toNested(), [2, 20]);
  assert.equal(y.grad, null);
});

test('a grad whose data was taken away is named, and the graph stays', () => {
  const x = leaf([1, 2]);
  hw.enableGrad(() => hw.sum(x)).backward();
  const held = /** @type {any} */ (x.grad);
  structuredClone(held.data, { transfer: [held.data.buffer] });
  const loss = hw.enableGrad(() => hw.sum(hw.multiply(x, x)));
  throwsCode(() => loss.backward(), 'ERR_SHAPE', 'grad has shape [2] and 0 values');
  x.grad = null;
  loss.backward();
  assert.deepEqual(/** @type {any} */ (x.grad).toNested(), [2, 4]);
});

test('a grad that cannot be added to is refused before parameters get theirs', () => {
  const linear = new hw.Linear({ inFeatures: 1, outFeatures: 1 });
  const x = leaf([[2]]);
  const loss = hw.enableGrad(() => hw.sum(linear.forward(x).output));
  x.grad = tensor([[1]]);
  /** @type {any} */ (x.grad).data = new Float32Array(3);
  throwsCode(() => loss.backward(), 'ERR_SHAPE', 'grad has shape [1, 1] and 3 values');
  const [weight] = linear.parameters();
  assert.equal(weight.grad, null);
  x.grad = null;
  loss.backward();
  assert.deepEqual(/** @type {any} */ (weight.grad).toNested(), [[2]]);
});

test('the grad of a tensor that was frozen since is not looked at', () => {
  const [x, frozen] = [leaf([1, 2]), leaf([3, 4])];
  const loss = hw.enableGrad(() => hw.sum(hw.multiply(x, frozen)));
  frozen.grad = tensor([1, 1]);
  /** @type {any} */ (frozen.grad).data = new Float32Array(3);
  frozen.requiresGrad = false;
  loss.backward();
  assert.deepEqual(/** @type {any} */ (x.grad).toNested(), [3, 4]);
});

test('a backward after the engine’s end is ERR_DISPOSED', async () => {
  const other = await engine();
  const x = leaf([1, 2]);
  const loss = other.enableGrad(() => other.sum(x));
  other.dispose();
  throwsCode(() => loss.backward(), 'ERR_DISPOSED', 'the engine was disposed of');
  assert.equal(x.grad, null);
});

test('a backward into an engine that has ended leaves the parameters of another as they were', async () => {
  const other = await engine();
  const linear = new hw.Linear({ inFeatures: 2, outFeatures: 1 });
  const x = leaf([[1, 2]]);
  const given = other.enableGrad(() => other.add(x, 1));
  const { output } = hw.enableGrad(() => linear.forward(given));
  other.dispose();
  throwsCode(() => output.backward(), 'ERR_DISPOSED', 'the engine was disposed of');
  assert.deepEqual([linear.parameters()[0].grad, x.grad], [null, null]);
});

test('ten thousand steps are gone back through', () => {
  const x = leaf([1, 2]);
  let y = hw.enableGrad(() => hw.add(x, 0));
  hw.enableGrad(() => {
    for (let i = 0; i < 10_000; i++) y = hw.add(y, i % 2 === 0 ? x : 1);
  });
  y.backward(tensor([1, 2]));
  assert.deepEqual(x.grad?.toNested(), [5001, 10002]);
});

test('reshape, permute, slice and the first axis pass gradients on', () => {
  const x = data(1, [2, 3, 4]);
  x.requiresGrad = true;
  const weights = data(2, [4, 3, 2]);
  hw.enableGrad(() => {
    const turned = x.permute([2, 1, 0]);
    const product = hw.sum(hw.multiply(turned, weights));
    const [, second] = x;
    return hw.add(hw.add(product, hw.sum(x.slice([1, 2], [0, -1], [-3, 4]))), hw.sum(second));
  }).backward();
  const expected = new Float32Array(24);
  for (let i = 0; i < 2; i++)
    for (let j = 0; j < 3; j++)
      for (let k = 0; k < 4; k++)
        expected[i * 12 + j * 4 + k] =
          weights.data[k * 6 + j * 2 + i] + Number(i === 1 && j < 2 && k >= 1) + Number(i === 1);
  allClose(/** @type {any} */ (x.grad), tensor(expected, [2, 3, 4]));
  const y = leaf([[1, 2, 3]]);
  hw.enableGrad(() => y.reshape([-1]).reshape([3, 1]).slice([0, 0])).backward(zeros([0, 1]));
  assert.deepEqual(y.grad?.toNested(), [[0, 0, 0]]);
});

test('gradients through results without elements are zeros of the input’s shape', () => {
  const x = leaf([[1, 2, 3]]);
  const row = leaf([1, 2, 3]);
  const none = Object.assign(zeros([0, 3]), { requiresGrad: true });
  hw.enableGrad(() => {
    const product = hw.multiply(hw.subtract(hw.add(none, x), row), none);
    const total = hw.add(hw.sum(product), hw.sum(x.slice([1, 1])));
    return hw.add(total, hw.sum(hw.sum(none, { axis: 0 })));
  }).backward();
  assert.deepEqual([x.grad, row.grad, none.grad], [zeros([1, 3]), zeros([3]), zeros([0, 3])]);
  const empty = hw.enableGrad(() => hw.multiply(x, zeros([0, 1])));
  throwsCode(() => empty.backward(), 'ERR_SHAPE', '[0, 3]');
  x.grad = null;
  empty.backward(zeros([0, 3]));
  assert.deepEqual(x.grad, zeros([1, 3]));
  const mean = hw.enableGrad(() => hw.mean(none));
  mean.backward();
  assert.deepEqual([mean.item(), none.grad], [NaN, zeros([0, 3])]);
});

test('a leaf that no engine knows is recorded while one has gradients on', () => {
  const x = leaf([1, 2, 3, 4]);
  const y = hw.enableGrad(() => x.reshape([2, 2]).permute([1, 0]).slice([0, 1]));
  y.backward(tensor([[1, 5]]));
  assert.deepEqual(x.grad?.toNested(), [1, 0, 5, 0]);
});

test('a Proxy of a tensor is a tensor without a graph', () => {
  const x = new Proxy(leaf([1, 2]), {});
  assert.equal(hw.enableGrad(() => hw.add(x, 1)).requiresGrad, false);
});

test('graphs that nobody holds are freed, with and without a backward', async () => {
  const script = `
    const { load, tensor } = await import(${JSON.stringify(import.meta.resolve('headwise'))});
    const hw = await load({ threads: 1 });
    const x = tensor(new Float32Array(50_000));
    x.requiresGrad = true;
    hw.setGradEnabled(true);
    const wait = () => new Promise((done) => setTimeout(done, 10));
    const round = async (backward) => {
      for (let i = 0; i < 30; i++) {
        const loss = hw.sum(hw.multiply(hw.multiply(x, x), x));
        if (backward) loss.backward();
      }
      for (let i = 0; i < 3; i++) { gc(); await wait(); }
      return process.memoryUsage().arrayBuffers;
    };
    const before = [await round(false), await round(true)];
    for (let i = 0; i < 5; i++) { await round(false); await round(true); }
    const after = [await round(false), await round(true)];
    report({ before, after });`;
  const { before, after } = await evaluate('dropped graphs', script, { flags: ['--expose-gc'] });
  after.forEach((/** @type {number} */ bytes, /** @type {number} */ i) =>
    assert.ok(bytes <= before[i] + 1e6, `${bytes} bytes of arrays, ${before[i]} at first`),
  );
});
