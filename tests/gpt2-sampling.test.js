// Gpt2.generate's choice of tokens: seeds, temperature, topK, topP and log-probabilities.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MersenneTwister } from '../web/headwise/models/mersenne-twister.js';
import { sample, sampledBytes } from '../web/headwise/models/sample.js';
import { drawIds, small, smallModel } from './gpt2.js';
import { data, engine, throwsCode } from './helpers.js';

const hw = await engine();
const model = smallModel(hw);
const prompt = drawIds(1, 6);

/** Softmax in double. @param {ArrayLike<number>} logits @param {number} temperature */
function softmax(logits, temperature) {
  const top = Math.max(...Array.from(logits));
  const raised = Array.from(logits, (x) => Math.exp((x - top) / temperature));
  const sum = raised.reduce((a, b) => a + b);
  return raised.map((x) => x / sum);
}

/** @param {number[]} ids */
const nextLogits = (ids) => model.forward(ids).logits?.data ?? new Float32Array(0);

/**
 * Has the engine choose.
 * @param {Float32Array} logits
 * @param {{ temperature: number, topK: number, topP?: number }} sampling
 * @param {number} uniform
 */
function draw(logits, sampling, uniform) {
  const size = logits.length;
  const operand = { data: logits, size, shape: [size], dtype: /** @type {const} */ ('float32') };
  const [at, out] = model.engine.lay([operand, sampledBytes]);
  return sample(model.engine, { topP: 1, ...sampling }, uniform, at, size, out).id;
}

test('a seed repeats what was drawn; without one every generation is another', () => {
  const options = { maxTokens: 14, temperature: 1.5 };
  const first = [...model.generate(prompt, { ...options, seed: 11 })];
  const others = [...model.generate(prompt, options)];
  assert.deepEqual([...model.generate(prompt, { ...options, seed: 11 })], first);
  assert.deepEqual([...model.generate(prompt, { ...options, seed: 11n })], first);
  // As torch, of whose seeds 32 bits count.
  assert.deepEqual([...model.generate(prompt, { ...options, seed: 11n - 2n ** 32n })], first);
  assert.notDeepEqual(others, first);
  assert.notDeepEqual([...model.generate(prompt, options)], others);
  assert.notDeepEqual([...model.generate(prompt, { ...options, seed: 12 })], first);
  hw.manualSeed(5);
  const fifth = [...model.generate(prompt, options)];
  hw.manualSeed(5);
  assert.deepEqual([...model.generate(prompt, options)], fifth);
});

test('a seed’s numbers are those of rand after manualSeed', () => {
  const seeded = { maxTokens: 14, temperature: 1.5, topK: small.vocabSize };
  for (const seed of [0, 11, -3, 2 ** 40 + 7, 2n ** 64n - 1n]) {
    hw.manualSeed(seed);
    const ids = [...prompt];
    for (const uniform of hw.rand([14]).data)
      ids.push(draw(Float32Array.from(nextLogits(ids)), seeded, uniform));
    assert.deepEqual([...model.generate(prompt, { ...seeded, seed })], ids.slice(prompt.length));
  }
});

test('the own generator gives what torch’s gives, beyond its first 624 words', () => {
  for (const seed of [0, 123, 2 ** 32 - 1]) {
    hw.manualSeed(seed);
    const own = new MersenneTwister(seed);
    const drawn = Float32Array.from({ length: 2000 }, () => own.uniform());
    assert.deepEqual(drawn, hw.rand([2000]).data);
  }
});

test('generations with seeds run side by side without disturbing each other or the engine', () => {
  const how = [
    { temperature: 1.5, maxTokens: 8, seed: 1 },
    { temperature: 1, maxTokens: 8, seed: 2 },
    { temperature: 1.5, maxTokens: 8, seed: 1 },
  ];
  const expected = how.map((options) => [...model.generate(prompt, options)]);
  hw.manualSeed(7);
  const numbers = [...hw.rand([8]).data];
  hw.manualSeed(7);
  const loops = how.map((options) => model.generate(prompt, options));
  const found = /** @type {(number | void)[][]} */ (how.map(() => []));
  const between = [];
  for (let i = 0; i < 8; i++) {
    loops.forEach((loop, n) => found[n].push(loop.next().value));
    between.push(hw.rand([1]).data[0]);
  }
  assert.deepEqual(found, expected);
  assert.deepEqual(between, numbers);
});

test('without a seed, nothing that is drawn later disturbs a generation that began', () => {
  const options = { temperature: 1.5, maxTokens: 8 };
  hw.manualSeed(3);
  const expected = [...model.generate(prompt, options)];
  hw.manualSeed(3);
  const loop = model.generate(prompt, options);
  const found = [loop.next().value];
  hw.manualSeed(99);
  hw.rand([5]);
  assert.deepEqual([...found, ...loop], expected);
});

