// Functions with random shapes, options and values, against the definitions in float64.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Tensor } from 'headwise';
import { allClose, engine } from '../helpers.js';
import * as reference from '../reference.js';
import { maskOf, maskPlan, numbers, size, tensorOf } from './arbitraries.js';
import { checkProperty } from './check.js';

const hw = await engine();

/** Float32 sums of n products of numbers up to `largest` may be off by about this. */
const tolerance = (/** @type {number} */ n, /** @type {number} */ largest) => ({
  rtol: 1e-5,
  atol: 2e-7 * Math.max(n, 8) * largest * largest,
});

checkProperty(
  'matmul broadcasts like the definition',
  fc.property(
    fc.record({
      lead: fc.array(size(3), { maxLength: 2 }),
      leftOnes: fc.array(fc.boolean(), { minLength: 2, maxLength: 2 }),
      rightOnes: fc.array(fc.boolean(), { minLength: 2, maxLength: 2 }),
      rightRank: fc.integer({ min: 0, max: 2 }),
      sizes: fc.tuple(size(40), size(70), size(40)),
      a: numbers({ finite: true }),
      b: numbers({ finite: true }),
    }),
    ({ lead, leftOnes, rightOnes, rightRank, sizes: [m, k, n], a, b }) => {
      const left = lead.map((d, i) => (leftOnes[i] ? 1 : d));
      const right = lead.map((d, i) => (rightOnes[i] ? 1 : d)).slice(-rightRank || lead.length);
      const [x, y] = [tensorOf([...left, m, k], a), tensorOf([...right, k, n], b)];
      allClose(hw.matmul(x, y), reference.matmul(x, y), tolerance(k, Math.sqrt(a.scale * b.scale)));
    },
  ),
);

checkProperty(
  'transpose twice is the same tensor, and once has every element in its place',
  fc.property(
    fc.array(size(20), { minLength: 2, maxLength: 4 }),
    numbers({ finite: false }),
    (shape, how) => {
      const x = tensorOf(shape, how);
      const y = hw.transpose(x);
      const [rows, columns] = shape.slice(-2);
      for (let i = 0; i < x.data.length; i++) {
        const matrix = Math.floor(i / (rows * columns));
        const [row, column] = [Math.floor(i / columns) % rows, i % columns];
        assert.equal(y.data[matrix * rows * columns + column * rows + row], x.data[i]);
      }
      assert.deepEqual(hw.transpose(y), x);
    },
  ),
);

checkProperty(
  'softmax is the definition, NaN and infinities included',
  fc.property(
    fc.array(size(40), { minLength: 1, maxLength: 3 }),
    numbers({ finite: false }),
    (shape, how) => {
      const x = tensorOf(shape, how);
      allClose(hw.softmax(x), reference.softmax(x), { rtol: 4e-6, atol: 1e-7 });
    },
  ),
);

const attention = fc.record({
  rank: fc.integer({ min: 2, max: 4 }),
  batch: size(3),
  keyHeads: size(3),
  group: fc.integer({ min: 1, max: 3 }),
  queries: size(70),
  keys: size(150),
  widths: fc.tuple(size(40), size(40)),
  pastTokens: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
  q: numbers({ finite: true }),
  k: numbers({ finite: true }),
  v: numbers({ finite: true }),
  isCausal: fc.boolean(),
  causalOffset: fc.option(fc.integer({ min: -20, max: 40 }), { nil: undefined }),
  scale: fc.option(fc.constantFrom(0, 1, -0.5, 0.01), { nil: undefined }),
  softcap: fc.option(fc.constantFrom(0, 0.5, 5, 50), { nil: undefined }),
  window: fc.option(fc.tuple(fc.integer({ min: -1, max: 30 }), fc.integer({ min: -1, max: 30 })), {
    nil: undefined,
  }),
  lengths: fc.option(fc.array(fc.nat(170), { minLength: 3, maxLength: 3 }), { nil: undefined }),
  mask: fc.option(maskPlan(), { nil: undefined }),
  needWeights: fc.constantFrom(undefined, false, true, 'scores', 'softcapped', 'masked'),
});

/** @param {object} object without what is undefined */
const given = (object) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

