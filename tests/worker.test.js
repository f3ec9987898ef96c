// headwise/worker: the same engine behind calls that are awaited. Browsers are in tests/embed.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { load as loadHere } from 'headwise';
import { load, Tensor, tensor, transfer, zeros } from 'headwise/worker';
import { evaluate, runNode } from './child.js';
import { allClose, data, rejectsCode, throwsCode } from './helpers.js';
import { fusedTable, inputs } from './seeds.js';

const modules = new URL('../web/headwise/wasm/', import.meta.url);

test('an engine in a Worker gives the numbers of the notebooks, and the bits of one here', async () => {
  const [there, here] = [await load(), await loadHere()];
  there.manualSeed(123); // not awaited: calls keep their order
  here.manualSeed(123);
  const options = { dIn: 3, dOut: 2, contextLength: 6, numHeads: 2 };
  const [far, near] = [
    await new there.MultiHeadAttention(options),
    new here.MultiHeadAttention(options),
  ];
  const x = tensor(inputs);
  const [a, b] = [
    await far.forward(x, { needWeights: true }),
    near.forward(x, { needWeights: true }),
  ];
  allClose(a.output, tensor(fusedTable), { atol: 5.1e-5 });
  assert.deepEqual(a, b);
  assert.deepEqual(await far.stateDict(), near.stateDict());
  assert.equal(await far.parameterCount(), near.parameterCount());
  assert.deepEqual(there.info, here.info);
  assert.deepEqual(far.options, near.options);
  assert.equal(await there.memoryBytes, here.memoryBytes);
  here.dispose();
  await there.dispose();
});

test('traces, caches and other modules stay in the Worker and are used from here', async () => {
  const hw = await load();
  await hw.manualSeed(1);
  const options = { dIn: 8, dOut: 4, contextLength: 10, numHeads: 2 };
  const wrapper = await new hw.MultiHeadAttentionWrapper(options);
  const fused = await hw.MultiHeadAttention.fromWrapper(wrapper);
  const x = data(3, [10, 8]);
  const [one, other] = [await wrapper.forward(x), await fused.forward(x, { trace: true })];
  allClose(one.output, other.output);
  assert.deepEqual(other.trace.shape, [1, 2, 10, 10]);
  assert.deepEqual((await other.trace.weights({ head: 1 })).shape, [10, 10]);
  assert.deepEqual((await other.trace.map({ head: 1, size: 3 })).shape, [3, 3]);
  await other.trace.dispose();
  await rejectsCode(other.trace.weights({ head: 1 }), 'ERR_DISPOSED', 'trace');

  const cache = await fused.createCache();
  await fused.forward(data(1, [3, 8]), { cache });
  assert.equal(await cache.length, 3);
  assert.equal(await cache.truncate(2), cache, 'a method that returns its object does so here');
  assert.equal(await cache.length, 2);
  assert.equal(await fused.eval(), fused);
  await hw.dispose();
});

test('everything that an engine has here it has in a Worker', async () => {
  const [there, here] = [await load(), await loadHere()];
  const prototype = Object.getOwnPropertyNames(Object.getPrototypeOf(here));
  const names = [...Object.keys(here), ...prototype].filter((name) => name !== 'constructor');
  assert.ok(names.length > 20);
  assert.deepEqual(
    names.filter((name) => !(name in there)),
    [],
  );
  there.manualSeed(5);
  here.manualSeed(5);
  const options = { dModel: 8, numHeads: 2, dFf: 16 };
  const [far, near] = [
    await new there.TransformerBlock(options),
    new here.TransformerBlock(options),
  ];
  const x = data(2, [4, 8]);
  assert.deepEqual((await far.forward(x)).output, near.forward(x).output);
  here.dispose();
  await there.dispose();
});

