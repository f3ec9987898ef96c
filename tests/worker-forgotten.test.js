// Objects of a Worker that nobody holds any more: what still works with them keeps them, and nothing else does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluate, runNode } from './child.js';

test('a model whose object was forgotten serves those that work with it', async () => {
  const script = `
    import { setTimeout } from 'node:timers/promises';
    import { load, tensor } from ${JSON.stringify(import.meta.resolve('headwise/worker'))};
    import { ablation } from ${JSON.stringify(import.meta.resolve('headwise/understanding'))};
    const hw = await load({ threads: 1 });
    const collect = async () => { for (let i = 0; i < 5; i++) { gc(); await setTimeout(5); } };
    const ids = [1, 2, 3, 4, 5];
    const decoder = () => new hw.Decoder({ model_type: 'llama', vocab_size: 20, hidden_size: 16,
      num_hidden_layers: 2, num_attention_heads: 4, intermediate_size: 32, max_position_embeddings: 64 });
    /** What each makes holds its model no more. */
    const makes = {
      generate: async () => [await (await decoder()).generate(ids, { maxTokens: 30 })],
      cache: async () => {
        const model = await decoder();
        return [await model.generate(ids, { maxTokens: 30, cache: await model.createCache() })];
      },
      trace: async () => [(await (await decoder()).forward(ids, { trace: true })).trace[0]],
      optimizer: async () => {
        const linear = await new hw.Linear({ inFeatures: 2, outFeatures: 2 });
        const parameters = await linear.parameters();
        return [parameters[0], await new hw.AdamW(parameters)];
      },
      loss: async () => [await hw.enableGrad(async () => (await decoder()).loss([ids]))],
      rows: async () => {
        return hw.enableGrad(async () => {
          const linear = await new hw.Linear({ inFeatures: 2, outFeatures: 2 });
          const { output } = await linear.forward(tensor([[1, 2], [3, 4]]));
          return [output.reshape([4]).slice([1, 2])];
        });
      },
    };
    const works = {
      generate: async ([it]) => { let n = 0; for await (const _ of it) { n++; await collect(); } return n; },
      cache: async ([it]) => { let n = 0; for await (const _ of it) { n++; await collect(); } return n; },
      trace: async ([trace]) => (await trace.norms({ head: 0 })).shape.join(),
      optimizer: async ([one, optimizer]) => { await optimizer.step(); return (await one.data).shape.join(); },
      loss: async ([loss]) => { await loss.backward(); return 'backward'; },
      rows: async ([row]) => { await row.backward(); return 'backward'; },
    };
    const results = {};
    for (const name of Object.keys(makes)) {
      const made = await makes[name]();
      await collect();
      results[name] = await works[name](made).catch((error) => error.message);
    }
    const sweep = async () => ablation(await decoder(), ids, { position: 4, target: 3 });
    const asked = sweep();
    await collect();
    results.ablation = (await asked).effects.shape.join();
    // A loss that is kept keeps its model, and no logits.
    const kept = [];
    const logits = [];
    const step = async () => {
      const linear = await new hw.Linear({ inFeatures: 2, outFeatures: 3 });
      await hw.enableGrad(async () => {
        const { output } = await linear.forward(tensor([[1, 2], [3, 4]]));
        logits.push(new WeakRef(output));
        kept.push(await hw.crossEntropy(output, [0, 1]));
      });
      await kept.at(-1).backward();
    };
    for (let i = 0; i < 5; i++) await step();
    await collect();
    await collect();
    results.logits = logits.filter((one) => one.deref()).length;
    // None is kept longer.
    const make = async () => void (await (await (await decoder()).forward(ids, { trace: true })).trace[0].norms({ head: 0 }));
    for (let i = 0; i < 10; i++) { await make(); await collect(); }
    const before = await hw.memoryBytes;
    for (let i = 0; i < 60; i++) { await make(); if (i % 5 === 0) await collect(); }
    results.growth = (await hw.memoryBytes) - before;
    report(results);
    await hw.dispose();`;
  const results = await evaluate('forgotten models', script, { flags: ['--expose-gc'] });
  const expected = { generate: 30, cache: 30, trace: '5,5', optimizer: '2,2' };
  const more = { loss: 'backward', rows: 'backward', ablation: '2,4', logits: 0, growth: 0 };
  assert.deepEqual(results, { ...expected, ...more });
});

test('a module keeps its engine alive, and an iterator that is forgotten is ended', async () => {
  const endpoint = new URL('../web/headwise/worker/endpoint.js', import.meta.url);
  const script = `
    import { setTimeout } from 'node:timers/promises';
    import { Endpoint } from ${JSON.stringify(endpoint.href)};
    import { load } from ${JSON.stringify(import.meta.resolve('headwise/worker'))};
    const collect = async () => { for (let i = 0; i < 10; i++) { gc(); await setTimeout(10); } };
    const make = async () => new (await load()).Linear({ inFeatures: 2, outFeatures: 3 });
    const linear = await make();
    await collect();
    console.log((await linear.stateDict()).weight.shape.join());
    const { port1, port2 } = new MessageChannel();
    const near = new Endpoint((message, transfers) => port1.postMessage(message, transfers));
    const far = new Endpoint((message, transfers) => port2.postMessage(message, transfers), {
      *count() { try { for (let i = 0; ; i++) yield i; } finally { console.log('ended'); } },
    });
    port1.onmessage = ({ data }) => near.hear(data);
    port2.onmessage = ({ data }) => far.hear(data);
    const forget = async () => void (await (await near.send(0, ['count'], 'call', [])).next());
    await forget();
    await collect();
    port1.close();`;
  const args = ['--expose-gc', '--input-type=module', '-e', script];
  const { stdout, stderr, status } = await runNode('what is forgotten', args);
  assert.deepEqual([stdout.trim().split('\n'), status], [['3,2', 'ended'], 0], stderr);
});

test('an engine that nobody holds any more answers what it was asked, and then its Worker ends', async () => {
  const script = `
    import { setTimeout } from 'node:timers/promises';
    import { Worker } from 'node:worker_threads';
    import { load, zeros } from ${JSON.stringify(import.meta.resolve('headwise/worker'))};
    const { terminate } = Worker.prototype;
    Worker.prototype.terminate = function () { console.log('ended'); return terminate.call(this); };
    const collect = async () => { for (let i = 0; i < 10; i++) { gc(); await setTimeout(10); } };
    const x = zeros([8192, 64]); // some tenths of a second
    const ask = async () => [(await load({ threads: 1 })).scaledDotProductAttention(x, x, x)];
    const [answer] = await ask();
    await collect();
    console.log((await answer).output.shape.join());
    await collect();`;
  const args = ['--expose-gc', '--input-type=module', '-e', script];
  const { stdout, stderr, status } = await runNode('a forgotten engine', args);
  assert.deepEqual([stdout.trim().split('\n'), status], [['8192,64', 'ended'], 0], stderr);
});
