// npm run heads against GPT-2 and the scores' definitions in float64.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readSafetensors } from 'headwise/formats';
import { runNode } from './child.js';
import { gelu, layerNorm } from './reference-blocks.js';
import { linear, mergeHeads, scaledDotProductAttention, splitHeads } from './reference.js';

/** @typedef {import('./reference.js').Matrix} Matrix */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MODEL = 'tests/fixtures/gpt2/f32';
const IDS = [3, 14, 15, 9, 2, 6, 5, 3, 14, 8, 9, 7, 9, 3, 2, 3, 14, 15];

/** @type {string} */
let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headwise-heads-'));
  await writeFile(join(folder, 'ids.txt'), IDS.join(' '));
});

after(() => rm(folder, { recursive: true, force: true }));

/** @param {...string} args */
const run = (...args) =>
  runNode(`npm run heads -- ${args.join(' ')}`, ['tests/heads/run.js', ...args], { cwd: ROOT });

/** @param {...string} args @returns {Promise<string>} what it prints */
async function heads(...args) {
  const { status, stdout, stderr } = await run(...args);
  assert.equal(status, 0, stderr);
  return stdout;
}

/** Conv1D's weights are [in, out]. @param {Record<string, Matrix>} state @param {string} name */
function conv1d(state, name) {
  const { shape, data } = state[`${name}.weight`];
  const [rows, columns] = shape;
  const turned = Float64Array.from(
    { length: rows * columns },
    (_, i) => data[(i % rows) * columns + Math.floor(i / rows)],
  );
  return { weight: { shape: [columns, rows], data: turned }, bias: state[`${name}.bias`] };
}

/** @param {Matrix} a @param {Matrix} b @returns {Matrix} */
const add = (a, b) => ({
  shape: a.shape,
  data: Float64Array.from(a.data, (value, i) => value + b.data[i]),
});

/**
 * @param {Record<string, Matrix>} state
 * @param {any} config
 * @param {readonly number[]} ids
 * @returns {Matrix[]} of each layer the weights, [1, heads, tokens, tokens]
 */
function gpt2Weights(state, { n_embd: d, n_head: numHeads, n_layer: layers }, ids) {
  const { wte, wpe } = { wte: state['wte.weight'].data, wpe: state['wpe.weight'].data };
  const norm = (/** @type {Matrix} */ x, /** @type {string} */ name) =>
    layerNorm(x, { weight: state[`${name}.weight`], bias: state[`${name}.bias`], eps: 1e-5 });
  /** @type {Matrix} */
  let x = {
    shape: [1, ids.length, d],
    data: Float64Array.from(
      ids.flatMap((id, at) =>
        Array.from({ length: d }, (_, i) => wte[id * d + i] + wpe[at * d + i]),
      ),
    ),
  };
  return Array.from({ length: layers }, (_, layer) => {
    const part = (/** @type {string} */ name) => `h.${layer}.${name}`;
    const qkv = linear(norm(x, part('ln_1')), conv1d(state, part('attn.c_attn')));
    const [q, k, v] = [0, 1, 2].map((which) =>
      splitHeads(
        {
          shape: [1, ids.length, d],
          data: Float64Array.from(
            { length: ids.length * d },
            (__, i) => qkv.data[Math.floor(i / d) * 3 * d + which * d + (i % d)],
          ),
        },
        numHeads,
      ),
    );
    const { output, weights } = scaledDotProductAttention(q, k, v, { isCausal: true });
    x = add(x, linear(mergeHeads(output), conv1d(state, part('attn.c_proj'))));
    const inner = gelu(linear(norm(x, part('ln_2')), conv1d(state, part('mlp.c_fc'))), 'tanh');
    x = add(x, linear(inner, conv1d(state, part('mlp.c_proj'))));
    return weights;
  });
}

const mean = (/** @type {number[]} */ values) => values.reduce((a, b) => a + b, 0) / values.length;

/** @param {number[][]} rows @param {readonly number[]} ids the definitions, from the second query on */
function definitions(rows, ids) {
  const later = rows.map((row, query) => ({ row, query })).slice(1);
  const repeated = later.filter(({ query }) => ids.indexOf(ids[query]) < query);
  return {
    previous: mean(later.map(({ row, query }) => row[query - 1])),
    entropy: mean(
      later.map(({ row }) => -row.reduce((sum, w) => sum + (w > 0 ? w * Math.log2(w) : 0), 0)),
    ),
    first: mean(later.map(({ row }) => row[0])),
    distance: mean(
      later.map(({ row, query }) =>
        row.reduce((sum, w, key) => sum + w * Math.abs(query - key), 0),
      ),
    ),
    induction: mean(
      repeated.map(({ row, query }) =>
        row.reduce(
          (sum, w, key) => sum + (key > 0 && key < query && ids[key - 1] === ids[query] ? w : 0),
          0,
        ),
      ),
    ),
  };
}