test('arguments are copied, or moved if transfer says so; a moved tensor is refused', async () => {
  const hw = await load();
  const x = data(1, [5, 6]);
  const sum = (/** @type {ArrayLike<number>} */ values) =>
    Array.from(values).reduce((total, value) => total + value, 0);
  const first = await hw.softmax(x);
  assert.ok(Math.abs(sum(first.data) - 5) < 1e-5);
  assert.equal(x.data.length, 30);
  assert.deepEqual(await hw.softmax(transfer(x)), first);
  assert.equal(x.data.length, 0);
  await rejectsCode(hw.softmax(x), 'ERR_VALUE', '[5, 6]', 'transferred');
  for (const wrong of [undefined, 3, x.data])
    throwsCode(() => transfer(/** @type {any} */ (wrong)), 'ERR_VALUE', 'tensor is', 'a Tensor');
  const part = tensor(new Float32Array(8).fill(1).subarray(2, 6));
  assert.deepEqual([...(await hw.softmax(part)).data], [0.25, 0.25, 0.25, 0.25]);
  await hw.dispose();
});

test('transfer is for the next call, also one that fails, and takes no memory that others use', async () => {
  const hw = await load();
  const x = tensor([1, 2]);
  await rejectsCode(hw.add(transfer(x), /** @type {any} */ (Promise.resolve(1))), 'ERR_VALUE');
  assert.deepEqual([...(await hw.add(x, 0)).data], [1, 2]);
  assert.equal(x.data.length, 2);
  const buffer = Float32Array.of(1, 2, 3, 4);
  const part = new Tensor(buffer.subarray(1, 3), [2]);
  assert.deepEqual([...(await hw.add(transfer(part), 0)).data], [2, 3]);
  assert.deepEqual([...buffer], [1, 2, 3, 4]);
  const shared = new Tensor(new Float32Array(new SharedArrayBuffer(8)), [2]);
  assert.deepEqual([...(await hw.add(transfer(shared), 1)).data], [1, 1]);
  await hw.dispose();
});

test('what lies in shared memory is copied when a call is made, not when it is done', async () => {
  const hw = await load();
  const shared = new Tensor(new Float32Array(new SharedArrayBuffer(8)), [2]);
  const sum = hw.add(shared, 0);
  shared.data.fill(7);
  assert.deepEqual([...(await sum).data], [0, 0]);
  const ids = new Int32Array(new SharedArrayBuffer(8));
  const rows = hw.embedding(ids, tensor([[1], [2]]));
  ids.fill(1);
  assert.deepEqual([...(await rows).data], [1, 1]);
  await hw.dispose();
});

test('errors arrive as HeadwiseErrors, and the engine works on', async () => {
  const hw = await load();
  await rejectsCode(hw.softmax(/** @type {any} */ (5)), 'ERR_VALUE', 'x is 5');
  await rejectsCode(hw.matmul(zeros([2, 3]), zeros([2, 3])), 'ERR_SHAPE', '[2, 3]');
  await rejectsCode(new hw.Linear(/** @type {any} */ ({})), 'ERR_VALUE', 'inFeatures');
  await rejectsCode(hw.softmax(/** @type {any} */ (() => 1)), 'ERR_VALUE', 'x is');
  await rejectsCode(hw.softmax(/** @type {any} */ (Symbol('x'))), 'ERR_VALUE', 'softmax');
  await rejectsCode(hw.softmax(/** @type {any} */ (hw.rand([2]))), 'ERR_VALUE', 'await it');
  const other = await load();
  const linear = await new other.Linear({ inFeatures: 2, outFeatures: 2 });
  await rejectsCode(
    hw.MultiHeadAttention.fromWrapper(/** @type {any} */ (linear)),
    'ERR_VALUE',
    'another engine',
  );
  await other.dispose();
  assert.deepEqual((await hw.rand([2])).shape, [2]);
  await hw.dispose();
});

test('a class that extends one of a Worker’s is refused with what to extend instead', async () => {
  const hw = await load();
  const options = { inFeatures: 2, outFeatures: 2 };
  class Lora extends hw.Linear {}
  for (const make of [
    () => new Lora(options),
    () => Reflect.construct(hw.Linear, [options], class {}),
  ])
    throwsCode(
      make,
      'ERR_VALUE',
      'Linear: classes of headwise/worker cannot be extended; expected',
    );
  const linear = await new hw.Linear(options);
  assert.deepEqual((await linear.forward(zeros([1, 2]))).output.shape, [1, 2]);
  await hw.dispose();
});

