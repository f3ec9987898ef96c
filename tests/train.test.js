// npm run train: that a run is the same however it is interrupted, and that its files are read.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { tensor } from 'headwise';
import { readSafetensors } from 'headwise/formats';
import { Gpt2, loadGpt2 } from 'headwise/gpt2';
import { readTokenizer } from '../web/page/explore/worker/tokens.js';
import { renewed } from '../web/page/models/train/card.js';
import { circuitOf } from '../web/page/models/train/circuit.js';
import { halfOf, writeHalves } from '../web/page/models/train/half.js';
import { induction } from '../web/page/models/train/induction.js';
import { Random } from '../web/page/models/train/random.js';
import { train as trainRun } from '../web/page/models/train/trainer.js';
import { names } from '../web/page/models/train/names.js';
import * as sentences from '../web/page/models/train/sentences.js';
import { runNode } from './child.js';
import { engine } from './helpers.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MODELS = new URL('../web/page/models/', import.meta.url);

/** @type {string} */
let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headwise-train-'));
});

after(() => rm(folder, { recursive: true, force: true }));

/** @param {...string} args */
const run = (...args) =>
  runNode(`npm run train -- ${args.join(' ')}`, ['web/page/models/train/run.js', ...args], {
    cwd: ROOT,
  });

/** @param {string} name of its folder @param {...string} args @returns {Promise<string>} the folder */
async function train(name, ...args) {
  const out = join(folder, name);
  const { status, stderr } = await run(...args, '--out', out);
  assert.equal(status, 0, stderr);
  return out;
}

/** @param {string} path */
const json = async (path) => JSON.parse(await readFile(path, 'utf8'));

test('a run that was interrupted ends with the bits of one that was not, on any number of threads', async () => {
  const steps = ['induction', '--steps', '6', '--seed', '5'];
  const whole = await train('whole', ...steps);
  const parts = await train('parts', ...steps, '--stop', '2');
  await assert.rejects(readFile(join(parts, 'model.safetensors')), /ENOENT/);
  await train('parts', ...steps, '--stop', '4', '--resume', '--threads', '2');
  await train('parts', ...steps, '--resume');
  for (const name of ['model.safetensors', 'scores.json']) {
    const [a, b] = [await readFile(join(whole, name)), await readFile(join(parts, name))];
    assert.ok(a.equals(b), name);
  }
  const [a, b] = [
    await json(join(whole, 'training.json')),
    await json(join(parts, 'training.json')),
  ];
  assert.deepEqual({ ...a, processor_minutes: 0 }, { ...b, processor_minutes: 0 });
  await assert.rejects(readFile(join(whole, 'checkpoint.safetensors')), /ENOENT/);
});

test('a checkpoint of another run is not resumed', async () => {
  await train('mine', 'induction', '--steps', '6', '--stop', '1', '--seed', '5');
  const { status, stderr } = await run(
    ...['induction', '--steps', '6', '--seed', '6', '--resume', '--out', join(folder, 'mine')],
  );
  assert.equal(status, 2);
  assert.match(stderr, /checkpoint’s seed is 5, this run’s 6/);
});

test('what is trained is read: config, weights, tokenizer, scores and card', async () => {
  const hw = await engine();
  for (const name of ['induction', 'names']) {
    const out = await train(`read-${name}`, name, '--steps', '2');
    const file = (/** @type {string} */ part) => pathToFileURL(join(out, part));
    const model = await loadGpt2(hw, {
      config: file('config.json'),
      weights: file('model.safetensors'),
    });
    const { encode, token } = readTokenizer(await json(join(out, 'tokenizer.json')));
    for (const part of ['config.json', 'tokenizer.json']) {
      const shipped = await json(fileURLToPath(new URL(`${name}/${part}`, MODELS)));
      assert.deepEqual(await json(join(out, part)), shipped);
    }
    const { bos_token_id: first, eos_token_id: last } = await json(join(out, 'config.json'));
    assert.deepEqual([first, last], [null, null]); // GPT-2's are no tokens of these
    const ids = encode(name === 'names' ? 'Mary saw john' : 'aB9');
    assert.deepEqual(
      ids.map((id) => token(id).text).join(''),
      name === 'names' ? 'marysawjohn' : 'aB9',
    );
    const { numLayers, numHeads, vocabSize } = model.options;
    assert.ok(model.forward(ids).logits.data.every(Number.isFinite));
    assert.equal(token(vocabSize - 1).text.startsWith('#'), false);
    const { heads } = await json(join(out, 'scores.json'));
    assert.deepEqual([heads.length, heads[0].length], [numLayers, numHeads]);
    const card = await readFile(join(out, 'README.md'), 'utf8');
    assert.match(card, /<!-- training -->\n- steps: 2\n/);
    assert.match(card, new RegExp(`L0H0 .*${heads[0][0].entropy.toFixed(2)}`));
    model.dispose();
  }
});

