// Files that are opened in the Explore room: what they are together, and which of them are a model's weights.
import assert from 'node:assert/strict';
import test from 'node:test';
import { sortFiles } from '../web/page/explore/open/sort-files.js';

/** @param {string[]} paths */
const found = (...paths) =>
  paths.map((path) => ({ path, file: new File([], path.slice(path.lastIndexOf('/') + 1)) }));

/** @param {RegExp} message */
const refused = (message) => (/** @type {Error} */ error) => message.test(error.message);

test('a folder with a config is a model, whatever else is in it', async () => {
  const files = found(
    'gpt2/README.md',
    'gpt2/onnx/config.json',
    'gpt2/config.json',
    'gpt2/model.safetensors',
    'gpt2/tokenizer.json',
    'gpt2/pytorch_model.bin',
    'gpt2/openvino/config.json',
    'gpt2/openvino/tokenizer.json',
  );
  const model = await sortFiles(files);
  assert.ok(!('tensors' in model));
  assert.equal(model.name, 'gpt2');
  assert.equal(model.config, files[2].file);
  assert.equal(model.weights, files[3].file);
  assert.equal(model.tokenizer, files[4].file);
});

test('a model of loose files needs no folder', async () => {
  const model = await sortFiles(found('tokenizer.json', 'tiny.safetensors', 'config.json'));
  assert.ok(!('tensors' in model));
  assert.equal(model.name, 'tiny.safetensors');
});

test('files that a browser numbered or a system wrote in capitals are a model', async () => {
  for (const names of [
    ['config (1).json', 'model (1).safetensors', 'tokenizer (2).json'],
    ['Config.json', 'Model.safetensors', 'Tokenizer.JSON'],
    ['config(1).json', 'model-00001-of-00001 (3).safetensors', 'tokenizer.json'],
  ]) {
    const files = found(...names);
    const model = await sortFiles(files);
    assert.ok(!('tensors' in model), names[0]);
    const { config, weights, tokenizer } = model;
    const opened = [config, [weights].flat()[0], tokenizer];
    assert.deepEqual(
      opened,
      files.map(({ file }) => file),
      names[0],
    );
  }
});

test('numbered and capitalized shards are a model', async () => {
  for (const names of [
    ['model-00001-of-00002 (1).safetensors', 'model-00002-of-00002(1).safetensors'],
    ['Model-1-of-2.safetensors', 'Model-2-of-2.SafeTensors'],
  ]) {
    const files = found('config.json', ...names);
    const model = await sortFiles(files);
    assert.ok(!('tensors' in model), names[0]);
    assert.deepEqual(
      model.weights,
      files.slice(1).map(({ file }) => file),
    );
  }
});

test('an adapter in a folder of its own leaves the model as it is', async () => {
  const model = await sortFiles(
    found('m/config.json', 'm/model.safetensors', 'm/lora/adapter_config.json'),
  );
  assert.ok(!('tensors' in model));
});

test('a model needs no tokenizer', async () => {
  const model = await sortFiles(
    found('tiny/config.json', 'tiny/model.safetensors', 'tiny/vocab.json'),
  );
  assert.ok(!('tensors' in model));
  assert.deepEqual([model.tokenizer, model.merges], [undefined, undefined]);
});

const INDEX = 'model.safetensors.index.json';

/** @param {string[]} shards that it lists @param {string} [content] */
const index = (
  shards,
  content = JSON.stringify({ weight_map: Object.fromEntries(shards.map((one, i) => [i, one])) }),
) => ({ path: `m/${INDEX}`, file: new File([content], INDEX) });

/** @param {number} count @returns {string[]} */
const shardsOf = (count) =>
  Array.from({ length: count }, (_, i) => `model-0000${i + 1}-of-0000${count}.safetensors`);

/** @param {string[]} names @param {ReturnType<typeof index>} [list] @returns {Promise<string[]>} names of the weights' files */
async function weightsAmong(names, list) {
  const files = found('m/config.json', ...names.map((name) => `m/${name}`));
  const model = await sortFiles(list ? [...files, list] : files);
  assert.ok(!('tensors' in model));
  return [model.weights].flat().map((file) => /** @type {File} */ (file).name);
}

