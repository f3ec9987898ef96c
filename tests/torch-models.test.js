// What PyTorch computed of tiny checkpoints of every architecture, and the description that readModelConfig makes of their
// configs: a float64 reference that knows nothing else computes the same.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { architectures } from '../web/headwise/models/architectures.js';
import { readModelConfig } from '../web/headwise/models/config.js';
import { namesOf } from '../web/headwise/models/names.js';
import { checkpoints, readConfig, readTensors } from './model-fixtures.js';
import { runModel } from './reference-models.js';
import { isTorchs, noticesErrors, readGroup } from './torch.js';

/** @typedef {import('../web/headwise/models/config.js').ModelConfig} ModelConfig */
/** @typedef {import('./torch.js').Case & { checkpoint: string, rows: number[][], tokenTypes?: number[][], greedy?: number[] }} ModelCase */

const group = readGroup('models');
const cases = /** @type {ModelCase[]} */ (group.cases);

/** @param {ModelCase} fixture @returns {Promise<[ModelConfig, import('./reference-models.js').State]>} */
async function open({ checkpoint }) {
  const config = readModelConfig(readConfig(checkpoint));
  const { canonical, isUnused } = namesOf(config);
  const state = new Map();
  for (const [key, tensor] of Object.entries(await readTensors(checkpoint))) {
    const name = canonical(key);
    assert.ok(!state.has(name), `${key} comes twice`);
    if (!isUnused(name)) state.set(name, tensor);
  }
  const used = new Set();
  const take = (/** @type {string} */ name) => {
    used.add(name);
    return state.get(name);
  };
  runModel(config, take, [1, 2]);
  assert.deepEqual(
    [...state.keys()].filter((name) => !used.has(name)),
    [],
    'unused',
  );
  return [config, take];
}

/** @param {Float64Array[]} rows */
const matrix = (rows) => ({
  shape: [rows.length, rows[0].length],
  data: Float64Array.from(rows.flatMap((row) => [...row])),
});

/** @param {Float64Array[][]} heads */
const stack = (heads) => ({
  shape: [heads.length, heads[0].length, heads[0][0].length],
  data: Float64Array.from(heads.flatMap((rows) => rows.flatMap((row) => [...row]))),
});

/**
 * Fails unless every result is torch's.
 * @param {ModelCase} fixture
 * @param {ModelConfig} config
 * @param {import('./reference-models.js').State} state
 */
function compare({ rows, tokenTypes, expect }, config, state) {
  let compared = 0;
  for (const [i, ids] of rows.entries()) {
    const { hidden, logits, weights } = runModel(config, state, ids, tokenTypes?.[i]);
    /** @type {[string, { shape: number[], data: Float64Array }][]} */
    const found = weights.map((heads, layer) => [`weights.${i}.${layer}`, stack(heads)]);
    if (!config.isDecoder) found.push([`hidden.${i}`, matrix(hidden)]);
    if (logits) found.push([`logits.${i}`, matrix(logits)]);
    for (const [name, result] of found) isTorchs(result, expect[name], group, name);
    compared += found.length;
  }
  assert.equal(compared, Object.keys(expect).length);
}

for (const fixture of cases)
  test(`${fixture.title}: what the config says gives PyTorch's numbers`, async () => {
    const [config, state] = await open(fixture);
    compare(fixture, config, state);
    if (fixture.greedy) {
      const ids = [...fixture.rows[0]];
      for (const id of fixture.greedy) {
        const last = /** @type {Float64Array[]} */ (runModel(config, state, ids).logits).at(-1);
        assert.equal(last?.indexOf(Math.max(...last)), id);
        ids.push(id);
      }
    }
  });

/** @param {number} factor @param {ModelConfig} config */
const rotated = (factor, { rotary }) =>
  rotary.map(({ frequencies, ...rest }) => ({
    ...rest,
    frequencies: frequencies.map((frequency) => frequency * factor),
  }));

/**
 * Of each part of the description a change, which must be noticed wherever it is one.
 * @type {[string, (config: ModelConfig) => Partial<ModelConfig>][]}
 */
const changes = [
  ['eps', ({ eps }) => ({ eps: 10 * eps + 1e-3 })],
  ['gainOffset', ({ gainOffset }) => ({ gainOffset: gainOffset === 0 ? 1 : 0 })],
  ['isParallel', ({ isParallel, isDecoder }) => (isDecoder ? { isParallel: !isParallel } : {})],
  ['activation', ({ activation }) => ({ activation: activation === 'silu' ? 'gelu' : 'silu' })],
  ['isGated', ({ isGated }) => (isGated ? { isGated: false } : {})],
  ['qkNorm', ({ qkNorm }) => (qkNorm ? { qkNorm: false } : {})],
  ['attentionScale', ({ attentionScale }) => ({ attentionScale: 1.05 * attentionScale })],
  ['attentionSoftcap', () => ({ attentionSoftcap: 2 })],
  ['logitSoftcap', ({ isDecoder }) => (isDecoder ? { logitSoftcap: 2 } : {})],
  ['embeddingScale', ({ embeddingScale }) => ({ embeddingScale: 2 * embeddingScale })],
  ['firstPosition', ({ positions }) => (positions > 0 ? { firstPosition: 1 } : {})],
  ['rotary', (config) => (config.rotary.length > 0 ? { rotary: rotated(1.05, config) } : {})],
  [
    'windows',
    ({ layers }) => ({ layers: layers.map((each) => ({ ...each, window: each.window ? 0 : 3 })) }),
  ],
  ['biases', ({ biases }) => (biases.qkv ? { biases: { ...biases, qkv: false } } : {})],
];

for (const [name, change] of changes)
  test(`a description with another ${name} gives other numbers`, async () => {
    let changed = 0;
    for (const fixture of cases) {
      const [config, state] = await open(fixture);
      const other = change(config);
      if (Object.keys(other).length === 0) continue;
      changed++;
      const wrong = () => compare(fixture, { ...config, ...other }, state);
      assert.throws(wrong, /differ/, fixture.checkpoint);
    }
    assert.ok(changed > 0);
  });

test('there are cases of every checkpoint and of every architecture', () => {
  assert.deepEqual(cases.map(({ checkpoint }) => checkpoint).sort(), checkpoints);
  const types = new Set(checkpoints.map((name) => readConfig(name).model_type));
  assert.deepEqual([...types].sort(), Object.keys(architectures).sort());
});

test('every fixture of models notices a number that is off by more than its tolerance', () => {
  for (const fixture of cases) noticesErrors(fixture, group);
});
