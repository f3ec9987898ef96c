// The end of engines, modules, traces and caches: nothing is left of them, whether they are disposed of or forgotten.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluate } from './child.js';
import { engine, throwsCode, data } from './helpers.js';

/**
 * Runs a script in a Node of its own that lets it collect garbage. It has `load`, `tensor`, `collect`, and `memories`:
 * weak references to the memory of every engine that was started.
 *
 * @param {string} name
 * @param {string} body
 * @returns {Promise<any>} what it reports
 */
function inNode(name, body) {
  const script = `
    import { setTimeout as wait } from 'node:timers/promises';
    import { syncBuiltinESMExports, createRequire } from 'node:module';
    const memories = [];
    const instantiate = WebAssembly.instantiate;
    WebAssembly.instantiate = async (module, imports) => {
      const instance = await instantiate(module, imports);
      memories.push(new WeakRef(imports?.env?.memory ?? instance.exports.memory));
      return instance;
    };
    const threads = createRequire(import.meta.url)('node:worker_threads');
    let workers = 0;
    threads.Worker = class extends threads.Worker {
      constructor(...args) { super(...args); workers++; this.once('exit', () => workers--); }
    };
    syncBuiltinESMExports();
    const alive = () => memories.filter((memory) => memory.deref() !== undefined).length;
    const collect = async (done) => {
      // What deref has touched stays until the job ends.
      for (let i = 0; i < 50 && !done(); i++) { await wait(20); gc(); }
    };
    const { load, tensor, zeros } = await import(${JSON.stringify(import.meta.resolve('headwise'))});
    ${body}`;
  return evaluate(name, script, { flags: ['--expose-gc'] });
}

/** A few modules, a trace and a cache of an engine `hw`. */
const useAll = `
  const mha = new hw.MultiHeadAttention({ dIn: 8, dOut: 8, contextLength: 16, numHeads: 2 });
  const { trace } = mha.forward(hw.randn([16, 8]), { trace: true });
  const cache = mha.createCache();
  mha.forward(hw.randn([3, 8]), { cache });
  const linear = new hw.Linear({ inFeatures: 100, outFeatures: 100 });`;

test('Symbol.dispose disposes of engines, modules, traces and caches', async () => {
  const hw = await engine();
  const mha = new hw.MultiHeadAttention({ dIn: 4, dOut: 4, contextLength: 5, numHeads: 2 });
  const { trace } = mha.forward(data(1, [5, 4]), { trace: true });
  assert.ok(trace);
  const cache = mha.createCache();
  cache[Symbol.dispose]();
  throwsCode(() => cache.length, 'ERR_DISPOSED', 'cache');
  trace[Symbol.dispose]();
  throwsCode(() => trace.weights({ head: 0 }), 'ERR_DISPOSED', 'trace');
  mha[Symbol.dispose]();
  throwsCode(() => mha.stateDict(), 'ERR_DISPOSED', 'MultiHeadAttention');
  hw[Symbol.dispose]();
  throwsCode(() => hw.rand([1]), 'ERR_DISPOSED', 'engine');
});

test('of a thousand engines that were loaded, used and disposed of no memory is left', async () => {
  const { count, left, peak } = await inNode(
    'a thousand engines',
    `
    const before = process.memoryUsage().rss;
    let peak = 0;
    for (let i = 0; i < 1000; i++) {
      const hw = await load();
      ${useAll}
      if (i % 2) for (const each of [trace, cache, mha, linear]) each.dispose();
      hw.dispose();
      peak = Math.max(peak, process.memoryUsage().rss - before);
    }
    await collect(() => alive() === 0);
    report({ count: memories.length, left: alive(), peak });`,
  );
  assert.equal(count, 1000);
  assert.ok(left <= 1, `${left} memories are left`);
  assert.ok(peak < 500e6, `without asking for it, too: at most ${peak} bytes`);
});

test('a thousand modules, traces and caches leave an engine as large as it was', async () => {
  const { before, after, forgotten } = await inNode(
    'a thousand modules',
    `
    const hw = await load();
    const round = () => { ${useAll} return [trace, cache, mha, linear]; };
    const rounds = async (count, end) => {
      for (let i = 0; i < count; i++) { end(round()); if (i % 20 === 0) await collect(() => true); }
    };
    const dispose = (all) => all.forEach((each) => each.dispose());
    await rounds(3, dispose);
    const before = hw.memoryBytes;
    await rounds(1000, dispose);
    const after = hw.memoryBytes;
    await rounds(400, () => {});
    for (let i = 0; i < 5; i++) { gc(); await wait(10); }
    const most = hw.memoryBytes;
    for (let i = 0; i < 600; i++) { round(); if (i % 20 === 0) { gc(); await wait(5); } }
    report({ before, after, forgotten: hw.memoryBytes - most });`,
  );
  assert.equal(after, before);
  assert.equal(forgotten, 0, 'those that were forgotten are freed in time');
});

test('an engine that was forgotten while it records records nothing any more', async () => {
  const recorded = await inNode(
    'a forgotten engine that records',
    `
    const leaf = zeros([2, 2]);
    leaf.requiresGrad = true;
    const isRecorded = () => leaf.reshape([4]).requiresGrad;
    const forget = async (record) => record(await load());
    const found = [isRecorded()];
    for (const record of [
      (hw) => hw.setGradEnabled(true),
      (hw) => void hw.enableGrad(() => new Promise(() => {})),
    ]) {
      await forget(record);
      found.push(isRecorded());
      await collect(() => !isRecorded());
      found.push(isRecorded());
    }
    report(found);`,
  );
  assert.deepEqual(recorded, [false, true, false, true, false]);
});

test('Workers end with their engine, and with one that was forgotten', async () => {
  const { started, disposed, kept, forgotten, left } = await inNode(
    'Workers of engines',
    `
    for (let i = 0; i < 20; i++) {
      const hw = await load({ threads: 3 });
      new hw.Linear({ inFeatures: 2, outFeatures: 2 }).forward(zeros([500, 2]));
      hw.dispose();
    }
    const started = memories.length;
    await collect(() => workers === 0 && alive() === 0);
    const disposed = workers;
    let last = await load({ threads: 3 });
    let linear = new last.Linear({ inFeatures: 2, outFeatures: 2 });
    last = undefined;
    await collect(() => workers < 2);
    const kept = workers;
    linear = undefined;
    await collect(() => workers === 0 && alive() === 0);
    report({ started, disposed, kept, forgotten: workers, left: alive() });`,
  );
  assert.equal(started, 20);
  assert.equal(disposed, 0);
  assert.equal(kept, 2, 'a module keeps its engine');
  assert.equal(forgotten, 0);
  assert.ok(left <= 1, `${left} memories are left`);
});
