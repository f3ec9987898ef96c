// The engine's memory that recorded results hold until a backward, or until the collector finds that nobody has them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Gpt2 } from 'headwise/gpt2';
import { load, zeros } from 'headwise';
import { engineOfPages, isRefused } from './filled-memory.js';

/** @typedef {import('./helpers.js').Engine} Hw */

/** Its losses hold much and take only ids, so that the collector sees nothing of them. @param {Hw} hw @param {number} batch */
function lossOf(hw, batch) {
  const sizes = { vocabSize: 7, contextLength: 256, dModel: 64, numHeads: 1, numLayers: 8 };
  const model = new Gpt2(hw, sizes);
  const row = Uint32Array.from({ length: 256 }, (_, i) => i % 7);
  return () => hw.enableGrad(() => model.loss(Array(batch).fill(row)));
}

test('losses that no backward follows are collected before they fill the memory', async () => {
  const hw = await load({ threads: 1 });
  const loss = lossOf(hw, 4);
  const start = hw.memoryBytes;
  loss();
  const one = hw.memoryBytes - start;
  let most = 0;
  for (let i = 0; i < 120; i++) {
    loss();
    await wait(1);
    most = Math.max(most, hw.memoryBytes);
  }
  assert.ok(one > 1e7, `one loss takes ${one} bytes: too few for this test`);
  assert.ok(most < 15 * one, `${most} bytes, for losses of ${one} bytes`);
  hw.dispose();
});

test('a full memory says what recorded results hold, and has room again once nobody has them', async () => {
  const hw = await engineOfPages(1, 2048);
  const loss = lossOf(hw, 1);
  /** @type {ReturnType<typeof loss>[]} */
  const losses = [];
  let message = '';
  for (let i = 0; i < 99 && message === ''; i++) {
    try {
      losses.push(loss());
    } catch (error) {
      assert.equal(/** @type {any} */ (error).code, 'ERR_MEMORY');
      message = /** @type {any} */ (error).message;
    }
  }
  assert.ok(losses.length > 2);
  const [, megabytes, remedy] =
    /recorded results without a backward hold (\d+) MB: (.*)$/.exec(message) ?? [];
  assert.ok(Number(megabytes) > 70 && Number(megabytes) < 134, message);
  assert.equal(remedy, 'use hw.noGrad where none is needed');
  // The backward of a result needs room for its own gradients.
  const deadline = performance.now() + 20_000;
  losses.length = 0;
  let isDone = false;
  while (!isDone && performance.now() < deadline) {
    await wait(1);
    isDone = !isRefused(() => loss().backward());
  }
  assert.ok(isDone, 'what nobody has any more was not collected within 20 s');
  hw.dispose();
});

test('a full memory has room again at once when nobody has the optimizers that filled it', async () => {
  const hw = await engineOfPages(1, 2048);
  const layer = new hw.Linear({ inFeatures: 1024, outFeatures: 1024 });
  hw.enableGrad(() => layer.forward(zeros([1, 1024])).output.backward(zeros([1, 1024])));
  const stepOfAnother = () => {
    const optimizer = new hw.AdamW(layer.parameters());
    optimizer.step();
    return optimizer;
  };
  /** @type {unknown[]} */
  const optimizers = [];
  while (!isRefused(() => optimizers.push(stepOfAnother())));
  assert.ok(optimizers.length > 9);
  optimizers.length = 0;
  let tries = 0;
  do {
    tries++;
    await wait(1);
  } while (tries < 200 && isRefused(stepOfAnother));
  assert.ok(tries < 100, `${tries} tries`);
  hw.dispose();
});

test('what a backward used, and what an optimizer had, is free at once: no collector has to find it', async () => {
  const hw = await load({ threads: 1 });
  const block = new hw.TransformerBlock({ dModel: 64, numHeads: 2, dFf: 64 });
  const layer = new hw.Linear({ inFeatures: 256, outFeatures: 256 });
  const x = zeros([256, 64]);
  const optimizer = new hw.AdamW(layer.parameters());
  const round = {
    backward: () => hw.enableGrad(() => block.forward(x).output).backward(x),
    loadStateDict: () => optimizer.loadStateDict(optimizer.stateDict()),
    dispose() {
      const another = new hw.AdamW(layer.parameters());
      another.step();
      another.dispose();
    },
  };
  for (const each of layer.parameters()) each.grad = each.data;
  optimizer.step();
  for (const [name, act] of Object.entries(round)) {
    for (let i = 0; i < 3; i++) act();
    const before = hw.memoryBytes;
    // Without a pause nothing is collected.
    for (let i = 0; i < 50; i++) act();
    assert.equal(hw.memoryBytes, before, name);
  }
  hw.dispose();
});
