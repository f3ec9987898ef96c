// Outputs of heads that a caller replaces: zeros, another text's, with batches and caches.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { tensor, zeros } from 'headwise';
import { load } from 'headwise/worker';
import { loadGpt2 } from 'headwise/gpt2';
import { data, engine, throwsCode } from './helpers.js';
import { drawIds, readCheckpoint, smallModel } from './gpt2.js';

const hw = await engine();
after(() => hw.dispose());
const model = smallModel(hw);
const ids = drawIds(1, 9);
const [layers, heads, headDim] = [2, 3, 4];

/** @param {readonly number[]} some @param {any} [options] */
const logitsOf = (some, options) => model.forward(some, { logits: 'all', ...options }).logits;

/** @param {readonly number[]} some */
function outputsOf(some) {
  const { trace } = model.forward(some, { trace: true, logits: 'none' });
  const outputs = trace.map((each) =>
    Array.from({ length: heads }, (_, head) => each.output({ head })),
  );
  trace.forEach((each) => each.dispose());
  return outputs;
}

/** @param {any[][]} outputs @param {number} layer */
const ofLayer = (outputs, layer) => outputs[layer].map((output, head) => ({ layer, head, output }));

test("a head's own output changes no bit", () => {
  const plain = logitsOf(ids);
  const outputs = outputsOf(ids);
  for (let layer = 0; layer < layers; layer++)
    assert.deepEqual(logitsOf(ids, { replace: ofLayer(outputs, layer) }), plain);
});

test('zeros are what headMask mutes, and later layers see the difference', () => {
  for (let i = 0; i < layers * heads; i++) {
    const [layer, head] = [Math.floor(i / heads), i % heads];
    const headMask = Array.from({ length: layers }, (_row, l) =>
      Array.from({ length: heads }, (_cell, h) => Number(l !== layer || h !== head)),
    );
    const replace = [{ layer, head, output: zeros([9, headDim]) }];
    assert.deepEqual(logitsOf(ids, { replace }), logitsOf(ids, { headMask }));
  }
});

test("where another text begins alike, its heads' outputs give its logits", () => {
  const other = drawIds(2, 9);
  // The first token's own heads see it alone: whole layers of another run leave what the other embedding does not.
  other[0] = ids[0];
  const outputs = outputsOf(other);
  const patched = logitsOf(ids, { replace: [0, 1].flatMap((layer) => ofLayer(outputs, layer)) });
  const [first] = patched.toNested();
  assert.deepEqual(first, logitsOf(other).toNested()[0]);
  assert.notDeepEqual(patched, logitsOf(ids));
});

test('outputs count after headMask, the last of a head counts, nested arrays are as good', () => {
  const output = data(3, [9, headDim]);
  const expected = logitsOf(ids, { replace: [{ layer: 0, head: 1, output }] });
  const nested = output.toNested();
  const twice = [0, 1].map((i) => ({ layer: 0, head: 1, output: i ? nested : zeros([9, 4]) }));
  assert.deepEqual(logitsOf(ids, { replace: twice }), expected);
  const headMask = [
    [1, 0.5, 1],
    [1, 1, 1],
  ];
  const replace = [{ layer: 0, head: 1, output }];
  assert.deepEqual(logitsOf(ids, { replace, headMask }), expected);
  assert.deepEqual(logitsOf(ids, { replace: [] }), logitsOf(ids));
});

test('of a batch each text has its own output, or all have the same', () => {
  const texts = [ids, drawIds(4, 9)];
  const outputs = [data(5, [9, headDim]), data(6, [9, headDim])];
  const alone = texts.map((text, i) =>
    logitsOf(text, { replace: [{ layer: 1, head: 0, output: outputs[i] }] }).toNested(),
  );
  const both = tensor([...outputs.flatMap(({ data: own }) => [...own])], [2, 9, headDim]);
  const batch = (/** @type {any} */ output) =>
    model
      .forward(texts, { logits: 'all', replace: [{ layer: 1, head: 0, output }] })
      .logits.toNested();
  assert.deepEqual(batch(both), alone);
  assert.deepEqual(batch(outputs[0])[0], alone[0]);
});

test('with a cache it is the output of the new tokens', () => {
  const output = data(7, [9, headDim]);
  const of = (/** @type {number} */ start, /** @type {number} */ end) => ({
    replace: [{ layer: 0, head: 2, output: output.slice([start, end]) }],
  });
  const cache = model.createCache();
  model.forward(ids.slice(0, 5), { cache, ...of(0, 5) });
  const rest = model.forward(ids.slice(5), { cache, ...of(5, 9) }).logits.toNested();
  const whole = logitsOf(ids, of(0, 9)).toNested();
  rest[0].forEach((/** @type {number} */ logit, /** @type {number} */ i) =>
    assert.ok(Math.abs(logit - whole[8][i]) < 1e-5),
  );
  cache.dispose();
});

