// In a Vue app: what ref() and reactive() hold works as it does outside, for Vue makes no proxies of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isProxy, reactive, ref } from '@vue/reactivity';
import { load, tensor } from 'headwise';
import { openSafetensors, writeSafetensors } from 'headwise/formats';
import { load as loadWorker } from 'headwise/worker';
import { smallModel } from './gpt2.js';
import { data } from './helpers.js';

const options = { dIn: 4, dOut: 4, contextLength: 6, numHeads: 2 };

test('an engine and what it makes work in a ref', async () => {
  const hw = ref(await load());
  const mha = ref(new hw.value.MultiHeadAttention(options));
  const x = ref(data(1, [3, 4]));
  const cache = ref(/** @type {any} */ (mha.value.createCache())); // Vue's types leave private names out
  const result = ref(
    mha.value.forward(x.value, { trace: true, needWeights: true, cache: cache.value }),
  );
  const { trace, weights } = result.value;
  assert.deepEqual(
    trace?.weights({ head: 1 }).toNested(),
    weights?.reshape([2, 3, 3]).slice([1]).toNested()[0],
  );
  assert.equal(cache.value.length, 3);
  for (const value of [hw.value, mha.value, x.value, cache.value, trace, weights])
    assert.ok(!isProxy(value), String(value));
  mha.value.loadStateDict(reactive(mha.value.stateDict()));
  hw.value.dispose();
});

test('a store holds all of it, and sees when another takes its place', async () => {
  class Own extends (await load()).Linear {}
  const store = reactive({
    hw: await load(),
    layers: [new Own({ inFeatures: 2, outFeatures: 3 })],
    byName: new Map([['x', tensor([[1, 2]])]]),
  });
  const x = /** @type {import('headwise').Tensor} */ (store.byName.get('x'));
  assert.ok(isProxy(store.layers) && !isProxy(store.layers[0]) && !isProxy(x));
  assert.deepEqual(store.layers[0].forward(x).output.shape, [1, 3]);
  store.layers = store.layers.map((layer) => layer.eval());
  assert.equal(store.layers[0].training, false);
  assert.deepEqual(store.hw.rand(reactive([2, 2])).shape, [2, 2]);
});

test('a GPT-2 and an opened file work in a ref', async () => {
  const model = ref(smallModel(await load()));
  const { trace } = model.value.forward(reactive([1, 2, 3]), reactive({ trace: true }));
  assert.equal(ref(trace).value?.[0].weights({ head: 0 }).shape.length, 2);
  const file = ref(await openSafetensors(writeSafetensors({ x: tensor([1, 2]) })));
  for await (const piece of file.value.pieces({})) assert.deepEqual([...piece.data], [1, 2]);
});

test('an engine in a Worker and its objects work in a ref', async () => {
  const hw = ref(await loadWorker());
  const mha = ref(await new hw.value.MultiHeadAttention(options));
  const cache = ref(await mha.value.createCache());
  const { output } = await mha.value.forward(data(1, [3, 4]), { cache: cache.value });
  assert.deepEqual(output.shape, [3, 4]);
  assert.equal(await cache.value.length, 3);
  await hw.value.dispose();
});

test('consoles call things by their names', async () => {
  const hw = await load();
  const mha = new hw.MultiHeadAttention(options);
  const { trace } = mha.forward(data(1, [3, 4]), { trace: true });
  assert.deepEqual(
    [hw, mha, tensor([1]), trace, mha.createCache()].map(String),
    ['Headwise', 'Module', 'Tensor', 'Trace', 'KeyValueCache'].map((name) => `[object ${name}]`),
  );
});