test('a model learns, and the feed-forward parts of one of attention alone stay zero', async () => {
  const out = await train('learns', 'names', '--steps', '60');
  const file = await readFile(join(out, 'model.safetensors'));
  const { tensors } = await readSafetensors(new Uint8Array(file));
  for (const [name, { data }] of Object.entries(tensors)) {
    if (name.includes('.mlp.'))
      assert.ok(
        data.every((value) => value === 0),
        name,
      );
  }
  const hw = await engine();
  const model = new Gpt2(hw, names.options, false).loadStateDict(tensors);
  const rows = names.data().batch(new Random(7, 7), 0);
  const [ids, targets] = [rows.map((row) => row.ids), rows.map((row) => row.targets)];
  const loss = model.loss(ids, targets).item();
  assert.ok(loss < Math.log(sentences.VOCABULARY.length) - 0.5, `${loss}`);
  model.dispose();
});

test('wrong options are named, with the usage', async () => {
  for (const [args, message] of /** @type {[string[], RegExp][]} */ ([
    [['gpt5'], /the model is gpt5; expected one of induction, austen, names/],
    [[], /the model is not named/],
    [['names', '--seed', '-1'], /argument|--seed is -1/],
    [['names', '--steps', '0'], /--steps is 0; expected an integer from 1 to 4294967295/],
    [['names', '--simd', 'mmx'], /--simd is mmx; expected one of simd128, relaxed, auto/],
    [['names', '--fast'], /--fast/],
  ])) {
    const { status, stderr } = await run(...args);
    assert.equal(status, 2, stderr);
    assert.match(stderr, message);
    assert.match(stderr, /usage: npm run train/);
  }
});

test('float16 is the nearest, the even one of two', async () => {
  const bits = Uint16Array.from({ length: 0x7c00 }, (_, i) => i);
  const values = (await readSafetensors(fileOfHalves(bits))).tensors.x.data;
  assert.equal(values[1], 2 ** -24);
  assert.equal(values[0x3c00], 1);
  for (let i = 0; i + 1 < bits.length; i++) {
    assert.equal(halfOf(values[i]), i);
    assert.equal(halfOf(-values[i]), i | 0x8000);
    const middle = (values[i] + values[i + 1]) / 2;
    assert.equal(halfOf(middle), i + (i % 2), `between ${i} and the next`);
    if (i > 1024) {
      assert.equal(halfOf(middle * (1 + 2 ** -20)), i + 1);
      assert.equal(halfOf(middle * (1 - 2 ** -20)), i);
    }
  }
  assert.deepEqual([halfOf(65_519), halfOf(65_520), halfOf(-Infinity)], [0x7bff, 0x7c00, 0xfc00]);
  const { y } = (await readSafetensors(writeHalves({ y: tensor([[1, -2.5, 0.1]]) }))).tensors;
  assert.deepEqual(
    [y.shape, [...y.data]],
    [
      [1, 3],
      [1, -2.5, 0.0999755859375],
    ],
  );
});

/** @param {Uint16Array<ArrayBuffer>} bits */
function fileOfHalves(bits) {
  const header = { x: { dtype: 'F16', shape: [bits.length], data_offsets: [0, 2 * bits.length] } };
  const text = new TextEncoder().encode(JSON.stringify(header));
  const start = new Uint8Array(8);
  start[0] = text.length;
  return Uint8Array.from([...start, ...text, ...new Uint8Array(bits.buffer)]);
}

