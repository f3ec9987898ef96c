// Engines with several threads: the same numbers, workers that start, sleep, end and fail, and one thread with the
// reason wherever there cannot be more.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { load, Tensor } from 'headwise';
import { runNode } from './child.js';
import { data, engine, rejectsCode, throwsCode } from './helpers.js';

const simd = /** @type {'auto'} */ (process.env.HEADWISE_SIMD ?? 'auto');
const wasm = new URL('../web/headwise/wasm/', import.meta.url);
const singleModule = new URL('headwise-simd128.wasm', wasm);
const threadsModule = new URL('headwise-simd128-threads.wasm', wasm);
const headwise = import.meta.resolve('headwise');

/** The workers that body starts. @param {() => Promise<void>} body */
async function workersOf(body) {
  /** @type {Worker[]} */
  const workers = [];
  const note = (/** @type {Worker} */ worker) => workers.push(worker);
  process.on('worker', note);
  await body();
  process.off('worker', note);
  return workers;
}

/** Fails unless all of them end. @param {Worker[]} workers */
async function endOf(workers) {
  for (const worker of workers) {
    // Ended workers have the number -1.
    while (worker.threadId !== -1) await once(worker, 'exit');
  }
}

/** @typedef {Awaited<ReturnType<typeof load>>} Headwise */

/** Results of everything that computes. @param {Headwise} hw */
function results(hw) {
  hw.manualSeed(7);
  const linear = new hw.Linear({ inFeatures: 40, outFeatures: 52 });
  const shape = { dIn: 40, dOut: 64, contextLength: 700, numHeads: 4 };
  const fused = new hw.MultiHeadAttention(shape);
  const wrapper = new hw.MultiHeadAttentionWrapper({ ...shape, dOut: 16 });
  const x = data(1, [2, 700, 40]);
  const q = data(2, [2, 4, 300, 24]);
  const cache = fused.createCache({ batch: 2 });
  const { trace } = fused.forward(data(12, [2, 700, 40]), { trace: true });
  assert.ok(trace);
  const block = { dModel: 40, numHeads: 4, dFf: 160, dropout: 0.1 };
  const stack = new hw.TransformerStack({ ...block, numLayers: 2, norm: 'post' });
  return [
    trace.map({ batch: 1, head: 3, size: 90 }),
    trace.weights({ batch: 1, head: 2, rows: [3, 690] }),
    linear.forward(x),
    linear.forward(data(3, [1, 40])),
    fused.forward(x, { needWeights: true }),
    fused.forward(data(4, [6, 40])),
    fused.forward(data(9, [2, 600, 40]), { cache }),
    fused.forward(data(10, [2, 1, 40]), { cache, needWeights: true }),
    fused.forward(data(11, [2, 99, 40]), { cache }),
    wrapper.forward(x),
    hw.scaledDotProductAttention(q, q, q, { isCausal: true }),
    hw.matmul(data(5, [3, 130, 70]), data(6, [70, 90])),
    hw.softmax(data(8, [300, 50])),
    new hw.TransformerBlock(block).forward(x),
    stack.forward(data(12, [700, 40])),
    hw.gelu(data(13, [70000])),
    hw.layerNorm(data(14, [300, 401])),
  ]
    .flatMap((result) => (result instanceof Tensor ? [result] : Object.values(result)))
    .map((result) => result.data);
}

/** @param {Headwise} hw */
const works = (hw) => {
  const one = new hw.Linear({ inFeatures: 3, outFeatures: 2 });
  assert.deepEqual([...one.forward(data(1, [500, 3])).output.shape], [500, 2]);
  hw.dispose();
};

test('results do not depend on the number of threads, to the bit', async () => {
  const single = await engine();
  const expected = results(single);
  for (const threads of [2, 3, 4]) {
    const hw = await load({ simd, threads });
    assert.equal(hw.info.threads, threads);
    assert.equal(hw.info.simd, single.info.simd);
    for (let repeat = 0; repeat < 5; repeat++) assert.deepEqual(results(hw), expected);
    hw.dispose();
  }
  single.dispose();
});

test('info names the threads that run, and no reason when all run', async () => {
  const hw = await load({ threads: 2 });
  assert.equal(hw.info.threads, 2);
  assert.equal(hw.info.threadsReason, '');
  works(hw);
  const automatic = await load({ threads: 'auto' });
  assert.ok(automatic.info.threads >= 1 && automatic.info.threads <= 8);
  assert.equal(automatic.info.threadsReason === '', automatic.info.threads > 1);
  works(automatic);
});

