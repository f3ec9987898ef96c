// headwise/inline: the module inside the JavaScript.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { load } from 'headwise';
import { load as loadInline } from 'headwise/inline';
import { bundle } from './bundle.js';
import { rejectsCode } from './helpers.js';
import { checkFused, checkWrapper } from './seeds.js';

test('the inlined module gives the numbers of the notebooks, and the bits of the SIMD128 module', async () => {
  const inlined = await loadInline();
  checkFused(inlined);
  checkWrapper(inlined);
  assert.equal(inlined.info.simd, 'simd128');
  const fetched = await load({ simd: 'simd128' });
  const [a, b] = [inlined, fetched].map((hw) => {
    hw.manualSeed(7);
    const mha = new hw.MultiHeadAttention({ dIn: 33, dOut: 36, contextLength: 50, numHeads: 3 });
    return mha.forward(hw.randn([2, 50, 33])).output.data;
  });
  assert.deepEqual(a, b);
  inlined.dispose();
  fetched.dispose();
});

test('loading the inlined module asks nobody for anything', async (t) => {
  const asked = t.mock.method(globalThis, 'fetch', () => assert.fail('fetched'));
  (await loadInline({ simd: 'simd128' })).dispose();
  assert.equal(asked.mock.callCount(), 0);
});

test('more threads than one are answered with one and the reason', async () => {
  const hw = await loadInline({ threads: 2 });
  assert.equal(hw.info.threads, 1);
  assert.equal(hw.info.threadsReason, 'headwise/inline has one thread');
  hw.dispose();
});

test('another module may be given, and options are checked as by load', async () => {
  const path = new URL('../web/headwise/wasm/headwise-simd128-threads.wasm', import.meta.url);
  const hw = await loadInline({ wasm: await readFile(path) });
  checkFused(hw);
  hw.dispose();
  await rejectsCode(loadInline({ simd: 'relaxed' }), 'ERR_LOAD', 'relaxed', 'headwise/inline');
  await rejectsCode(loadInline({ threads: 0 }), 'ERR_VALUE', 'threads');
  const reason = new Error('the page was left');
  await assert.rejects(loadInline({ signal: AbortSignal.abort(reason) }), reason);
});

test('messages tell the names of classes that a bundler has shortened', async () => {
  const [chunk] = await bundle('headwise/inline');
  assert.ok(chunk.type === 'chunk');
  await import(`data:text/javascript,${encodeURIComponent(chunk.code)}`);
  /** @type {typeof import('headwise/inline')} */
  const { load: loadBundled, zeros } = /** @type {any} */ (globalThis).headwise;
  const hw = await loadBundled();
  const linear = new hw.Linear({ inFeatures: 2, outFeatures: 2 });
  const softmax = /** @type {any} */ (hw.softmax);
  assert.throws(() => softmax(linear), /a value of type Linear;/);
  assert.throws(() => softmax(linear.parameters()[0]), /a Parameter of shape/);
  assert.throws(() => hw.manualSeed(/** @type {any} */ (zeros([1]))), /a Tensor of shape/);
  linear.dispose();
  assert.throws(() => linear.forward(zeros([1, 2])), /the Linear was disposed of/);
  hw.dispose();
});
