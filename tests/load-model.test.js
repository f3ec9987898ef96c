// loadModel: tiny checkpoints of every architecture from a server as the hub is, in every type of weights, here and in a Worker.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, afterEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { load } from 'headwise/worker';
import { tensor } from 'headwise';
import { writeSafetensors } from 'headwise/formats';
import { loadModel } from 'headwise/models';
import { readModelConfig } from '../web/headwise/models/config.js';
import { commit, serveFiles } from './file-server.js';
import { allClose, engine, rejectsCode, throwsCode } from './helpers.js';
import { checkpoints, readConfig } from './model-fixtures.js';
import { isTorchs, make, readGroup } from './torch.js';

/** @typedef {import('./torch.js').Case & { checkpoint: string, rows: number[][], tokenTypes?: number[][], greedy?: number[] }} ModelCase */

const hw = await engine();
const far = await load();
const group = readGroup('models');
const isDecoder = (/** @type {string} */ name) => readModelConfig(readConfig(name)).isDecoder;
const cases = /** @type {ModelCase[]} */ (group.cases).filter(({ checkpoint }) =>
  isDecoder(checkpoint),
);

const folder = new URL('fixtures/models/', import.meta.url);
/** @param {string} name */
const filesOf = (name) => readdirSync(new URL(`${name}/`, folder));
/** @param {string} name @param {string} file */
const read = (name, file) => readFileSync(new URL(`${name}/${file}`, folder));

const server = await serveFiles(
  Object.fromEntries(
    checkpoints.flatMap((name) =>
      ['main', commit, 'v2'].flatMap((revision) =>
        filesOf(name).map((file) => [`/org/${name}/resolve/${revision}/${file}`, read(name, file)]),
      ),
    ),
  ),
);

after(() => {
  server.close();
  return far.dispose();
});
afterEach(() => {
  for (const path of Object.keys(server.behaviours)) delete server.behaviours[path];
  server.served.length = 0;
});

/** The hub's addresses lead to the server here. @type {typeof fetch} */
const hubFetch = (address, options) =>
  fetch(String(address).replace('https://huggingface.co', server.origin), options);

/** @param {import('headwise').Tensor} actual @param {{ data: ArrayLike<number> }} expected of the error, relative to the values */
function rmsError({ data }, expected) {
  const values = Array.from(expected.data);
  const square = (/** @type {number[]} */ list) => list.reduce((sum, x) => sum + x * x, 0);
  return Math.sqrt(square(values.map((x, i) => x - data[i])) / square(values));
}

/**
 * A file of tensors in types of their own; numbers are cut to 16 bits.
 * @param {Record<string, { dtype: 'F64' | 'F32' | 'F16' | 'BF16', of: { data: ArrayLike<number>, shape: readonly number[] } }>} tensors
 */