test('dispose ends the workers, at work before or not', async () => {
  const workers = await workersOf(async () => {
    const idle = await load({ threads: 3 });
    const used = await load({ threads: 2 });
    results(used);
    idle.dispose();
    used.dispose();
    used.dispose();
    throwsCode(() => used.rand([1]), 'ERR_DISPOSED', 'engine');
  });
  assert.equal(workers.length, 3);
  await endOf(workers);
});

test('engines with threads start and end many times', async () => {
  const workers = await workersOf(async () => {
    for (let i = 0; i < 30; i++) works(await load({ threads: 2 + (i % 2) }));
  });
  assert.equal(workers.length, 45);
  await endOf(workers);
});

test('several engines with threads work side by side', async () => {
  const engines = await Promise.all([2, 3, 2].map((threads) => load({ simd, threads })));
  const [first, ...others] = engines.map(results);
  for (const other of others) assert.deepEqual(other, first);
  for (const hw of engines) hw.dispose();
});

test('memory grows under a team, and results are read from the grown memory', async () => {
  const [single, hw] = await Promise.all([load({ simd }), load({ simd, threads: 3 })]);
  let bytes = hw.memoryBytes;
  for (const size of [40, 400, 1600]) {
    const [a, b] = [data(size, [size, size]), data(size + 1, [size, size])];
    assert.deepEqual(hw.matmul(a, b).data, single.matmul(a, b).data);
    const [one, other] = [single, hw].map((each) => {
      each.manualSeed(1);
      return new each.Linear({ inFeatures: size, outFeatures: size });
    });
    assert.deepEqual(other.forward(a).output.data, one.forward(a).output.data);
    assert.ok(hw.memoryBytes > bytes || size === 40);
    bytes = hw.memoryBytes;
  }
  assert.ok(bytes > 2 ** 24);
  await rejectsCode(
    Promise.resolve().then(() => new hw.Linear({ inFeatures: 2 ** 20, outFeatures: 2 ** 20 })),
    'ERR_MEMORY',
  );
  assert.equal(hw.softmax(data(1, [3])).data.length, 3);
  single.dispose();
  hw.dispose();
});

test('a process with threads that sleep ends by itself', async () => {
  const script = `import { load, zeros } from ${JSON.stringify(headwise)};
    const hw = await load({ threads: 3 });
    const linear = new hw.Linear({ inFeatures: 8, outFeatures: 8 });
    console.log(hw.info.threads, linear.forward(zeros([900, 8])).output.shape.join('x'));`;
  const { status, stdout, stderr } = await runNode('a process with threads', [
    '--input-type=module',
    '--eval',
    script,
  ]);
  assert.equal(stderr, '');
  assert.equal(stdout.trim(), '3 900x8');
  assert.equal(status, 0);
});

