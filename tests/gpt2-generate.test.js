// Generation: greedy, as long as it is asked for, with ends, signals and caches. How tokens are drawn, gpt2-sampling tests; what
// PyTorch’s greedy choice is, torch-gpt2.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gpt2 } from 'headwise/gpt2';
import { drawIds, small, smallModel } from './gpt2.js';
import { engine, throwsCode } from './helpers.js';
import { noValueYet, stepsOf } from '../web/headwise/worker/steps.js';

const hw = await engine();
const model = smallModel(hw);
const prompt = drawIds(1, 6);

/** @param {ArrayLike<number>} values */
const largest = (values) => Array.from(values).indexOf(Math.max(...Array.from(values)));

/** @param {number[]} ids */
const nextLogits = (ids) => model.forward(ids).logits?.data ?? new Float32Array(0);

test('by default twenty tokens are generated, or what the context holds, each the likeliest', () => {
  const long = smallModel(hw, { contextLength: 40 });
  assert.equal([...long.generate(prompt)].length, 20);
  long.dispose();
  const ids = [...prompt];
  for (const id of model.generate(prompt, { maxTokens: 9 })) {
    assert.equal(id, largest(nextLogits(ids)));
    ids.push(id);
  }
  assert.equal(ids.length, prompt.length + 9);
});

test('of equally likely tokens the first is chosen', () => {
  const flat = new Gpt2(hw, small, false);
  assert.deepEqual([...flat.generate(prompt, { maxTokens: 3 })], [0, 0, 0]);
  flat.dispose();
});

test('where the context is full generation ends: with a token for every position, and one more', () => {
  const all = [...model.generate(prompt, { maxTokens: 1000 })];
  assert.equal(all.length, small.contextLength - prompt.length + 1);
  const full = drawIds(2, small.contextLength);
  assert.deepEqual([...model.generate(full, { maxTokens: 5 })], [largest(nextLogits(full))]);
});

test('long ids are read 256 at a time, to the same tokens', () => {
  const long = smallModel(hw, { contextLength: 700 });
  const ids = drawIds(3, 600);
  const logits = long.forward(ids).logits?.data ?? [];
  /** @type {number[]} */
  const read = [];
  const { forward } = long;
  const counted = (/** @type {any} */ given, /** @type {any} */ options) => {
    read.push(given.length);
    return forward.call(long, given, options);
  };
  Object.assign(long, { forward: counted });
  const cache = long.createCache();
  const [first] = [...long.generate(ids, { maxTokens: 2, cache })];
  assert.equal(first, largest(logits));
  assert.deepEqual(read, [256, 256, 88, 1]);
  throwsCode(() => [...long.generate(ids, { cache })], 'ERR_VALUE', 'cache');
  assert.equal(cache.length, 601, 'what does not fit is not begun');
  long.dispose();
});

test('while long ids are read, a Worker can hear of an abort after each 256', () => {
  const long = smallModel(hw, { contextLength: 700 });
  const steps = [...(stepsOf(long.generate(drawIds(3, 600), { maxTokens: 2 })) ?? [])];
  assert.deepEqual(
    steps.map((value) => value === noValueYet),
    [true, true, false, false],
  );
  long.dispose();
});

test('maxTokens tokens come, and the last one is not computed on', () => {
  for (const maxTokens of [1, 2, 7]) {
    const cache = model.createCache();
    assert.equal([...model.generate(prompt, { maxTokens, cache })].length, maxTokens);
    assert.equal(cache.length, prompt.length + maxTokens - 1);
    cache.dispose();
  }
});

test('eosTokenId ends generation after itself', () => {
  const all = [...model.generate(prompt, { maxTokens: 12 })];
  const eosTokenId = all[4];
  const first = all.indexOf(eosTokenId);
  assert.deepEqual(
    [...model.generate(prompt, { maxTokens: 12, eosTokenId })],
    all.slice(0, first + 1),
  );
  const absent = Array.from({ length: small.vocabSize }, (_, id) => id).find(
    (id) => !all.includes(id),
  );
  assert.deepEqual([...model.generate(prompt, { maxTokens: 12, eosTokenId: absent })], all);
});