checkProperty(
  'scaledDotProductAttention with any options is the definition',
  fc.property(attention, (c) => {
    const lead = [c.batch, c.keyHeads * c.group].slice(4 - c.rank);
    const keyLead = [c.batch, c.keyHeads].slice(4 - c.rank);
    const [E, Ev] = c.widths;
    const q = tensorOf([...lead, c.queries, E], c.q);
    const k = tensorOf([...keyLead, c.keys, E], c.k);
    const v = tensorOf([...keyLead, c.keys, Ev], c.v);
    const keys = c.keys + (c.pastTokens ?? 0);
    const past = c.pastTokens !== undefined && {
      key: tensorOf([...keyLead, c.pastTokens, E], { ...c.k, seed: c.k.seed + 7 }),
      value: tensorOf([...keyLead, c.pastTokens, Ev], { ...c.v, seed: c.v.seed + 7 }),
    };
    const batch = c.rank === 4 ? c.batch : 1;
    const options = given({
      isCausal: c.isCausal,
      causalOffset: c.causalOffset,
      scale: c.scale,
      softcap: c.softcap,
      window: c.window,
      enableGqa: c.group > 1 ? true : undefined,
      kvLengths: c.lengths?.slice(0, batch).map((n) => n % (keys + 1)),
      mask: c.mask && maskOf(c.mask, [...lead, c.queries, keys]),
      past: past || undefined,
    });
    const expected = reference.scaledDotProductAttention(q, k, v, options);
    const { needWeights } = c;
    const result = hw.scaledDotProductAttention(q, k, v, given({ ...options, needWeights }));
    const near = { rtol: 2e-4, atol: 4e-5 * c.v.scale };
    allClose(result.output, expected.output, { ...near, what: 'output' });
    assert.equal(result.weights !== undefined, Boolean(needWeights));
    if (result.weights !== undefined) {
      const name = needWeights === true ? 'weights' : needWeights;
      const wanted = expected[/** @type {'scores'} */ (name)];
      allClose(result.weights, wanted, { rtol: 2e-4, atol: 4e-5, what: String(name) });
    }
    assert.equal(result.present !== undefined, past !== false);
    if (result.present !== undefined) {
      assert.deepEqual([...result.present.key.data], Array.from(expected.present.key.data));
      assert.deepEqual([...result.present.value.data], Array.from(expected.present.value.data));
    }
  }),
);

checkProperty(
  'what a masked key holds changes nothing',
  fc.property(
    fc.record({
      tokens: size(40),
      keys: size(80),
      width: size(20),
      x: numbers({ finite: true }),
      hidden: fc.nat(1000),
      poison: fc.constantFrom(NaN, Infinity, -Infinity, 3e38),
    }),
    ({ tokens, keys, width, x, hidden, poison }) => {
      const [q, k, v] = [tokens, keys, keys].map((n, i) =>
        tensorOf([n, width], { ...x, seed: x.seed + i }),
      );
      const at = hidden % keys;
      const mask = maskOf({ seed: 0, isBool: true, rank: 1, ones: [], short: 0, share: 1 }, [
        tokens,
        keys,
      ]);
      mask.data[at] = 0;
      const before = hw.scaledDotProductAttention(q, k, v, { mask, needWeights: true });
      k.data.fill(poison, at * width, (at + 1) * width);
      v.data.fill(poison, at * width, (at + 1) * width);
      const after = hw.scaledDotProductAttention(q, k, v, { mask, needWeights: true });
      assert.deepEqual(after, before);
    },
  ),
);

/** Scores in steps: each key's is the sum of the steps up to it, so that what came before weighs less and less. */
const staircase = fc.record({
  queries: fc.constantFrom(1, 2, 6, 7, 13),
  keys: fc.integer({ min: 2, max: 2600 }),
  // How many keys a step is for, counted from the last, and how high it is.
  steps: fc.array(
    fc.tuple(
      fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 2600 })),
      fc.constantFrom(0, 1, 20, 60, 86, 95, 200),
    ),
    { minLength: 1, maxLength: 3 },
  ),
  large: fc.constantFrom(1, 1e38, 2e38, 3.3e38),
  signs: fc.constantFrom(0, 1, 2),
  isCausal: fc.boolean(),
});

checkProperty(
  'values near the largest float give what their weights make of them, however later keys change the weights',
  fc.property(staircase, ({ queries, keys, steps, large, signs, isCausal }) => {
    const width = 3;
    const k = new Tensor(new Float32Array(keys), [keys, 1]);
    const v = new Tensor(new Float32Array(keys * width), [keys, width]);
    for (const [count, gap] of steps)
      for (let j = Math.max(keys - count, 0); j < keys; j++) k.data[j] += gap;
    const last = k.data[keys - 1];
    for (let i = 0; i < v.data.length; i++) {
      const isLarge = k.data[Math.floor(i / width)] < last || last === 0;
      const sign = signs === 0 || (i % (signs + width)) % 2 === 0 ? 1 : -1;
      v.data[i] = isLarge ? sign * large : 1;
    }
    const q = new Tensor(new Float32Array(queries).fill(1), [queries, 1]);
    const options = { isCausal, causalOffset: isCausal ? keys - queries : undefined, scale: 1 };
    const { output } = hw.scaledDotProductAttention(q, k, v, given(options));
    const expected = reference.scaledDotProductAttention(q, k, v, given(options)).output;
    const sizes = new Tensor(v.data.map(Math.abs), v.shape);
    const terms = reference.scaledDotProductAttention(q, k, sizes, given(options)).output;
    for (let i = 0; i < expected.data.length; i++) {
      // A weight is exact to some roundings of its score and of the sums, or to the smallest normal float.
      const roundings = 2 * last + 2 * keys + 24;
      const allowed = roundings * 2 ** -24 * terms.data[i] + keys * large * 2 ** -125;
      const error = Math.abs(output.data[i] - expected.data[i]);
      assert.ok(error <= allowed, `[${i}] is ${output.data[i]}, expected ${expected.data[i]}`);
    }
  }),
);