test("traces and weights of the layer are its own heads', with tape and without", () => {
  const replace = [{ layer: 0, head: 0, output: zeros([9, headDim]) }];
  const plain = model.forward(ids, { trace: true, needWeights: true });
  const given = model.forward(ids, { trace: true, needWeights: true, replace });
  assert.deepEqual(given.weights[0], plain.weights[0]);
  assert.notDeepEqual(given.weights[1], plain.weights[1]);
  assert.deepEqual(given.trace[0].output({ head: 0 }), plain.trace[0].output({ head: 0 }));
  [...plain.trace, ...given.trace].forEach((each) => each.dispose());
});

test('what does not fit is named', () => {
  const output = zeros([9, headDim]);
  const bad = (
    /** @type {any} */ replace,
    /** @type {any} */ code,
    /** @type {any[]} */ ...parts
  ) => throwsCode(() => logitsOf(ids, { replace }), code, ...parts);
  bad(3, 'ERR_VALUE', 'replace', '3');
  bad([3], 'ERR_VALUE', 'replace[0]');
  bad([{ layer: 2, head: 0, output }], 'ERR_VALUE', 'replace[0].layer', '2');
  bad([{ layer: 0, head: -1, output }], 'ERR_VALUE', 'replace[0].head', '-1');
  bad([{ layer: 0, output }], 'ERR_VALUE', 'replace[0].head', 'undefined');
  bad([{ layer: 0, head: 0 }], 'ERR_VALUE', 'replace[0].output');
  bad([{ layer: 0, head: 0, output: [[1], [2, 3]] }], 'ERR_SHAPE', 'replace[0].output[1]');
  bad([{ layer: 0, head: 0, output, of: 1 }], 'ERR_VALUE', 'of');
  const good = { layer: 0, head: 0, output };
  bad([good, { ...good, output: zeros([8, 4]) }], 'ERR_SHAPE', 'replace[1].output', '[9, 4]');
  bad([{ ...good, output: zeros([1, 9, 4]) }], 'ERR_SHAPE', 'replace[0].output');
});

test('where gradients are recorded, a forward that replaces, starts or tells residuals gives the same, without a graph', () => {
  const replace = [{ layer: 0, head: 0, output: zeros([9, headDim]) }];
  const [first] = model.forward(ids, { residuals: true }).residuals;
  const start = { layer: 0, residual: first };
  for (const options of [{ replace }, { start }, { residuals: true }]) {
    const [name] = Object.keys(options);
    const expected = model.forward(ids, { ...options, logits: 'all' });
    const recorded = hw.enableGrad(() => model.forward(ids, { ...options, logits: 'all' }));
    assert.deepEqual(recorded.logits.data, expected.logits.data, name);
    const loss = hw.enableGrad(() => hw.sum(recorded.residuals ?? recorded.logits));
    throwsCode(() => loss.backward(), 'ERR_VALUE', 'backward', `a forward with the option ${name}`);
  }
});

test('an empty list of replacements is none: gradients are recorded', () => {
  const gradientWith = (/** @type {any} */ options) => {
    hw.enableGrad(() => hw.sum(model.forward(ids, options).logits)).backward();
    const [parameter] = model.parameters();
    const gradient = parameter.grad?.data;
    model.parameters().forEach((one) => (one.grad = null));
    return gradient;
  };
  const expected = gradientWith({});
  assert.ok(expected?.some((value) => value !== 0));
  assert.deepEqual(gradientWith({ replace: [] }), expected);
});

test('a model in a Worker takes outputs from its traces', async () => {
  const there = await load();
  try {
    const remote = await loadGpt2(there, readCheckpoint('f32'));
    const text = [3, 1, 4, 1, 5];
    const { logits, trace } = await remote.forward(text, { trace: true });
    const output = await trace[0].output({ head: 1 });
    assert.deepEqual(output.shape, [5, 8]);
    assert.deepEqual((await trace[0].values({ head: 1 })).shape, [5, 8]);
    assert.deepEqual((await trace[0].norms({ head: 1 })).shape, [5, 5]);
    const same = await remote.forward(text, { replace: [{ layer: 0, head: 1, output }] });
    assert.deepEqual(same.logits, logits);
    const muted = [{ layer: 0, head: 1, output: zeros([5, 8]) }];
    assert.notDeepEqual((await remote.forward(text, { replace: muted })).logits, logits);
  } finally {
    there.dispose();
  }
});
