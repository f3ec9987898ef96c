// Whole models in npm run bench:peers: what is compared, checked and printed. Timing needs the peers and a browser.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { shapes } from './bench/models/shapes.js';
import { shrink } from './bench/models/work.js';
import { writeModel } from './bench/models/write.js';
import { start } from './bench/peers/contestants/headwise-model.js';
import { errorOf, PROMPT, promptOf } from './bench/peers/model-contest.js';
import { modelHeader, modelLines } from './bench/peers/table.js';
import { serve } from './browser.js';
import { runNode } from './child.js';

const RUN = fileURLToPath(new URL('bench/peers/run.js', import.meta.url));

test('what a peer thinks likely is compared with the right logits, relative to the largest', () => {
  const right = [3, 1, -1, -3].map((logProbability, id) => ({ id, logProbability }));
  assert.equal(errorOf(right, right), 0);
  assert.equal(errorOf([{ id: 1, logProbability: 1.75 }], right), 0.25);
  const moved = right.map(({ id, logProbability }) => ({ id, logProbability: logProbability - 9 }));
  assert.equal(errorOf([right[0], { id: 2, logProbability: -0.7 }], right).toFixed(3), '0.100');
  assert.equal(errorOf([moved[2]], moved), 0);
  assert.ok(
    Number.isNaN(errorOf([{ id: 7, logProbability: 0 }], right)),
    'a token that is not there',
  );
});

test('prompts have 128 tokens with a character each and differ in the first', () => {
  const prompts = Array.from({ length: 94 }, (_, turn) => promptOf(turn));
  assert.equal(new Set(prompts.map(([first]) => first)).size, 94);
  for (const ids of prompts) {
    assert.equal(ids.length, PROMPT);
    assert.ok(ids.every((id) => Number.isInteger(id) && id >= 0 && id < 94));
  }
});

test('Headwise’s model reads, guesses and decodes', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'headwise-peers-'));
  t.after(() => rm(folder, { recursive: true }));
  const config = { ...shrink(shapes['SmolLM2-135M']), max_position_embeddings: 256 };
  await writeModel(folder, config);
  const site = await serve(folder);
  t.after(() => site.close());
  const model = await start({ folder: site.url, type: 'float32', threads: 1 });
  const guesses = await model.guess(promptOf(0), 100);
  assert.equal(guesses.length, 100);
  const sum = guesses.reduce((all, { logProbability }) => all + Math.exp(logProbability), 0);
  assert.ok(Math.abs(sum - 1) < 1e-5);
  assert.ok(
    guesses.every(({ logProbability: p }, i) => i === 0 || p <= guesses[i - 1].logProbability),
  );
  await model.read(promptOf(1));
  await model.decode(3);
  const again = await model.guess(promptOf(0), 5);
  assert.deepEqual(again, guesses.slice(0, 5));
});

test('the table has a line for each type, with the rival that it is compared with', () => {
  const outcomes = [
    { name: 'Headwise', type: 'float32', promptMs: 512, decodeMs: 40, memoryBytes: 5e8, error: 0 },
    {
      name: 'Headwise',
      type: 'int8',
      promptMs: 256,
      decodeMs: 10,
      memoryBytes: 1.3e8,
      error: 0.011,
    },
    {
      name: 'wllama',
      type: 'f16',
      rival: 'bfloat16',
      promptMs: 4096,
      decodeMs: 80,
      memoryBytes: NaN,
      error: 1e-3,
    },
    {
      name: 'wllama',
      type: 'q8_0',
      rival: 'int8',
      promptMs: 2048,
      decodeMs: 50,
      memoryBytes: 2e8,
      error: 0.004,
    },
    { name: 'wllama', type: 'q4_0', rival: 'int8', error: 0.5, problem: 'Error: wrong:\n  off' },
  ];
  const text = modelLines({ model: 'GPT-2-124M', threads: 1, outcomes }, 128);
  const lines = text.split('\n').map((line) => line.replaceAll(/ +/g, ' '));
  assert.deepEqual(lines, [
    'GPT-2-124M 1 Headwise float32 250.0 25.0 500 0e+0',
    'GPT-2-124M 1 Headwise int8 500.0 100.0 130 1e-2',
    'GPT-2-124M 1 wllama f16 31.3 12.5 – 1e-3',
    'GPT-2-124M 1 wllama q8_0 62.5 int8 8.00× 20.0 int8 5.00× 200 4e-3',
    'GPT-2-124M 1 wllama q4_0 FAILED: Error: wrong: off',
  ]);
  const [titles] = modelHeader().split('\n');
  const [, , , full] = text.split('\n');
  assert.equal(full.length, titles.length);
});

test('options that do not go together are refused with a usage line', async () => {
  for (const [args, message] of /** @type {const} */ ([
    [['--shape', 'GPT-3'], /--shape is GPT-3; expected some of S0, .*SmolLM2-135M/],
    [['--node', '--shape', 'GPT-2-124M'], /--shape is GPT-2-124M; expected some of S0, .*T3$/m],
    [['--clock', 'cpu'], /--clock is cpu; expected --threads 1/],
    [['--write', '--shape', 'GPT-2-124M'], /--write keeps none/],
    [['--python', 'python3'], /--python needs --node/],
  ])) {
    const { status, stderr } = await runNode('bench:peers', [RUN, ...args]);
    assert.equal(status, 2);
    assert.match(stderr, message);
    assert.match(stderr, /^usage: npm run bench:peers/m);
  }
});