test('of several files with weights those count that the index lists', async () => {
  const own = ['model-1.safetensors', 'model-2.safetensors'];
  assert.deepEqual(await weightsAmong([...own].reverse(), index(own)), own);
  const three = shardsOf(3);
  const others = ['consolidated.safetensors', 'adapter_model.safetensors', shardsOf(2)[0]];
  for (const other of others)
    assert.deepEqual(await weightsAmong([other, ...three], index(three)), three, other);
  await assert.rejects(
    weightsAmong(['consolidated.safetensors', three[1]], index(three)),
    refused(/^model-00001-of.*s and model-00003-of.*s are missing: the weights are in 3 files\.$/),
  );
  for (const [content, why] of /** @type {const} */ ([
    ['{', /index\.json: cannot be parsed/],
    ['null', /index\.json: weight_map is undefined; expected/],
    ['{"weight_map": {"a": "../b.safetensors"}}', /weight_map is an object with "\.\.\/b\.saf/],
  ]))
    await assert.rejects(weightsAmong(three, index([], content)), refused(why), content);
});

test('model.safetensors is the whole model, whatever weights lie beside it', async () => {
  const whole = ['model.safetensors'];
  for (const others of [['consolidated.safetensors'], shardsOf(2)])
    assert.deepEqual(await weightsAmong([...others, ...whole]), whole, others[0]);
  assert.deepEqual(await weightsAmong([...whole, ...shardsOf(2)], index(shardsOf(2))), whole);
});

test('a whole set of shards needs no index', async () => {
  const three = shardsOf(3);
  assert.deepEqual(await weightsAmong([...three].reverse()), three);
  const others = ['consolidated.safetensors', shardsOf(2)[0]];
  for (const other of others) assert.deepEqual(await weightsAmong([other, ...three]), three, other);
  await assert.rejects(
    weightsAmong([...three, ...shardsOf(2)]),
    refused(/5 \.safetensors files .* expected one/),
  );
});

test('of several models none is opened, and their folders are named', async () => {
  const models = (/** @type {string[]} */ ...folders) =>
    found(...folders.flatMap((one) => [`${one}/config.json`, `${one}/model.safetensors`]));
  await assert.rejects(
    sortFiles(models('gpt2', 'bert')),
    refused(/^There are 2 models: gpt2 and bert\. Open the folder of one of them\.$/),
  );
  await assert.rejects(
    sortFiles(models(...Array.from({ length: 18 }, (_, i) => `all/m${i}`))),
    refused(/18 models: all\/m0, all\/m1, all\/m2, all\/m3, all\/m4, and 13 more\./),
  );
  const model = await sortFiles(models('all/gpt2', 'all/gpt2/onnx'));
  assert.ok(!('tensors' in model));
  assert.equal(model.name, 'gpt2');
});

test('what a model lacks is named', async () => {
  const refusals = /** @type {[string[], RegExp][]} */ ([
    [['config.json', 'tokenizer.json'], /model\.safetensors is missing/],
    [['config.json', 'tokenizer.json', 'pytorch_model.bin'], /pytorch_model\.bin is a pickle/],
    [
      ['config.json', 'model.safetensors.index.json'],
      /index\.json says that the weights are in several files, which are missing/,
    ],
    [['config.json', 'a.safetensors', 'b.safetensors'], /2 \.safetensors files/],
    [
      ['config.json', 'model-00001-of-00002.safetensors'],
      /^model-00002-of-00002\.safetensors is missing: the weights are in 2 files\.$/,
    ],
    [
      ['config.json', 'model-2-of-9.safetensors', 'model-9-of-9.safetensors'],
      /^model-1-of-9\.safetensors, model-3-of-9.*, and 2 more are missing: .* in 9 files\.$/,
    ],
    [['config.json', 'a-1-of-99999999.safetensors', 'b.safetensors'], /2 \.safetensors files/],
    [['model.safetensors', 'tokenizer.json'], /config\.json is missing/],
    [['config.json', 'adapter_model.safetensors'], /no model\.safetensors, and adapter_model/],
    [['adapter_model.safetensors'], /adapter_model\.safetensors is of an adapter \(LoRA\)/],
    [
      ['m/config.json', 'm/model.safetensors', 'm/adapter_config.json'],
      /^m\/adapter_config\.json is of an adapter .* merge_and_unload\(\) and save that\.$/,
    ],
    [['config (1).json', 'config (2).json', 'model.safetensors'], /came with model\.safetensors/],
    [['photo.jpg'], /Nothing to open in photo\.jpg/],
    [['.DS_Store'], /no file in it/],
    [['attn.npy', 'photo.jpg'], /photo\.jpg came with attn\.npy/],
    [['attn.npy', 'a.txt', 'b.json'], /a\.txt, b\.json came with/],
  ]);
  for (const [paths, message] of refusals) {
    await assert.rejects(sortFiles(found(...paths)), refused(message), paths.join());
  }
});

test('tensors come with at most one file of labels', async () => {
  const files = found('q.npy', 'tokens.txt', 'k.npy', '.DS_Store', 'Thumbs.db');
  const tensors = await sortFiles(files);
  assert.ok('tensors' in tensors);
  assert.deepEqual(tensors.tensors, [files[0].file, files[2].file]);
  assert.equal(tensors.labels, files[1].file);
});
