// npm run bench:gpt2 on a tiny model: that it validates, counts and prints. How long anything takes is not tested.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Tensor } from 'headwise';
import { readSafetensors } from 'headwise/formats';
import { Gpt2 } from 'headwise/gpt2';
import { decodeBytes, promptFlops, sizes } from './bench/gpt2/sizes.js';
import { runNode } from './child.js';
import { readCheckpoint } from './gpt2.js';
import { engine } from './helpers.js';
import { gpt2 } from './reference-gpt2.js';
import { isTorchs, readGroup } from './torch.js';

const RUN = fileURLToPath(new URL('bench/gpt2.js', import.meta.url));
const ENGINE = new URL('../web/headwise/engine/engine.js', import.meta.url).href;

/** @param {string[]} args @param {string[]} [nodeArgs] */
function run(args, nodeArgs = []) {
  const all = [...nodeArgs, RUN, '--size', 'tiny', '--seconds', '0.01', ...args];
  return runNode('bench:gpt2', all);
}

test('the JSON of a run is well formed and its figures agree with each other', async () => {
  const { status, stdout, stderr } = await run(['--prompt', '8,64', '--threads', '1,2', '--json']);
  assert.equal(status, 0, stderr);
  const { runtime, results, loadings } = JSON.parse(stdout);
  assert.match(runtime, /^Node v\d+/);
  assert.deepEqual(
    results.map((/** @type {any} */ { size, threads }) => `${size} ${threads}`),
    ['tiny 1', 'tiny 2'],
  );
  for (const { parameters, memoryBytes, maxError, timings, threads } of results) {
    assert.ok(memoryBytes > 4 * parameters && maxError < 1e-6);
    assert.deepEqual(
      timings.map((/** @type {any} */ { way, tokens }) => `${way} ${tokens}`),
      ['prompt 8', 'prompt 64', 'decode 8', 'decode 63'],
    );
    for (const { way, tokens, minimum, median, rate, ceiling, percent, perSecond } of timings) {
      const isPrompt = way === 'prompt';
      const work = isPrompt ? promptFlops(sizes.tiny, tokens) : decodeBytes(sizes.tiny, tokens);
      assert.ok(minimum > 0 && minimum <= median && ceiling > 0, `${threads}`);
      assert.ok(Math.abs(rate / (work / minimum / 1e6) - 1) < 1e-9);
      assert.ok(Math.abs(percent / ((100 * rate) / ceiling) - 1) < 1e-9);
      assert.ok(Math.abs((perSecond * minimum) / (isPrompt ? tokens : 1) / 1000 - 1) < 1e-9);
    }
  }
  const [{ size, minimum, fileBytes, memoryBytes }] = loadings;
  assert.equal(size, 'tiny');
  assert.ok(minimum > 0 && memoryBytes > 0);
  assert.ok(
    fileBytes > 2 * results[0].parameters && fileBytes < 2 * results[0].parameters + 10_000,
  );
});

test('the table has one line for a prompt and one for a token, then memory and loading', async () => {
  const { status, stdout, stderr } = await run(['--prompt', '8', '--threads', '1']);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^tiny +\w+ +1 +prompt +8 .* GFLOP\/s +\d+\.\d %/m);
  assert.match(stdout, /^tiny +\w+ +1 +decode +8 .* GB\/s +\d+\.\d %/m);
  assert.match(stdout, /MB of memory; off float64 by \de-\d/);
  assert.match(stdout, /loaded from float16 in /);
});

test('wrong logits end the run', async () => {
  const spoil = `import { Engine } from ${JSON.stringify(ENGINE)};
    const { read } = Engine.prototype;
    Engine.prototype.read = function (...args) {
      const tensor = read.apply(this, args);
      if (tensor.shape.length === 2 && tensor.shape[0] === 1) tensor.data[0] += 1e-3;
      return tensor;
    };`;
  const preload = `--import=data:text/javascript,${encodeURIComponent(spoil)}`;
  const { status, stderr } = await run(['--prompt', '8', '--threads', '1'], [preload]);
  assert.equal(status, 1);
  assert.match(stderr, /wrong: row 0, column 0 is .*float64 gives/);
});

for (const [args, complaint] of /** @type {[string[], RegExp][]} */ ([
  [['--size', '7B'], /--size is 7B; expected some of tiny, 10M, 124M/],
  [['--threads', '0'], /--threads is 0; expected integers of at least 1/],
  [['--prompt', 'all'], /--prompt is all; expected integers of at least 1/],
  [['--seconds', '0'], /--seconds is 0; expected a number of seconds/],
  [['--fast'], /--fast/],
]))
  test(`${args.join(' ')} is refused with a usage line`, async () => {
    const { status, stdout, stderr } = await run(args);
    assert.equal(status, 2);
    assert.equal(stdout, '');
    assert.match(stderr, complaint);
    assert.match(stderr, /^usage: npm run bench:gpt2/m);
  });

test('the float64 reference gives PyTorch’s logits', async () => {
  const group = readGroup('gpt2');
  for (const fixture of /** @type {any[]} */ (group.cases)) {
    const { config, weights } = readCheckpoint(fixture.checkpoint);
    const { tensors } = await readSafetensors(weights);
    const state = Object.fromEntries(
      Object.entries(tensors).map(([key, value]) => [key.replace(/^transformer\./, ''), value]),
    );
    const { vocab_size: vocabSize, n_head: numHeads, n_layer: numLayers } = config;
    const options = { numHeads, numLayers, eps: config.layer_norm_epsilon };
    const [batch, tokens] = fixture.ids.shape;
    const rows = Array.from({ length: batch }, (_, b) =>
      Array.from(gpt2(fixture.ids.values.slice(b * tokens, (b + 1) * tokens), state, options).data),
    );
    const logits = new Tensor(Float32Array.from(rows.flat()), [batch, tokens, vocabSize]);
    isTorchs(logits, fixture.expect.logits, group, fixture.title);
  }
});

test('sizes are what their names say, and work is counted as the parameters are', async () => {
  const hw = await engine();
  const { vocabSize, contextLength, dModel, numLayers } = sizes['124M'];
  const count = (vocabSize + contextLength) * dModel + numLayers * (12 * dModel + 13) * dModel;
  assert.equal(count + 2 * dModel, 124_439_808);
  const model = new Gpt2(hw, sizes['10M']);
  assert.ok(Math.abs(model.parameterCount() / 1e7 - 1) < 0.05);
  const matrices = Object.entries(model.stateDict()).filter(
    ([key, { shape }]) => shape.length === 2 && key !== 'wpe.weight',
  );
  const read = matrices.reduce((sum, [, { data }]) => sum + 4 * data.length, 0);
  assert.equal(decodeBytes(sizes['10M'], 0), read);
  hw.dispose();
});