test('a drawn generation without a seed takes two numbers of rand, the others none', () => {
  hw.manualSeed(3);
  const numbers = hw.rand([3]).data;
  for (const [options, taken] of /** @type {const} */ ([
    [{ temperature: 1 }, 2],
    [{ temperature: 1, seed: 8 }, 0],
    [{}, 0],
  ])) {
    hw.manualSeed(3);
    assert.equal([...model.generate(prompt, { maxTokens: 7, ...options })].length, 7);
    assert.equal(hw.rand([1]).data[0], numbers[taken]);
  }
  hw.manualSeed(3);
  throwsCode(() => [...model.generate([99], { temperature: 1 })], 'ERR_VALUE', 'ids[0]');
  assert.equal(hw.rand([1]).data[0], numbers[0]);
});

test('topK 1 is the likeliest at any temperature, and a temperature near 0 is greedy', () => {
  const greedy = [...model.generate(prompt, { maxTokens: 10 })];
  for (const options of [
    { topK: 1, temperature: 100 },
    { temperature: 1e-6 },
    { temperature: 5e-324 },
  ])
    assert.deepEqual([...model.generate(prompt, { maxTokens: 10, ...options })], greedy);
});

for (const [temperature, topK] of [
  [1, small.vocabSize],
  [0.5, 7],
  [2, 12],
  [0.8, 1000],
])
  test(`at temperature ${temperature} and topK ${topK} tokens are drawn as often as the softmax says, no others`, () => {
    const logits = nextLogits(prompt);
    const sorted = [...logits].sort((a, b) => b - a);
    const threshold = sorted[Math.min(topK, sorted.length) - 1];
    const allowed = Array.from(logits, (x) => (x >= threshold ? x : -Infinity));
    const expected = softmax(allowed, temperature);
    const counts = new Array(small.vocabSize).fill(0);
    const draws = 4000;
    hw.manualSeed(9);
    for (let i = 0; i < draws; i++) {
      const [id] = model.generate(prompt, { maxTokens: 1, temperature, topK });
      counts[id]++;
    }
    let chiSquare = 0;
    let bins = 0;
    let [rareExpected, rareCount] = [0, 0];
    for (const [id, probability] of expected.entries()) {
      if (probability === 0) assert.equal(counts[id], 0, `token ${id} is not among the topK`);
      if (probability * draws >= 5) {
        chiSquare += (counts[id] - probability * draws) ** 2 / (probability * draws);
        bins++;
      } else {
        rareExpected += probability * draws;
        rareCount += counts[id];
      }
    }
    assert.ok(bins >= 3, 'most tokens are too rare to be counted');
    assert.ok(rareCount <= 3 * rareExpected + 15);
    // Mean bins, variance 2·bins: beyond eight deviations the frequencies are others.
    assert.ok(chiSquare < bins + 8 * Math.sqrt(2 * bins), `chi-square ${chiSquare} of ${bins}`);
  });

test('a drawn token is where the running sum of probabilities passes the number', () => {
  const logits = Float32Array.from([0, Math.log(2), -Infinity, Math.log(5)]);
  const options = { temperature: 1, topK: 4 };
  for (const [uniform, id] of [
    ...[
      [0, 0],
      [0.12, 0],
      [0.13, 1],
      [0.37, 1],
    ],
    ...[
      [0.38, 3],
      [0.99, 3],
      [1 - 2 ** -24, 3],
    ],
  ])
    assert.equal(draw(logits, options, uniform), id, `${uniform}`);
  assert.equal(draw(logits, { ...options, topK: 2 }, 0), 1);
  // As likely as the last of the topK is as good.
  assert.equal(draw(Float32Array.from([1, 1, 1]), { temperature: 1, topK: 1 }, 0.9), 2);
  const wide = Float32Array.from(data(3, [50257], 4).data);
  const id = draw(wide, { temperature: 1, topK: 50257 }, 1 - 2 ** -24);
  assert.ok(id >= 0 && id < 50257);
});

test('whatever topK is, the topK largest logits can be drawn and no others', () => {
  const logits = Float32Array.from(data(5, [1500], 4).data);
  const sorted = [...logits].sort((a, b) => b - a);
  for (const topK of [1, 2, 3, 40, 999, 1000, 1001, 1499]) {
    // So hot that all are as likely.
    const drawn = Array.from({ length: topK }, (_, i) =>
      draw(logits, { temperature: 1e9, topK }, (i + 0.5) / topK),
    );
    const values = Array.from(new Set(drawn), (id) => logits[id]).sort((a, b) => b - a);
    assert.deepEqual(values, sorted.slice(0, topK), `topK ${topK}`);
  }
});

/** The fewest likeliest that have topP together, of equal ones the first. @param {number[]} probabilities @param {number} topP */
function nucleus(probabilities, topP) {
  const ids = [...probabilities.keys()].sort((a, b) => probabilities[b] - probabilities[a]);
  let sum = 0;
  const last = ids.findIndex((id) => (sum += probabilities[id]) >= topP - 1e-12);
  const kept = last < 0 ? ids : ids.slice(0, last + 1);
  return probabilities.map((probability, id) => (kept.includes(id) ? probability : 0));
}