test('the shipped names model answers sentences of names that it never saw together', async () => {
  const hw = await engine();
  const file = (/** @type {string} */ part) => new URL(`names/${part}`, MODELS);
  const model = await loadGpt2(hw, {
    config: file('config.json'),
    weights: file('model.safetensors'),
  });
  const random = new Random(9, 9);
  for (const kind of [sentences.heldOutPair, sentences.heldOutNames]) {
    let right = 0;
    for (let i = 0; i < 100; i++) {
      const { ids, object } = kind(random);
      const data = /** @type {Float32Array} */ (model.forward(ids).logits.data);
      if (data.indexOf(Math.max(...data)) === sentences.idOf(object)) right++;
    }
    assert.ok(right >= 97, `${right} of 100`);
  }
  model.dispose();
});

test('a head’s part in the circuit is told from where it looks, and what is lost without it', () => {
  const io = sentences.idOf('mary');
  const s = sentences.idOf('john');
  const ids = 'mary saw john near the park , so john gave a cake to'.split(' ').map(sentences.idOf);
  const n = ids.length;
  /** Two heads that look at one place from one place: the end at S2, the end at IO. */
  const looks = [
    [n - 1, 8],
    [n - 1, 0],
  ];
  const model = {
    options: { numLayers: 1, numHeads: 2 },
    forward(/** @type {number[]} */ given, /** @type {{ headMask?: number[][] }} */ { headMask }) {
      assert.deepEqual(given, ids);
      const weights = new Float32Array(2 * n * n);
      looks.forEach(([query, key], head) => (weights[(head * n + query) * n + key] = 1));
      const logits = new Float32Array(sentences.VOCABULARY.length);
      const [inhibits, moves] = headMask?.[0] ?? [1, 1];
      logits[io] = 2 + moves;
      logits[s] = 4 - 3 * inhibits;
      return { weights: [tensor(weights, [2, n, n])], logits: tensor(logits) };
    },
  };
  const sentence = { ids, subject: 'john', object: 'mary' };
  const { difference, heads, roles, accuracy } = circuitOf(/** @type {any} */ (model), [
    sentence,
    sentence,
  ]);
  assert.equal(difference, 2);
  const none = { duplicate: 0, subject: 0 };
  assert.deepEqual(heads, [
    [
      { ...none, inhibition: 1, mover: 0, without: -1 },
      { ...none, inhibition: 0, mover: 1, without: 1 },
    ],
  ]);
  assert.deepEqual(roles, { duplicate: [], inhibition: ['L0H0'], both: [], mover: ['L0H1'] });
  assert.deepEqual(accuracy, { duplicate: 1, inhibition: 0, both: 1, mover: 1 });
});

test('a run gives the model that was judged best, also when it is resumed', async () => {
  const hw = await engine();
  /** Judged worse and worse but at step 4. */
  const judged = (/** @type {number[]} */ seen) => () => {
    seen.push(seen.length);
    return seen.length === 2 ? -1 : seen.length;
  };
  const { data, ...task } = induction;
  const states = [];
  for (const stops of [[10], [5, 7, 10]]) {
    /** @type {number[]} */
    const seen = [];
    const own = { ...data(), judge: judged(seen) };
    const options = { folder: join(folder, `best-${stops.length}`), seed: 1, steps: 10, tell() {} };
    let last;
    for (const stop of stops) {
      last?.model.dispose();
      const how = { ...options, stop, isResumed: stop !== stops[0] };
      last = await trainRun(hw, { ...task, data, judgedEvery: 2 }, own, how);
    }
    assert.deepEqual(last?.progress.best, { step: 4, loss: -1 });
    assert.equal(seen.length, 5);
    states.push(last?.model.stateDict());
    last?.model.dispose();
  }
  const four = { folder: join(folder, 'four'), seed: 1, steps: 10, stop: 4, tell() {} };
  const early = await trainRun(hw, { ...task, data }, data(), { ...four, isResumed: false });
  assert.deepEqual(states[0], early.model.stateDict());
  assert.deepEqual(states[1], states[0]);
  early.model.dispose();
});

test('a card’s parts are renewed, and nothing else', () => {
  const card = 'a\n<!-- x -->\nold\n<!-- /x -->\nb\n<!-- y -->\n<!-- /y -->\n';
  assert.equal(
    renewed(card, { x: 'new', y: 'z' }),
    'a\n<!-- x -->\nnew\n<!-- /x -->\nb\n<!-- y -->\nz\n<!-- /y -->\n',
  );
  assert.throws(() => renewed(card, { z: '' }), /no part <!-- z -->/);
});