test('NaN among the weights ends a generation in words, greedy or drawn', () => {
  const broken = smallModel(hw);
  const state = broken.stateDict();
  state['wte.weight'].data[3 * small.dModel] = NaN;
  broken.loadStateDict(state);
  for (const temperature of [0, 1]) {
    const loop = broken.generate([1, 2], { temperature, seed: 1 });
    throwsCode(() => loop.next(), 'ERR_VALUE', 'logits[3] is NaN', 'expected numbers');
    assert.ok(loop.next().done);
  }
  broken.dispose();
  assert.equal([...model.generate(prompt, { maxTokens: 3 })].length, 3);
});

test('a generation while gradients are on gives what it gives without', () => {
  const options = { maxTokens: 4, temperature: 0.9, seed: 2, logProbabilities: true };
  const expected = [...model.generate(prompt, options)];
  assert.deepEqual(
    hw.enableGrad(() => [...model.generate(prompt, options)]),
    expected,
  );
  const cache = model.createCache();
  hw.enableGrad(() => [...model.generate(prompt, { maxTokens: 2, cache })]);
  assert.equal(cache.length, prompt.length + 1);
  cache.dispose();
});

test('a stop ends generation before itself, one or several', () => {
  const all = [...model.generate(prompt, { maxTokens: 12 })];
  const [third, fifth] = [all[2], all[4]];
  const until = (/** @type {number[]} */ ids) => {
    const end = all.findIndex((id) => ids.includes(id));
    return all.slice(0, end < 0 ? undefined : end);
  };
  const absent = Array.from({ length: small.vocabSize }, (_, id) => id).find(
    (id) => !all.includes(id),
  );
  for (const stop of [[third], [fifth], [third, fifth], [], [Number(absent)]]) {
    const cache = model.createCache();
    const found = [...model.generate(prompt, { maxTokens: 12, stop, cache })];
    assert.deepEqual(found, until(stop));
    const typed = Int32Array.from(stop);
    assert.deepEqual([...model.generate(prompt, { maxTokens: 12, stop: typed })], found);
    const computed = stop.some((id) => all.includes(id)) ? found.length : found.length - 1;
    assert.equal(cache.length, prompt.length + computed);
    cache.dispose();
  }
  assert.deepEqual([...model.generate(prompt, { maxTokens: 12, stop: fifth })], until([fifth]));
  assert.deepEqual([...model.generate(prompt, { stop: all[0] })], []);
});

test('a signal ends generation between tokens with its reason, and before the first', () => {
  const reason = new Error('enough');
  const isReason = (/** @type {unknown} */ error) => error === reason;
  const controller = new AbortController();
  const loop = model.generate(prompt, { maxTokens: 8, signal: controller.signal });
  loop.next();
  loop.next();
  controller.abort(reason);
  assert.throws(() => loop.next(), isReason);
  assert.ok(loop.next().done);
  const early = model.generate(prompt, { signal: AbortSignal.abort(reason) });
  assert.throws(() => early.next(), isReason);
});

test('the loop left early frees its own cache, and so does one that ends or fails', () => {
  const round = () => {
    for (const id of model.generate(prompt)) {
      assert.ok(id >= 0);
      break;
    }
    assert.equal([...model.generate(prompt, { maxTokens: 2 })].length, 2);
    throwsCode(() => [...model.generate([99])], 'ERR_VALUE', 'ids[0]');
    model.generate(prompt).return();
  };
  round();
  const bytes = hw.memoryBytes;
  for (let i = 0; i < 500; i++) round();
  assert.equal(hw.memoryBytes, bytes);
});

test('a cache of the caller’s is continued and kept', () => {
  const all = [...model.generate(prompt, { maxTokens: 12 })];
  const cache = model.createCache();
  const start = [...model.generate(prompt, { maxTokens: 5, cache })];
  assert.deepEqual(start, all.slice(0, 5));
  // All tokens but the last are in it.
  assert.equal(cache.length, prompt.length + 4);
  const rest = [...model.generate([start[4]], { maxTokens: 7, cache })];
  assert.deepEqual(rest, all.slice(5));
  cache.truncate(prompt.length);
  assert.deepEqual([...model.generate([start[0]], { maxTokens: 11, cache })], all.slice(1));
  for (const _ of model.generate([1], { cache })) break;
  assert.equal(cache.length, prompt.length + 11 + 1);
  cache.dispose();
});

