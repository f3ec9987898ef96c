// npm run bench:models on a tiny model: that it validates, counts and prints. How long anything takes is not tested.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { shapes } from './bench/models/shapes.js';
import { bytesOf, shrink, workOf } from './bench/models/work.js';
import { runNode } from './child.js';
import { engine } from './helpers.js';

const RUN = fileURLToPath(new URL('bench/models.js', import.meta.url));
const ENGINE = new URL('../web/headwise/engine/engine.js', import.meta.url).href;
const tiny = shrink(shapes['SmolLM2-135M']);

/** @param {string[]} args @param {string[]} [nodeArgs] */
function run(args, nodeArgs = []) {
  const all = [...nodeArgs, RUN, '--model', 'tiny', '--seconds', '0.01', ...args];
  return runNode('bench:models', all);
}

test('the JSON of a run is well formed and its figures agree with each other', async () => {
  const args = ['--prompt', '8,40', '--threads', '1,2', '--quick', '--json'];
  const { status, stdout, stderr } = await run(args);
  assert.equal(status, 0, stderr);
  const { runtime, results } = JSON.parse(stdout);
  assert.match(runtime, /^Node v\d+/);
  assert.deepEqual(
    results.map((/** @type {any} */ { model, threads }) => `${model} ${threads}`),
    ['tiny 1', 'tiny 2'],
  );
  const work = workOf(tiny);
  for (const { parameters, errors, loadings, timings, threads } of results) {
    assert.equal(parameters, work.parameters);
    assert.ok(errors.float32 < 2e-6 && errors.bfloat16 < 2e-6 && errors.int8 < 0.05);
    for (const { minimum, memoryBytes, share, dtype } of loadings) {
      assert.ok(minimum > 0 && memoryBytes > bytesOf[dtype] * parameters);
      assert.ok(Math.abs((share + 1) / (memoryBytes / work.decodeBytes(dtype, 0)) - 1) < 1e-9);
    }
    assert.deepEqual(
      timings.map((/** @type {any} */ { way, tokens, dtype }) => `${way} ${tokens} ${dtype}`),
      ['prompt 8', 'prompt 40', 'decode 8', 'decode 40'].flatMap((what) =>
        ['float32', 'bfloat16', 'int8'].map((dtype) => `${what} ${dtype}`),
      ),
    );
    for (const [i, { way, tokens, dtype, minimum, median, ...of }] of timings.entries()) {
      const isPrompt = way === 'prompt';
      const amount = isPrompt ? work.promptFlops(tokens) : work.decodeBytes(dtype, tokens);
      assert.ok(minimum > 0 && minimum <= median && of.ceiling > 0, `${threads}`);
      assert.ok(Math.abs(of.rate / (amount / minimum / 1e6) - 1) < 1e-9);
      assert.ok(Math.abs(of.percent / ((100 * of.rate) / of.ceiling) - 1) < 1e-9);
      assert.ok(Math.abs((of.perSecond * minimum) / (isPrompt ? tokens : 1) / 1000 - 1) < 1e-9);
      const float32 = timings[i - (i % 3)];
      assert.equal(float32.dtype, 'float32');
      assert.equal(of.speedup, float32.minimum / minimum);
    }
  }
});

test('the table has a line for each way and dtype, then loading and memory', async () => {
  const args = ['--prompt', '8', '--dtype', 'float16', '--simd', 'simd128', '--clock', 'cpu'];
  const { status, stdout, stderr } = await run(args);
  assert.equal(status, 0, stderr);
  for (const dtype of ['float32', 'float16']) {
    const rest = String.raw`${dtype} .*× .*\d+\.\d %`;
    assert.match(stdout, new RegExp(`^tiny +simd128 +1 +prompt +8 +${rest}`, 'm'));
    assert.match(stdout, new RegExp(`^tiny +simd128 +1 +decode +8 +${rest}`, 'm'));
    assert.match(
      stdout,
      new RegExp(`${dtype}: loaded in .* ms, .* MB of memory .* off float64 by \\de-\\d`),
    );
  }
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
  const { status, stderr } = await run(['--prompt', '8'], [preload]);
  assert.equal(status, 1);
  assert.match(stderr, /wrong: logits with float32 differ from float64's/);
});

for (const [args, complaint] of /** @type {[string[], RegExp][]} */ ([
  [['--model', '7B'], /--model is 7B; expected some of tiny, GPT-2-124M, /],
  [['--dtype', 'int4'], /--dtype is int4; expected some of float32, bfloat16, float16, int8/],
  [['--threads', '0'], /--threads is 0; expected integers of at least 1/],
  [['--prompt', 'all'], /--prompt is all; expected integers from 1 to 2047/],
  [['--seconds', '0'], /--seconds is 0; expected a number of seconds/],
  [['--clock', 'sun'], /--clock is sun; expected one of wall, cpu/],
  [['--clock', 'cpu', '--threads', '2'], /--clock is cpu; expected --threads 1/],
  [['--fast'], /--fast/],
]))
  test(`${args.join(' ')} is refused with a usage line`, async () => {
    const { status, stdout, stderr } = await run(args);
    assert.equal(status, 2);
    assert.equal(stdout, '');
    assert.match(stderr, complaint);
    assert.match(stderr, /^usage: npm run bench:models/m);
  });

test('shapes are what their names say, and work is counted as the parameters are', async () => {
  const parameters = (/** @type {string} */ name) => workOf(shapes[name]).parameters;
  assert.equal(parameters('GPT-2-124M'), 124_439_808);
  assert.equal(parameters('SmolLM2-135M'), 134_515_008);
  assert.equal(parameters('Qwen3-0.6B'), 596_049_920);

  const hw = await engine();
  const model = new hw.Decoder(tiny);
  assert.equal(workOf(tiny).parameters, model.parameterCount());
  const matrices = Object.values(model.stateDict()).filter(({ shape }) => shape.length === 2);
  const weights = matrices.reduce((sum, { data }) => sum + data.length, 0);
  assert.equal(workOf(tiny).decodeBytes('float32', 0), 4 * weights);
  // 2 layers of 2 key heads, 8 wide: keys and values of 10 tokens.
  assert.equal(workOf(tiny).decodeBytes('int8', 10), weights + 4 * 2 * 2 * 10 * 2 * 8);
  model.dispose();
});