/** @param {Matrix} weights @param {number} head @param {number} n @returns {number[][]} */
const rowsOf = ({ data }, head, n) =>
  Array.from({ length: n }, (_, query) =>
    Array.from({ length: n }, (__, key) => data[(head * n + query) * n + key]),
  );

test('every head of a checkpoint has the scores that float64 gives it', async () => {
  const config = JSON.parse(await readFile(join(ROOT, MODEL, 'config.json'), 'utf8'));
  const { tensors } = await readSafetensors(await readFile(join(ROOT, MODEL, 'model.safetensors')));
  const state = Object.fromEntries(
    Object.entries(tensors).map(([name, value]) => [name.replace('transformer.', ''), value]),
  );
  const stdout = await heads(MODEL, '--ids', join(folder, 'ids.txt'), '--seed', '5', '--json');
  const found = JSON.parse(stdout);
  assert.deepEqual(found.ids, IDS);
  assert.equal(found.heads.length, config.n_layer * config.n_head);
  assert.equal(found.repeated.length, 4);
  const ofText = gpt2Weights(state, config, IDS);
  const ofRepeated = found.repeated.map((/** @type {number[]} */ ids) =>
    gpt2Weights(state, config, ids),
  );
  for (const [i, score] of found.heads.entries()) {
    const layer = Math.floor(i / config.n_head);
    const head = i % config.n_head;
    assert.deepEqual([score.layer, score.head], [layer, head]);
    const { induction: _, ...right } = definitions(rowsOf(ofText[layer], head, IDS.length), IDS);
    const induction = mean(
      found.repeated.map(
        (/** @type {number[]} */ ids, /** @type {number} */ sequence) =>
          definitions(rowsOf(ofRepeated[sequence][layer], head, ids.length), ids).induction,
      ),
    );
    for (const [name, value] of Object.entries({ ...right, induction })) {
      assert.ok(
        Math.abs(score[name] - value) < 1e-5,
        `${i} ${name}: ${score[name]}, expected ${value}`,
      );
    }
  }
});

test('the random tokens are the seed’s, none twice, each repeated once', async () => {
  const ids = ['--ids', join(folder, 'ids.txt'), '--json'];
  const repeated = async (/** @type {string} */ seed) =>
    JSON.parse(await heads(MODEL, ...ids, '--seed', seed)).repeated;
  const [once, again, other] = [await repeated('1'), await repeated('1'), await repeated('2')];
  assert.deepEqual(once, again);
  assert.notDeepEqual(once, other);
  for (const sequence of once) {
    const half = sequence.length / 2;
    assert.equal(half, 20); // half of the context
    assert.deepEqual(sequence.slice(half), sequence.slice(0, half));
    assert.equal(new Set(sequence).size, half);
  }
});

test('the table has a line for each head', async () => {
  const stdout = await heads(MODEL, '--ids', join(folder, 'ids.txt'));
  const lines = stdout.trim().split('\n');
  assert.match(
    lines[0],
    /over 18 tokens; induction over 4 × 20 random tokens, each repeated once \(seed 1\)/,
  );
  assert.match(lines[2], /head +previous +induction +entropy +first +distance/);
  assert.equal(lines.length, 3 + 6);
  assert.match(lines[3], /^ *L0H0 +[\d.]+ % +[\d.]+ % +[\d.]+ bits +[\d.]+ % +[\d.]+ tokens$/);
});

test('what is wrong with the command or the folder is said in words', async () => {
  const refusals = /** @type {[string[], RegExp][]} */ ([
    [[], /expected one model folder\nusage/],
    [[MODEL, '--seed', 'x'], /--seed is x/],
    [[MODEL, '--text', 'a', '--ids', 'b'], /both given/],
    [[MODEL], /tokenizer\.json/],
    [['tests/fixtures/none'], /config\.json/],
    [[MODEL, '--ids', 'package.json'], /expected a file with two or more token ids/],
  ]);
  for (const [args, message] of refusals) {
    const { status, stderr } = await run(...args);
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /\n {4}at /);
    assert.equal(status, 2);
  }
});