test('a cache of the caller’s has the ids, though the first token is a stop', () => {
  const [first] = model.generate(prompt, { maxTokens: 1 });
  const cache = model.createCache();
  assert.deepEqual([...model.generate(prompt, { stop: first, cache })], []);
  assert.equal(cache.length, prompt.length);
  cache.dispose();
});

test('a head mask holds for every token', () => {
  const headMask = [
    [0, 1, 1],
    [1, 0, 0.5],
  ];
  const ids = [...prompt];
  const given = structuredClone(headMask);
  for (const id of model.generate(prompt, { maxTokens: 8, headMask: given })) {
    assert.equal(id, largest(model.forward(ids, { headMask }).logits?.data ?? []));
    given[0][0] = 2; // it was copied
    ids.push(id);
  }
  assert.notDeepEqual(ids.slice(6), [...model.generate(prompt, { maxTokens: 8 })]);
});

test('ids may be a typed array or a batch of one', () => {
  const expected = [...model.generate(prompt, { maxTokens: 4 })];
  assert.deepEqual([...model.generate(Uint16Array.from(prompt), { maxTokens: 4 })], expected);
  assert.deepEqual([...model.generate([prompt], { maxTokens: 4 })], expected);
});

test('null is the default of every option', () => {
  const names = [
    'maxTokens',
    'temperature',
    'topK',
    'topP',
    'seed',
    'eosTokenId',
    'stop',
    'signal',
  ];
  const others = ['logProbabilities', 'headMask', 'cache'];
  const options = Object.fromEntries([...names, ...others].map((name) => [name, null]));
  assert.deepEqual([...model.generate(prompt, options)], [...model.generate(prompt)]);
  const none = /** @type {any} */ ({ cache: null, headMask: null, lengths: null });
  assert.deepEqual(model.forward(prompt, none), model.forward(prompt));
});

test('when long ids are not read to their end, the caller’s cache is as it was', () => {
  const long = smallModel(hw, { contextLength: 700 });
  const { forward } = long;
  const cache = long.createCache();
  long.forward([1, 2, 3], { cache });
  const ends = new AbortController();
  for (const [signal, end] of /** @type {const} */ ([
    [undefined, () => assert.fail('a part')],
    [ends.signal, () => ends.abort(new Error('a part'))],
  ])) {
    let parts = 0;
    const failing = (/** @type {any} */ given, /** @type {any} */ options) => {
      if (++parts === 2) end();
      return forward.call(long, given, options);
    };
    Object.assign(long, { forward: failing });
    assert.throws(() => [...long.generate([drawIds(3, 600)], { cache, signal })], /a part/);
    assert.equal(cache.length, 3);
  }
  long.dispose();
});

test('two generations run side by side', () => {
  const others = drawIds(4, 3);
  const expected = [prompt, others].map((ids) => [...model.generate(ids, { maxTokens: 6 })]);
  const loops = [prompt, others].map((ids) => model.generate(ids, { maxTokens: 6 }));
  const found = /** @type {(number | void)[][]} */ ([[], []]);
  for (let i = 0; i < 6; i++) loops.forEach((loop, n) => found[n].push(loop.next().value));
  assert.deepEqual(found, expected);
  assert.ok(loops.every((loop) => loop.next().done));
});

test('options are checked at once, before anything is drawn or computed', () => {
  hw.manualSeed(2);
  const next = hw.rand([1]).data[0];
  hw.manualSeed(2);
  throwsCode(() => model.generate(prompt, { seed: 9, topK: -1 }), 'ERR_VALUE', 'topK is -1');
  throwsCode(() => model.generate(/** @type {any} */ ('x')), 'ERR_VALUE', 'ids');
  throwsCode(() => model.generate([[1], [2, 3]]), 'ERR_SHAPE', 'ids', 'generate continues');
  const ragged = { headMask: [[1, 1, 1], [1]] };
  throwsCode(() => model.generate(prompt, ragged), 'ERR_SHAPE', 'headMask[1]');
  assert.equal(hw.rand([1]).data[0], next);
});