function fileOf(tensors) {
  /** @type {Record<string, object>} */
  const header = {};
  const parts = [];
  let end = 0;
  for (const [key, { dtype, of }] of Object.entries(tensors)) {
    const words = new Uint32Array(Float32Array.from(of.data).buffer);
    const halves = () => Uint16Array.from(words, (bits) => bits >>> 16);
    const { buffer } = {
      F64: () => Float64Array.from(of.data),
      F32: () => words,
      // Noughts: what they hold is not looked at.
      F16: () => new Uint16Array(of.data.length),
      BF16: halves,
    }[dtype]();
    const bytes = new Uint8Array(buffer);
    header[key] = { dtype, shape: of.shape, data_offsets: [end, end + bytes.length] };
    end += bytes.length;
    parts.push(bytes);
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  const length = new Uint8Array(new BigUint64Array([BigInt(json.length)]).buffer);
  return new Uint8Array(Buffer.concat([length, json, ...parts]));
}

/** The largest rms error of logits and hidden states against float64, relative to their rms. */
const bounds = { float32: 1e-5, float16: 2e-3, bfloat16: 2e-2, int8: 5e-2 };

for (const fixture of cases) {
  const { title, checkpoint, rows, expect } = fixture;
  for (const dtype of /** @type {(keyof typeof bounds)[]} */ (Object.keys(bounds)))
    test(`${title}, as ${dtype}: PyTorch's logits within the type's bound`, async () => {
      const model = await loadModel(hw, `org/${checkpoint}`, { dtype, fetch: hubFetch });
      assert.equal(model.training, false);
      for (const [row, ids] of rows.entries()) {
        const { logits } = model.forward(ids, { logits: 'all' });
        const expected = expect[`logits.${row}`];
        const error = rmsError(logits, make(expected, group));
        assert.ok(error <= bounds[dtype], `${error}`);
        if (dtype === 'float32') isTorchs(logits, expected, group, 'logits');
      }
      model.dispose();
    });
}

/** @param {string} name */
const weightsOf = (name) =>
  filesOf(name)
    .filter((file) => file.endsWith('.safetensors'))
    .map((file) => new Uint8Array(read(name, file)));

const plain = cases.find(({ checkpoint }) => checkpoint === 'mistral') ?? cases[0];
const [ids] = plain.rows;
const name = plain.checkpoint;
const expected = plain.expect['logits.0'];

test('a model comes from the hub, an address, parts, Files and a folder of this machine', async () => {
  const config = new File([read(name, 'config.json')], 'config.json');
  const place = `${server.origin}/org/${name}/resolve/v2/`;
  const sources = [
    ...[`org/${name}`, place, `${place}config.json`, new URL(place)],
    ...[`https://huggingface.co/org/${name}`, `https://huggingface.co/org/${name}/tree/v2/`],
    { config: readConfig(name), weights: weightsOf(name) },
    filesOf(name).map((file) => new File([read(name, file)], file)),
    [
      config,
      ...filesOf(name)
        .slice(1)
        .map((file) => new File([read(name, file)], file)),
    ],
    fileURLToPath(new URL(name, folder)),
  ];
  for (const source of sources) {
    const model = await loadModel(hw, source, { fetch: hubFetch });
    isTorchs(model.forward(ids, { logits: 'all' }).logits, expected, group, 'logits');
    model.dispose();
  }
  await loadModel(hw, `org/${name}`, { fetch: hubFetch, revision: 'v2' });
  assert.match(server.served.at(-1)?.path ?? '', /resolve/);
  assert.ok(server.served.some(({ path }) => path.includes('/v2/config.json')));
});

test('Files need no index, nor the usual name of the weights', async () => {
  for (const { checkpoint, rows, expect } of cases) {
    const given = filesOf(checkpoint).filter((file) => !file.endsWith('index.json'));
    const files = given.map(
      (file) => new File([read(checkpoint, file)], file.replace('model', 'weights')),
    );
    const model = await loadModel(hw, files.reverse());
    const { logits } = model.forward(rows[0], { logits: 'all' });
    isTorchs(logits, expect['logits.0'], group, checkpoint);
    model.dispose();
  }
  const config = new File([read(name, 'config.json')], 'config.json');
  await rejectsCode(loadModel(hw, [config]), 'ERR_LOAD', 'model.safetensors');
});

test('of the Files of a chosen folder those beside the outermost config.json count', async () => {
  const fileAt = (/** @type {string} */ path, /** @type {BlobPart} */ content) =>
    Object.defineProperty(new File([content], path.replace(/.*\//, '')), 'webkitRelativePath', {
      value: path,
    });
  const files = [
    ...filesOf(name).map((file) => fileAt(`chosen/${file}`, read(name, file))),
    fileAt('chosen/1_Pooling/config.json', '{"pooling_mode_mean_tokens": true}'),
    fileAt('chosen/adapter/model.safetensors', 'another'),
  ];
  for (const model of [await loadModel(hw, files), await loadModel(far, files.reverse())]) {
    const { logits } = await model.forward(ids, { logits: 'all' });
    isTorchs(logits, expected, group, 'logits');
    await model.dispose();
  }
});

test("'auto' keeps weights in the type that most of the file's matrices have", async () => {
  const config = readConfig('llama');
  const model = new hw.Decoder(config);
  const state = model.stateDict();
  const keys = Object.keys(state);
  /** What is kept of 1/3. */
  const third32 = Math.fround(1 / 3);
  const thirds = { F64: third32, F32: third32, F16: 0.333251953125, BF16: 0.333984375 };
  for (const [type, kept] of Object.entries(thirds)) {
    const dtype = /** @type {keyof typeof thirds} */ (type);
    const tensors = Object.fromEntries(
      keys.map((key, i) => {
        // One matrix, and all norms, are of another type.
        const isOther = state[key].shape.length === 1 || i === 0;
        const other = dtype === 'F32' ? 'BF16' : 'F32';
        return [key, { dtype: isOther ? other : dtype, of: state[key] }];
      }),
    );
    const loaded = await loadModel(hw, { config, weights: fileOf(tensors) });
    const third = state[keys[1]];
    const all = {
      ...loaded.stateDict(),
      [keys[1]]: tensor(
        third.data.map(() => 1 / 3),
        third.shape,
      ),
    };
    loaded.loadStateDict(all);
    assert.equal(loaded.stateDict()[keys[1]].data[0], kept, dtype);
    loaded.dispose();
  }
  model.dispose();
});

test('weights of float64 are each rounded to float32 first', async () => {
  const config = readConfig('llama');
  const model = new hw.Decoder(config);
  const state = model.stateDict();
  /** @param {'F64' | 'F32'} dtype @param {(value: number) => number} change */
  const weights = (dtype, change) =>
    fileOf(
      Object.fromEntries(
        Object.entries(state).map(([key, { data, shape }]) => [
          key,
          { dtype, of: { data: Array.from(data, change), shape } },
        ]),
      ),
    );
  const doubles = weights('F64', (value) => value * (1 + 2 ** -30));
  const floats = weights('F32', (value) => value);
  const loaded = await loadModel(hw, { config, weights: doubles });
  assert.deepEqual(loaded.stateDict(), state);
  loaded.dispose();
  for (const dtype of /** @type {const} */ (['bfloat16', 'float16', 'int8'])) {
    const [a, b] = await Promise.all(
      [doubles, floats].map((file) => loadModel(hw, { config, weights: file }, { dtype })),
    );
    assert.deepEqual(a.stateDict(), b.stateDict(), dtype);
    a.dispose();
    b.dispose();
  }
  model.dispose();
});

test('progress is told in bytes, to the end', async () => {
  /** @type {number[]} */
  const told = [];
  let all = 0;
  const onProgress = ({ loaded = 0, total = 0 }) => {
    told.push(loaded);
    all = total;
  };
  const model = await loadModel(hw, `org/${name}`, { fetch: hubFetch, onProgress });
  model.dispose();
  assert.equal(
    all,
    weightsOf(name).reduce((sum, { length }) => sum + length, 0),
  );
  assert.ok(told.length > 2 && told.every((loaded, i) => i === 0 || loaded >= told[i - 1]));
  assert.equal(told.at(-1), all);
});

/** @param {Parameters<typeof loadModel>[1]} source @param {object} [options] */
const loading = (source, options) => loadModel(hw, source, { fetch: hubFetch, ...options });

test('what cannot be loaded is said, and leaves nothing', async () => {
  const model = await loading(`org/${name}`);
  const { memoryBytes } = hw;
  await rejectsCode(loading('org/none'), 'ERR_LOAD', '404');
  const config = `/org/${name}/resolve/main/config.json`;
  server.behaviours[config] = { status: 401 };
  await rejectsCode(loading(`org/${name}`), 'ERR_LOAD', '401');
  server.behaviours[config] = { status: 403 };
  await rejectsCode(loading(`org/${name}`), 'ERR_LOAD', '403');
  const offline = async () => {
    throw new TypeError('fetch failed');
  };
  await rejectsCode(loading('org/other', { fetch: offline }), 'ERR_LOAD', 'org/other');
  const weights = weightsOf(name);
  const given = readConfig(name);
  const other = { ...given, hidden_act: 'swish7' };
  await rejectsCode(loading({ config: other, weights }), 'ERR_FORMAT', 'hidden_act');
  const experts = { ...given, num_local_experts: 8 };
  await rejectsCode(loading({ config: experts, weights }), 'ERR_FORMAT', 'num_local_experts');
  const longer = { ...given, num_hidden_layers: given.num_hidden_layers + 1 };
  await rejectsCode(loading({ config: longer, weights }), 'ERR_FORMAT', 'missing: model.layers.');
  const shorter = { ...given, num_hidden_layers: given.num_hidden_layers - 1 };
  await rejectsCode(
    loading({ config: shorter, weights }),
    'ERR_FORMAT',
    'unexpected: model.layers.',
  );
  await rejectsCode(loading({ config: given, weights: weights.slice(1) }), 'ERR_FORMAT', 'missing');
  assert.equal(hw.memoryBytes, memoryBytes);
  isTorchs(model.forward(ids, { logits: 'all' }).logits, expected, group, 'logits');
  model.dispose();
});

test('bad options are named', async () => {
  const any = /** @type {any} */ (loading);
  await rejectsCode(any(`org/${name}`, { dtype: 'int4' }), 'ERR_VALUE', 'dtype', 'int8');
  await rejectsCode(any(`org/${name}`, { revision: 5 }), 'ERR_VALUE', 'revision');
  await rejectsCode(any(`org/${name}`, { fetch: 'no' }), 'ERR_VALUE', 'fetch');
  await rejectsCode(any(`org/${name}`, { onProgress: 1 }), 'ERR_VALUE', 'onProgress');
  await rejectsCode(any(`org/${name}`, { cache: true }), 'ERR_VALUE', 'cache');
  await rejectsCode(any(5), 'ERR_VALUE', 'source');
  await rejectsCode(/** @type {any} */ (loadModel)({}, `org/${name}`), 'ERR_VALUE', 'hw');
});

test('for an engine that was disposed of nothing is fetched', async () => {
  const other = await engine();
  other.dispose();
  const unused = () => assert.fail('something was fetched');
  await rejectsCode(loadModel(other, `org/${name}`, { fetch: unused }), 'ERR_DISPOSED', 'engine');
});

test('an abort ends the loading, with its reason', async () => {
  const reason = new Error('another model');
  const controller = new AbortController();
  const onProgress = () => controller.abort(reason);
  const { signal } = controller;
  await assert.rejects(loading(`org/${name}`, { signal, onProgress }), (e) => e === reason);
  await assert.rejects(loading(`org/${name}`, { signal }), (e) => e === reason);
});

/** A model whose largest matrices take more than a piece, 4 MiB. */
function wideModel() {
  const sizes = { n_layer: 1, n_head: 10, n_embd: 640, n_positions: 8, vocab_size: 11 };
  const config = { model_type: 'gpt2', ...sizes };
  const model = new hw.Decoder(config);
  const state = model.stateDict();
  model.dispose();
  return { source: { config, weights: writeSafetensors(state) }, state };
}

test('matrices of int8 that must come whole do, however large a piece is', async () => {
  const { source, state } = wideModel();
  const model = await loadModel(hw, source, { dtype: 'int8' });
  const loaded = model.stateDict();
  for (const [key, { data, shape }] of Object.entries(state)) {
    const most = data.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
    const atol = shape.length === 2 ? most / 200 : 0;
    allClose(loaded[key], state[key], { rtol: 0, atol, what: key });
  }
  model.dispose();
});

test('an abort in the last word of progress rejects too, and the engine keeps nothing', async () => {
  const { source } = wideModel();
  const reason = new Error('another model');
  const attempt = async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const onProgress = ({ loaded = 0, total = 0 }) => loaded === total && controller.abort(reason);
    await assert.rejects(loadModel(hw, source, { signal, onProgress }), (e) => e === reason);
  };
  await attempt();
  const { memoryBytes } = hw;
  for (let i = 0; i < 5; i++) await attempt();
  assert.equal(hw.memoryBytes, memoryBytes);
});

test('a matrix of 8 or 16 bits takes no gradient, and says so; frozen, it computes with gradients on', async () => {
  for (const dtype of /** @type {const} */ (['int8', 'bfloat16'])) {
    const model = await loading(`org/${name}`, { dtype });
    const [matrix] = model.parameters();
    const grad = matrix.data;
    throwsCode(
      () => (matrix.grad = grad),
      'ERR_VALUE',
      `grad is a tensor; expected null, as ${matrix.name} is not kept as float32`,
    );
    matrix.grad = null;
    const calls = [
      () => model.forward(ids).logits?.data,
      () => model.loss(ids).data,
      () => model.forward(ids, { logits: 'none', needWeights: true }).weights?.[0].data,
    ];
    const remedy = `to record for ${dtype} weights; expected dtype 'float32', or a call within`;
    for (const call of calls.slice(0, 2))
      throwsCode(() => hw.enableGrad(call), 'ERR_VALUE', remedy);
    for (const each of model.parameters()) each.requiresGrad = false;
    for (const call of calls) assert.deepEqual(hw.enableGrad(call), call());
    model.dispose();
  }
});

// In a Worker

test('in a Worker the bits are the same, through a fetch of the page', async () => {
  for (const dtype of /** @type {const} */ (['auto', 'int8'])) {
    const here = await loading(`org/${name}`, { dtype });
    const there = await loadModel(far, `org/${name}`, { dtype, fetch: hubFetch });
    assert.deepEqual(there.config, here.config);
    const { logits } = await there.forward(ids, { logits: 'all' });
    assert.deepEqual(logits, here.forward(ids, { logits: 'all' }).logits);
    const options = { maxTokens: 5, seed: 3 };
    const list = [];
    for await (const id of there.generate(ids, options)) list.push(id);
    assert.deepEqual(list, [...here.generate(ids, options)]);
    here.dispose();
    await there.dispose();
  }
});

test('in a Worker Files are Files, with their names', async () => {
  const files = filesOf(name).map((file) => new File([read(name, file)], file));
  const model = await loadModel(far, files);
  isTorchs((await model.forward(ids, { logits: 'all' })).logits, expected, group, 'logits');
  const broken = new File([read(name, 'config.json'), '}'], 'config.json');
  await rejectsCode(loadModel(far, [broken]), 'ERR_FORMAT', 'config.json: cannot be parsed');
  await model.dispose();
});

test('in a Worker a signal ends loading and generation, and errors are the same', async () => {
  const reason = new Error('another model');
  const controller = new AbortController();
  const { signal } = controller;
  /** @type {typeof fetch} */
  const abortingFetch = (address, options) => {
    if (String(address).endsWith('.safetensors')) controller.abort(reason);
    return hubFetch(address, options);
  };
  const aborted = loadModel(far, `org/${name}`, { fetch: abortingFetch, signal });
  await assert.rejects(aborted, (error) => error === reason);
  await rejectsCode(loadModel(far, 'org/none', { fetch: hubFetch }), 'ERR_LOAD', '404');
  const offline = async () => {
    throw new TypeError('fetch failed');
  };
  await rejectsCode(loadModel(far, 'org/other', { fetch: offline }), 'ERR_LOAD', 'org/other');
  const bad = /** @type {any} */ ({ dtype: 'int4' });
  await rejectsCode(loadModel(far, `org/${name}`, bad), 'ERR_VALUE', 'dtype');
  const model = await loadModel(far, `org/${name}`, { fetch: hubFetch });
  const second = new AbortController();
  const loop = model.generate(ids, { signal: second.signal });
  await loop.next();
  second.abort(reason);
  await assert.rejects(loop.next(), (error) => error === reason);
  await model.dispose();
});