test('Module of a Worker, which is there to be extended, is refused with what to do instead', async () => {
  const hw = /** @type {any} */ (await load());
  class Net extends hw.Module {}
  for (const make of [() => new hw.Module(), () => new Net()])
    throwsCode(
      make,
      'ERR_VALUE',
      'Module: classes of headwise/worker cannot be extended; expected its other modules',
      'a class that extends Module of headwise',
    );
  await hw.dispose();
});

test('every source of the module means the same here and in the Worker', async () => {
  const address = new URL('headwise-simd128.wasm', modules);
  const bytes = await readFile(address);
  const module = await WebAssembly.compile(bytes);
  for (const wasm of [address, address.href, bytes, module, new Response(bytes)]) {
    const hw = await load({ wasm });
    assert.equal(hw.info.simd, 'simd128');
    await hw.dispose();
  }
  const missing = new URL('missing.wasm', modules);
  await rejectsCode(load({ wasm: missing }), 'ERR_LOAD', missing.href);
  await rejectsCode(load({ wasm: new Response('no', { status: 404 }) }), 'ERR_LOAD', '404');
  await rejectsCode(load(/** @type {any} */ ({ simd: 'no' })), 'ERR_VALUE', 'simd');
  const threads = await load({ threads: 2 });
  assert.equal(threads.info.threads, 2);
  await threads.dispose();
});