for (const [temperature, topK, topP] of [
  [1, 31, 0.9],
  [2, 31, 0.35],
  [1.5, 12, 0.8],
  [1, 31, 1e-9],
  [0.7, 5, 0.9999],
])
  test(`at temperature ${temperature}, topK ${topK} and topP ${topP} the nucleus alone is drawn, as often as the softmax says`, () => {
    const logits = Float32Array.from(nextLogits(prompt));
    const sorted = [...logits].sort((a, b) => b - a);
    const among = Array.from(logits, (x) => (x >= sorted[topK - 1] ? x : -Infinity));
    const kept = nucleus(softmax(among, temperature), topP);
    const whole = kept.reduce((a, b) => a + b);
    const draws = 2000;
    const counts = new Array(logits.length).fill(0);
    for (let i = 0; i < draws; i++)
      counts[draw(logits, { temperature, topK, topP }, (i + 0.5) / draws)]++;
    // Evenly spaced numbers: each token gets its share, but for one draw at either end.
    for (const [id, probability] of kept.entries())
      assert.ok(Math.abs(counts[id] - (draws * probability) / whole) <= 1.01, `token ${id}`);
    assert.ok(kept.some((probability) => probability > 0));
  });

test('topP of 1 is all, and a tiny one the likeliest alone', () => {
  const options = { temperature: 1.5, maxTokens: 10, seed: 4 };
  const all = [...model.generate(prompt, options)];
  assert.deepEqual([...model.generate(prompt, { ...options, topP: 1 })], all);
  assert.deepEqual(
    [...model.generate(prompt, { ...options, topP: 1e-6 })],
    [...model.generate(prompt, { maxTokens: 10 })],
  );
});

test('of equally likely tokens at the nucleus’ edge no more are in it than topP takes, the first', () => {
  for (const [logits, topP, ids] of /** @type {[number[], number, number[]][]} */ ([
    [Array(8).fill(0), 0.25, [0, 1]],
    [Array(8).fill(0), 0.26, [0, 1, 2]],
    [Array(8).fill(0), 0.1, [0]],
    // The third has 0.71 of the probability, the others 0.10 each.
    [[0, 0, 2, 0], 0.8, [0, 2]],
    [[0, 0, 2, 0], 0.7, [2]],
    [[-Infinity, 1, 1, 0], 0.99, [1, 2, 3]],
  ])) {
    const options = { temperature: 1, topK: logits.length, topP };
    const drawn = Array.from({ length: 100 }, (_, i) =>
      draw(Float32Array.from(logits), options, (i + 0.5) / 100),
    );
    assert.deepEqual([...new Set(drawn)], ids, `topP ${topP} of ${logits}`);
  }
});

test('log-probabilities are those of all logits’ softmax, however a token was chosen', () => {
  const how = [{}, { temperature: 1.7, topK: 6, topP: 0.8, seed: 3 }];
  for (const options of how) {
    const ids = [...prompt];
    const plain = [...model.generate(prompt, { ...options, maxTokens: 9 })];
    const given = [...model.generate(prompt, { ...options, maxTokens: 9, logProbabilities: true })];
    assert.deepEqual(
      given.map(({ id }) => id),
      plain,
    );
    for (const { id, logProbability } of given) {
      const expected = Math.log(softmax(nextLogits(ids), 1)[id]);
      assert.ok(Math.abs(logProbability - expected) < 1e-5, `${logProbability}, not ${expected}`);
      ids.push(id);
    }
  }
});

test('topK of 0 is all, topP of 0 the likeliest alone, and endless maxTokens end with the context', () => {
  const how = { maxTokens: 14, temperature: 1.5, seed: 3 };
  const all = [...model.generate(prompt, how)];
  assert.deepEqual([...model.generate(prompt, { ...how, topK: 0 })], all);
  const likeliest = [...model.generate(prompt, { maxTokens: Infinity })];
  assert.equal(likeliest.length, small.contextLength - prompt.length + 1);
  assert.deepEqual([...model.generate(prompt, { ...how, topP: 0 })], likeliest.slice(0, 14));
});

test('numbers that take no memory may be as large as integers are', () => {
  const how = { temperature: 1.5, seed: 3 };
  const all = [...model.generate(prompt, { ...how, maxTokens: Infinity })];
  for (const count of [2 ** 32, 1e12, Number.MAX_SAFE_INTEGER]) {
    const given = [...model.generate(prompt, { ...how, maxTokens: count, topK: count })];
    assert.deepEqual(given, all, `${count}`);
  }
  for (const name of ['maxTokens', 'topK'])
    throwsCode(() => model.generate(prompt, { [name]: 2 ** 53 }), 'ERR_VALUE', name);
});
