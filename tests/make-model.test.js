// Models of random weights: names and shapes as published files have them, values as they should be, files that are read.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { readSafetensors } from 'headwise/formats';
import { loadGpt2 } from 'headwise/gpt2';
import { namesOf } from '../web/headwise/models/names.js';
import { readModelConfig } from '../web/headwise/models/config.js';
import { parametersOf } from './bench/models/parameters.js';
import { shapes } from './bench/models/shapes.js';
import { writeModel } from './bench/models/write.js';
import { runNode } from './child.js';
import { engine } from './helpers.js';
import { checkpoints, readConfig, readTensors } from './model-fixtures.js';

const hw = await engine();
const folder = await mkdtemp(join(tmpdir(), 'headwise-make-'));
after(() => rm(folder, { recursive: true }));

const small = {
  ...{ model_type: 'gpt2', vocab_size: 300, n_positions: 40, n_embd: 64, n_layer: 2, n_head: 4 },
};

test('names and shapes are those of Hugging Face’s files', async () => {
  const known = /^(gpt2|llama|mistral|qwen|smollm)/;
  const names = checkpoints.filter((name) => known.test(name));
  assert.ok(names.length >= 8);
  for (const name of names) {
    const config = readModelConfig(readConfig(name));
    const { canonical, isUnused } = namesOf(config);
    const tensors = Object.entries(await readTensors(name));
    const expected = new Map(tensors.map(([key, { shape }]) => [canonical(key), shape]));
    for (const key of [...expected.keys()]) if (isUnused(key)) expected.delete(key);
    // GPT-2's output head of its own is not made.
    if (config.modelType === 'gpt2') expected.delete('lm_head.weight');
    const made = new Map(parametersOf(config).map(([key, shape]) => [canonical(key), shape]));
    assert.deepEqual([...made].sort(), [...expected].sort(), name);
  }
});

test('the published shapes have as many weights as their names say', () => {
  const counts = Object.entries(shapes).map(([name, config]) => {
    const all = parametersOf(readModelConfig(config));
    return [name, all.reduce((sum, [, shape]) => sum + shape.reduce((a, b) => a * b, 1), 0)];
  });
  assert.deepEqual(counts, [
    ['GPT-2-124M', 124_439_808],
    ['SmolLM2-135M', 134_515_008],
    ['Qwen3-0.6B', 596_049_920],
  ]);
});

for (const dtype of ['float32', 'float16', 'bfloat16'])
  test(`a model of ${dtype} is a file that loads, with normal weights, norms of 1 and biases of 0`, async () => {
    const own = join(folder, dtype);
    const { bytes, parameters } = await writeModel(own, small, { dtype });
    const file = await readFile(join(own, 'model.safetensors'));
    assert.equal(file.length, bytes);
    const { tensors } = await readSafetensors(new Uint8Array(file));
    for (const [name, { data }] of Object.entries(tensors)) {
      const values = Array.from(data);
      const isNormal = values.length > 1000;
      if (!isNormal) {
        assert.ok(
          values.every((value) => value === (name.endsWith('bias') ? 0 : 1)),
          name,
        );
        continue;
      }
      const mean = values.reduce((a, b) => a + b) / values.length;
      const deviation = Math.sqrt(
        values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / values.length,
      );
      assert.ok(Math.abs(mean) < 0.002 && Math.abs(deviation / 0.02 - 1) < 0.1, name);
      assert.ok(new Set(values.slice(0, 1000)).size > 300, name);
    }
    const weights = pathToFileURL(join(own, 'model.safetensors'));
    const model = await loadGpt2(hw, { config: pathToFileURL(join(own, 'config.json')), weights });
    assert.equal(model.parameterCount(), parameters);
    assert.equal([...model.generate([1, 2, 3], { maxTokens: 4 })].length, 4);
    model.dispose();
  });

test('a seed makes the same file again', async () => {
  const read = async (/** @type {number} */ seed) => {
    await writeModel(join(folder, 'seed'), small, { seed });
    return readFile(join(folder, 'seed', 'model.safetensors'));
  };
  const first = await read(1);
  assert.ok(first.equals(await read(1)));
  for (const seed of [0, 2, 3]) assert.ok(!first.equals(await read(seed)), `seed ${seed}`);
});

test('the command refuses what it does not know, and says what it knows', async () => {
  const path = fileURLToPath(new URL('bench/models/make.js', import.meta.url));
  for (const args of [
    [],
    ['GPT-9', folder],
    ['GPT-2-124M', folder, '--dtype', 'int8'],
    ['GPT-2-124M', folder, '--gguf', 'q8_0,q9'],
    ['GPT-2-124M', folder, '--seed', '1.5'],
    ['--what'],
  ]) {
    const { status, stderr } = await runNode('make:model', [path, ...args]);
    assert.equal(status, 2);
    assert.match(stderr, /usage: npm run make:model/);
  }
  const there = join(folder, 'nothing');
  const args = [path, 'GPT-2-124M', there, '--tokenizer', join(folder, 'none.json')];
  const { status, stderr } = await runNode('make:model', args);
  assert.equal(status, 2);
  assert.match(stderr, /^ENOENT: .*none\.json[^\n]*\n$/);
  assert.deepEqual(await readdir(there), []);
});