test('a signal ends loading, and an engine that was disposed of answers with that', async () => {
  const reason = new Error('the page was left');
  const controller = new AbortController();
  const loading = load({ signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(loading, reason);
  const later = new AbortController();
  const hw = await load({ signal: later.signal });
  later.abort(); // it has ended nothing
  const last = hw.rand([3]);
  await hw.dispose();
  assert.deepEqual((await last).shape, [3], 'what was asked before is answered');
  await rejectsCode(hw.rand([1]), 'ERR_DISPOSED', 'load()');
});

test('what has ended with its engine may be disposed of, and the engine again', async () => {
  const hw = await load();
  const module = await new hw.MultiHeadAttention({
    dIn: 4,
    dOut: 4,
    contextLength: 3,
    numHeads: 1,
  });
  const cache = await module.createCache();
  const { trace } = await module.forward(zeros([2, 4]), { trace: true });
  await Promise.all([hw.dispose(), hw.dispose(), trace.dispose()]);
  for (const ended of [cache, trace, module, hw]) assert.equal(await ended.dispose(), undefined);
  await rejectsCode(/** @type {any} */ (cache.length), 'ERR_DISPOSED', 'load() starts another');
});

test('what does not change of an object there cannot be changed here', async () => {
  const hw = await load({ threads: 1 });
  const module = /** @type {any} */ (
    await new hw.Linear({ inFeatures: 4, outFeatures: 3, bias: false })
  );
  const constants = Object.entries({ ...hw, ...module }).filter(
    ([, value]) => typeof value === 'object',
  );
  assert.ok(constants.length > 0);
  for (const [name, value] of constants) {
    assert.ok(Object.isFrozen(value), name);
    assert.throws(() => (value.threads = 9), TypeError, name);
  }
  assert.equal(hw.info.threads, 1);
  await hw.dispose();
});

test('await using frees a module in a Worker, and its engine', async () => {
  const asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');
  const hw = await load();
  const linear = await new hw.Linear({ inFeatures: 1, outFeatures: 1 });
  await /** @type {any} */ (linear)[asyncDispose]();
  await rejectsCode(linear.forward(zeros([1, 1])), 'ERR_DISPOSED', 'the Linear was disposed of');
  await /** @type {any} */ (hw)[asyncDispose]();
  await rejectsCode(hw.rand([1]), 'ERR_DISPOSED', 'load() starts another');
});

test('a Worker that dies fails all who wait, and another engine can be loaded', async () => {
  const script = `
    import { createRequire } from 'node:module';
    const threads = createRequire(import.meta.url)('node:worker_threads');
    const started = [];
    threads.Worker = class extends threads.Worker {
      constructor(...args) { super(...args); started.push(this); }
    };
    (await import('node:module')).syncBuiltinESMExports();
    const { load } = await import(${JSON.stringify(import.meta.resolve('headwise/worker'))});
    const hw = await load();
    const linear = await new hw.Linear({ inFeatures: 2, outFeatures: 2 });
    const x = await hw.rand([2000, 2000]);
    const calls = [hw.matmul(x, x), hw.rand([9]), new hw.Linear({ inFeatures: 1, outFeatures: 1 }), linear.stateDict(), hw.memoryBytes];
    started[0].terminate();
    const ends = await Promise.allSettled([...calls, new Promise((end) => setTimeout(end, 200)).then(() => hw.rand([1]))]);
    console.log(ends.map(({ reason }) => reason ? reason.code + ' ' + reason.message : 'fine').join('\\n'));
    globalThis.again = await load();
    console.log((await again.rand([2])).shape.join());`;
  const child = await runNode('a process whose Worker dies', ['--input-type=module', '-e', script]);
  const lines = child.stdout.trim().split('\n');
  const failure = "ERR_LOAD the engine's Worker failed: it ended; load() starts another";
  assert.deepEqual(lines, [...Array(6).fill(failure), '2'], child.stderr);
  assert.equal(child.status, 0, 'nothing keeps the process alive');
});

test('a Worker ends with its engine, and with loading that fails', async () => {
  const script = `
    import { createRequire } from 'node:module';
    const threads = createRequire(import.meta.url)('node:worker_threads');
    const ends = [];
    threads.Worker = class extends threads.Worker {
      constructor(...args) { super(...args); ends.push(new Promise((end) => this.on('exit', end))); }
    };
    (await import('node:module')).syncBuiltinESMExports();
    const { load } = await import(${JSON.stringify(import.meta.resolve('headwise/worker'))});
    await load({ wasm: new Uint8Array(8) }).catch(({ code }) => console.log(code));
    await (await load()).dispose();
    const late = new Promise((end) => setTimeout(end, 5000, 'alive'));
    console.log(await Promise.race([Promise.all(ends).then(({ length }) => length), late]));
    process.exit();`;
  const child = await runNode('a process whose Workers end', ['--input-type=module', '-e', script]);
  assert.deepEqual(child.stdout.trim().split('\n'), ['ERR_LOAD', '2'], child.stderr);
});

test('arguments that end the Worker, hold themselves or cannot be read reject with a HeadwiseError', async () => {
  const hw = await load();
  /** @type {any[]} */
  const cyclic = [];
  cyclic.push(cyclic, cyclic);
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  /** @type {any} */
  let deep = 1;
  for (let i = 0; i < 20_000; i++) deep = [deep];
  for (const value of [cyclic, proxy, deep, new Array(2 ** 32 - 1), { shape: cyclic }]) {
    await rejectsCode(hw.softmax(/** @type {any} */ (value)), 'ERR_VALUE');
    await rejectsCode(hw.gelu(zeros([2]), /** @type {any} */ (value)), 'ERR_VALUE');
  }
  allClose(await hw.softmax(zeros([2])), tensor([0.5, 0.5]));
  /** @type {Promise<void> | undefined} */
  let ended;
  const ends = {
    get approximate() {
      ended = hw.dispose();
      return 'none';
    },
  };
  await rejectsCode(hw.gelu(zeros([2]), /** @type {any} */ (ends)), 'ERR_DISPOSED');
  await ended;
});

test('a relative address of a model is of the page as it is at the call', async () => {
  const script = `
    const at = (baseURI) => (globalThis.document = { baseURI });
    at('http://site/a/');
    const { load } = await import(${JSON.stringify(import.meta.resolve('headwise/worker'))});
    const { loadModel } = await import(${JSON.stringify(import.meta.resolve('headwise/models'))});
    const { readFile } = await import('node:fs/promises');
    const file = new URL('wasm/headwise-simd128.wasm', ${JSON.stringify(import.meta.resolve('headwise'))});
    const hw = await load({ wasm: new WebAssembly.Module(await readFile(file)) });
    at('http://site/b/c/');
    const asked = [];
    const fetch = async (url) => (asked.push(url), new Response('', { status: 404 }));
    await loadModel(hw, './model/', { fetch }).catch(() => {});
    report(asked);
    await hw.dispose();`;
  const asked = await evaluate('a page that moves on', script);
  assert.deepEqual(asked, ['http://site/b/c/model/config.json']);
});