test('threads work for an engine in a Worker, which may be ended with it', async () => {
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
    import(workerData).then(async ({ load, zeros }) => {
      const hw = await load({ threads: 2 });
      const linear = new hw.Linear({ inFeatures: 4, outFeatures: 4 });
      parentPort.postMessage([hw.info.threads, linear.forward(zeros([700, 4])).output.shape]);
      setInterval(() => linear.forward(zeros([700, 4])));
    });`,
    { eval: true, workerData: headwise },
  );
  const [message] = await once(worker, 'message');
  assert.deepEqual(message, [2, [700, 4]]);
  await worker.terminate();
});

test('an aborted load ends the workers that it has started', async () => {
  const reason = new Error('the page was left');
  const workers = await workersOf(async () => {
    const controller = new AbortController();
    const loading = load({ threads: 3, signal: controller.signal });
    process.once('worker', () => controller.abort(reason));
    await assert.rejects(loading, reason);
  });
  assert.equal(workers.length, 2);
  await endOf(workers);
});

test('a module for threads may be given; one for a single thread gives a single thread', async () => {
  for (const given of [threadsModule, new Uint8Array(await readFile(threadsModule))]) {
    const two = await load({ wasm: given, threads: 2 });
    assert.deepEqual([two.info.threads, two.info.threadsReason], [2, '']);
    works(two);
  }
  const one = await load({ wasm: threadsModule });
  assert.equal(one.info.threads, 1);
  works(one);
  const single = await load({ wasm: singleModule, threads: 2 });
  assert.equal(single.info.threads, 1);
  assert.match(single.info.threadsReason, /module for one thread/);
  works(single);
});

/**
 * Loads with globals replaced.
 * @param {Record<string, unknown>} globals
 * @param {Parameters<typeof load>[0]} options
 */
async function loadWith(globals, options) {
  const kept = Object.keys(globals).map(
    (name) => /** @type {const} */ ([name, Object.getOwnPropertyDescriptor(globalThis, name)]),
  );
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, configurable: true });
  try {
    return await load(options);
  } finally {
    for (const [name, descriptor] of kept) {
      if (descriptor) Object.defineProperty(globalThis, name, descriptor);
      else Reflect.deleteProperty(globalThis, name);
    }
  }
}

/** A Worker of the browser's kind that does as told. @param {(worker: any) => void} begin */
const fakeWorker = (begin) =>
  class {
    /** @type {((event: any) => void) | undefined} */
    onmessage;
    /** @type {((event: any) => void) | undefined} */
    onerror;
    constructor() {
      begin(this);
    }
    postMessage() {}
    terminate() {}
  };

test('without SharedArrayBuffer or isolation there is one thread, no Worker, and the reason', async () => {
  const workers = await workersOf(async () => {
    for (const globals of [{ SharedArrayBuffer: undefined }, { crossOriginIsolated: false }]) {
      const hw = await loadWith(globals, { threads: 4 });
      assert.equal(hw.info.threads, 1);
      assert.match(hw.info.threadsReason, /SharedArrayBuffer.*Cross-Origin-Opener-Policy/);
      works(hw);
    }
  });
  assert.equal(workers.length, 0);
});

test('a Worker that is refused, fails or cannot run the module leaves one thread and the reason', async () => {
  /** @type {[(worker: any) => void, RegExp][]} */
  const cases = [
    [
      () => {
        throw new Error('origin null');
      },
      /origin null/,
    ],
    [(worker) => (worker.postMessage = () => structuredClone(() => {})), /could not be cloned/],
    [(worker) => setTimeout(() => worker.onerror({ preventDefault() {} })), /script.*policy/],
    [(worker) => setTimeout(() => worker.onmessage({ data: 'no atomics' })), /no atomics/],
  ];
  for (const [begin, reason] of cases) {
    const hw = await loadWith({ Worker: fakeWorker(begin) }, { threads: 3 });
    assert.equal(hw.info.threads, 1);
    assert.match(hw.info.threadsReason, /^a Worker could not be started: /);
    assert.match(hw.info.threadsReason, reason);
    works(hw);
  }
});

test('a Worker that never answers delays load for seconds, not for ever', async () => {
  const hw = await loadWith({ Worker: fakeWorker(() => {}) }, { threads: 2 });
  assert.equal(hw.info.threads, 1);
  assert.match(hw.info.threadsReason, /was not ready in \d+ s/);
  works(hw);
});

test('an abort does not wait for a Worker that never answers, and ends it', async (t) => {
  // No time goes by: a Worker that never answers is never given up.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const reason = new Error('left');
  const controller = new AbortController();
  let ended = 0;
  const Fake = fakeWorker((worker) => {
    worker.postMessage = () => setImmediate(() => controller.abort(reason));
    worker.terminate = () => ended++;
  });
  const loading = loadWith({ Worker: Fake }, { threads: 2, signal: controller.signal });
  await assert.rejects(loading, (error) => error === reason);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(ended, 1);
});

test('the workers that do start are used, and one that stops answering later holds nothing up', async () => {
  let count = 0;
  const Fake = fakeWorker((worker) => {
    const answer = count++ === 0 ? 'no memory left' : '';
    setTimeout(() => worker.onmessage({ data: answer }));
  });
  const hw = await loadWith({ Worker: Fake }, { threads: 4 });
  assert.equal(hw.info.threads, 3);
  assert.match(hw.info.threadsReason, /no memory left/);
  works(hw);
});

test('more threads than an engine can have are not started', async () => {
  const Fake = fakeWorker((worker) => setTimeout(() => worker.onmessage({ data: '' })));
  const hw = await loadWith({ Worker: Fake }, { threads: 1000 });
  assert.equal(hw.info.threads, 32);
  assert.match(hw.info.threadsReason, /1000.*32/);
  works(hw);
});
