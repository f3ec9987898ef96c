// Threads that die: terminated from outside, while they compute and while they sleep, or by a trap. No call waits for ever.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { load } from 'headwise';
import { Engine } from '../web/headwise/engine/engine.js';
import { Headwise } from '../web/headwise/engine/headwise.js';
import { Crew } from '../web/headwise/engine/threads.js';
import { sharedMemory } from '../web/headwise/engine/wanted-threads.js';
import { data, engine, throwsCode } from './helpers.js';

const threadsModule = new URL(
  '../web/headwise/wasm/headwise-simd128-threads.wasm',
  import.meta.url,
);

/** A Worker behind ./mortal-worker.js. */
class MortalWorker extends Worker {
  /** @param {string | URL} script */
  constructor(script) {
    super(new URL('mortal-worker.js', import.meta.url));
    super.postMessage({ script: String(script) });
  }

  /** @param {number} ms */
  endIn(ms) {
    super.postMessage({ end: ms });
  }
}

/**
 * An engine whose workers can be ended while this thread waits, and that waits for them less long than usual.
 * @param {import('node:test').TestContext} t
 * @param {number} threads
 */
async function mortalEngine(t, threads) {
  /** @type {MortalWorker[]} */
  const workers = [];
  class Noted extends MortalWorker {
    /** @param {string | URL} script */
    constructor(script) {
      super(script);
      workers.push(this);
    }
  }
  const start = Crew.start.bind(Crew);
  t.mock.method(Crew, 'start', async (/** @type {number} */ count) =>
    Object.assign(await start(count), { mebilooks: 64 }),
  );
  Object.defineProperty(globalThis, 'Worker', { value: Noted, configurable: true });
  try {
    const hw = await load({ threads });
    assert.equal(hw.info.threads, threads, hw.info.threadsReason);
    return { hw, workers };
  } finally {
    Reflect.deleteProperty(globalThis, 'Worker');
    t.mock.restoreAll();
  }
}

/**
 * Calls until one throws.
 *
 * @param {() => unknown} call
 * @param {number} [ms] how long, at least once
 * @returns {Error | undefined}
 */
function firstError(call, ms = 120_000) {
  const end = performance.now() + ms;
  do {
    try {
      call();
    } catch (error) {
      return /** @type {Error} */ (error);
    }
  } while (performance.now() < end);
  return undefined;
}

/** Nothing can be called, everything can be disposed of, and another engine be loaded. @param {Headwise} hw @param {any} linear */
async function isLost(hw, linear) {
  for (let repeat = 0; repeat < 2; repeat++) {
    throwsCode(() => hw.rand([1]), 'ERR_LOAD', 'a thread of the engine died', 'load()');
    throwsCode(() => linear.forward(data(1, [4, 8])), 'ERR_LOAD', 'thread');
    throwsCode(() => hw.memoryBytes, 'ERR_LOAD', 'thread');
    throwsCode(() => new hw.Linear({ inFeatures: 2, outFeatures: 2 }), 'ERR_LOAD', 'thread');
  }
  linear.dispose();
  hw.dispose();
  throwsCode(() => hw.rand([1]), 'ERR_DISPOSED');
  const another = await load({ threads: 2 });
  assert.equal(another.info.threads, 2);
  assert.equal(another.softmax(data(1, [300, 4])).data.length, 1200);
  another.dispose();
}

/**
 * An engine of which a thread was ended while it computed. Threads may be between two calls, on a busy machine all of them:
 * then another engine is tried.
 *
 * @param {import('node:test').TestContext} t
 */
async function endedWhileComputing(t) {
  const q = data(1, [6000, 64]);
  for (let tries = 0; tries < 20; tries++) {
    const { hw, workers } = await mortalEngine(t, 3);
    const linear = new hw.Linear({ inFeatures: 8, outFeatures: 8 });
    workers.forEach((worker, i) => worker.endIn(100 + 230 * i));
    const error = firstError(() => hw.scaledDotProductAttention(q, q, q), 3000);
    if (error) return { hw, workers, linear, error };
    hw.dispose();
  }
  assert.fail('no call has failed');
}

test('a thread that is ended while it computes fails the call, and all that follow', async (t) => {
  const { hw, workers, linear, error } = await endedWhileComputing(t);
  throwsCode(
    () => {
      throw error;
    },
    'ERR_LOAD',
    'a thread of the engine died',
  );
  assert.ok(error.cause instanceof WebAssembly.RuntimeError);
  for (const worker of workers) if (worker.threadId !== -1) await once(worker, 'exit');
  await isLost(hw, linear);
});

test('threads that are ended while they sleep are done without', async (t) => {
  const [{ hw, workers }, single] = [await mortalEngine(t, 3), await engine()];
  const q = data(1, [2, 3, 300, 24]);
  const expected = single.scaledDotProductAttention(q, q, q);
  for (const worker of workers) {
    assert.deepEqual(hw.scaledDotProductAttention(q, q, q), expected);
    await worker.terminate();
    for (let i = 0; i < 20; i++) assert.deepEqual(hw.scaledDotProductAttention(q, q, q), expected);
  }
  single.dispose();
  hw.dispose();
});

test('a trap in a thread fails the call that it worked for, and all that follow, and ends recording', async () => {
  const module = await WebAssembly.compile(await readFile(threadsModule));
  const memory = sharedMemory();
  const core = await Engine.start(module, memory);
  const crew = await Crew.start(2);
  await crew.join(module, memory);
  // A stack that begins at address 0 has no room.
  const begin = crew.begin.bind(crew);
  crew.begin = () => begin(() => 0);
  core.startTeam(crew);
  const hw = new Headwise(core, 2, '');
  const linear = new hw.Linear({ inFeatures: 8, outFeatures: 50 });
  const x = data(1, [4000, 8]);
  const leaf = data(1, [2, 2]);
  leaf.requiresGrad = true;
  hw.setGradEnabled(true);
  assert.equal(leaf.reshape([4]).requiresGrad, true);
  const error = firstError(() => linear.forward(x));
  assert.match(error?.message ?? '', /a thread of the engine died/);
  assert.equal(leaf.reshape([4]).requiresGrad, false, 'nothing is recorded any more');
  await isLost(hw, linear);
});
