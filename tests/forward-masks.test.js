// forward's mask, isCausal and keyPaddingMask, alone and together, against the float64 reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zeros } from 'headwise';
import { allClose, boolData, boolTensor, data, engine, throwsCode, tokens } from './helpers.js';
import * as reference from './reference.js';

const hw = await engine();

/** @typedef {import('headwise').Tensor} Tensor */
/** @typedef {{ mask?: import('headwise').AnyTensor, isCausal?: boolean, keyPaddingMask?: import('headwise').Tensor<'bool'> }} Masks */

const [batch, n, dIn, contextLength, numHeads] = [2, 21, 6, 32, 2];
const loose = { rtol: 1e-5, atol: 2e-6 };

/** Modules of one layer: whether they are causal by themselves, and what the reference knows about them. */
const modules = {
  CausalAttention: [new hw.CausalAttention({ dIn, dOut: 6, contextLength }), true, 1],
  SelfAttentionV2: [new hw.SelfAttentionV2({ dIn, dOut: 6 }), false, 1],
  MultiHeadAttention: [
    new hw.MultiHeadAttention({ dIn, dOut: 6, contextLength, numHeads }),
    true,
    numHeads,
  ],
  'MultiHeadAttention that is not causal': [
    new hw.MultiHeadAttention({ dIn, dOut: 6, contextLength, numHeads, isCausal: false }),
    false,
    numHeads,
  ],
};

const wrapper = new hw.MultiHeadAttentionWrapper({ dIn, dOut: 3, contextLength, numHeads });

/** Entry 0 is padded at the right, entry 1 at the left and in the middle. */
const padding = boolTensor(
  Array.from({ length: batch * n }, (_, i) =>
    i < n ? i >= n - 8 : i - n < 2 || i - n === 9 || i - n === 10,
  ),
  [batch, n],
);

/**
 * The mask that the reference adds: mask and padding written out for every score.
 * @param {Masks} masks
 * @param {number[]} full [batch, heads, Lq, Lkv]
 */
function added({ mask, keyPaddingMask }, full) {
  const keys = full[3];
  const perEntry = full[1] * full[2] * keys;
  const values = Float64Array.from({ length: full[0] * perEntry }, (_, i) => {
    if (keyPaddingMask?.data[Math.floor(i / perEntry) * keys + (i % keys)]) return -Infinity;
    if (mask === undefined) return 0;
    const at = reference.broadcastIndex(mask.shape, full, i);
    if (mask.dtype === 'float32') return at < 0 ? -Infinity : mask.data[at];
    return at >= 0 && mask.data[at] ? 0 : -Infinity;
  });
  return { shape: full, data: values, dtype: 'float32' };
}

/** @param {Masks} masks @param {boolean} own whether the module is causal by itself */
const isCausalOf = ({ mask, isCausal }, own) => isCausal ?? (own && mask === undefined);

const masks = [
  undefined,
  boolData(1, [n, n]),
  data(2, [n, n], 2),
  boolData(3, [batch, 1, n, n]),
  data(4, [1, 1, 1, n], 2),
  boolData(5, [1, 1, n, 1]),
  boolData(6, [n, n - 5]),
];

/** Every mask with and without padding, isCausal left out, on and off. */
const combinations = masks.flatMap((mask) =>
  [undefined, padding].flatMap((keyPaddingMask) =>
    [undefined, true, false].map((isCausal) => ({
      ...(mask && { mask }),
      ...(keyPaddingMask && { keyPaddingMask }),
      ...(isCausal !== undefined && { isCausal }),
    })),
  ),
);

/** @param {Masks} asked */
const shown = ({ mask, isCausal, keyPaddingMask }) =>
  `mask ${mask ? `${mask.dtype} [${mask.shape}]` : 'none'}, isCausal ${isCausal}, padding ${keyPaddingMask !== undefined}`;

/**
 * Output, weights and a trace of a module against the reference's.
 * @param {any} module
 * @param {(x: Tensor, options: any) => any} right
 * @param {{ own: boolean, heads: number }} what
 */
function checkAll(module, right, { own, heads }) {
  const x = data(7, [batch, n, dIn], 2);
  const full = [batch, heads, n, n];
  for (const asked of combinations) {
    const what = shown(asked);
    const actual = module.forward(x, { ...asked, needWeights: true, trace: true });
    const expected = right(x, { mask: added(asked, full), isCausal: isCausalOf(asked, own) });
    allClose(actual.output, expected.output, { ...loose, what });
    allClose(actual.weights, expected.weights, { ...loose, what: `${what}, weights` });
    const traced = actual.trace.weights({ batch: 1, head: heads - 1, rows: [0, n] });
    const last = expected.weights.data.slice(-n * n);
    allClose(traced, { shape: [n, n], data: last }, { ...loose, what: `${what}, trace` });
    actual.trace.dispose();
  }
}

for (const [name, [module, own, heads]] of /** @type {[string, [any, boolean, number]][]} */ (
  Object.entries(modules)
))
  test(`${name}: a key must pass mask, causality and padding, whichever apply`, () => {
    const state = module.stateDict();
    const right = (/** @type {Tensor} */ x, /** @type {any} */ options) =>
      reference.multiHeadAttention(x, state, { numHeads: heads, ...options });
    checkAll(module, right, { own, heads });
  });

test('the wrapper: a key must pass mask, causality and padding, whichever apply', () => {
  const state = wrapper.stateDict();
  const right = (/** @type {Tensor} */ x, /** @type {any} */ options) =>
    reference.wrapper(x, state, { numHeads, ...options });
  checkAll(wrapper, right, { own: true, heads: numHeads });
});

test('a mask of its own for every head goes with padding', () => {
  const { MultiHeadAttention: entry } = modules;
  const module = /** @type {any} */ (entry[0]);
  const x = data(8, [batch, n, dIn]);
  for (const mask of [boolData(1, [1, numHeads, n, n]), data(2, [batch, numHeads, n, n])]) {
    const asked = { mask, keyPaddingMask: padding, isCausal: true };
    const expected = reference.multiHeadAttention(x, module.stateDict(), {
      ...{ numHeads, isCausal: true },
      mask: added(asked, [batch, numHeads, n, n]),
    });
    allClose(module.forward(x, asked).output, expected.output, loose);
  }
});

test('what stands in padded tokens changes nothing that counts', () => {
  const module = new hw.MultiHeadAttention({ dIn, dOut: 6, contextLength, numHeads });
  const x = data(9, [1, n, dIn]);
  const keyPaddingMask = boolTensor(
    Array.from({ length: n }, (_, i) => i >= 13),
    [1, n],
  );
  const before = module.forward(x, { keyPaddingMask, isCausal: false }).output;
  x.data.fill(NaN, 13 * dIn);
  const after = module.forward(x, { keyPaddingMask, isCausal: false }).output;
  assert.deepEqual([...after.data.slice(0, 13 * 6)], [...before.data.slice(0, 13 * 6)]);
  const short = module.forward(hwSlice(x, 13), { isCausal: false }).output;
  allClose({ shape: [13, 6], data: before.data.slice(0, 13 * 6) }, short, loose);
});

/** @param {Tensor} x [1, n, dIn] @param {number} count @returns {Tensor} its first tokens, [count, dIn] */
function hwSlice(x, count) {
  const first = zeros([count, dIn]);
  first.data.set(x.data.subarray(0, count * dIn));
  return first;
}

test('a sequence without a batch takes padding without one', () => {
  const module = new hw.CausalAttention({ dIn, dOut: 6, contextLength });
  const x = data(10, [n, dIn]);
  const flat = [...padding.data].map((value) => value === 1);
  const keyPaddingMask = boolTensor(flat.slice(n), [n]);
  const expected = reference.multiHeadAttention(
    { shape: [1, n, dIn], data: x.data },
    module.stateDict(),
    { numHeads: 1, isCausal: true, mask: added({ keyPaddingMask }, [1, 1, n, n]) },
  );
  const { output } = module.forward(x, { keyPaddingMask });
  assert.deepEqual(output.shape, [n, 6]);
  allClose({ shape: [1, n, 6], data: output.data }, expected.output, loose);
  throwsCode(
    () => module.forward(x, { keyPaddingMask: padding }),
    'ERR_SHAPE',
    'keyPaddingMask',
    `[${batch}, ${n}]`,
    `[Lkv], [${n}]`,
  );
});

test('a query of which every key is padding gives zeros', () => {
  const module = new hw.CausalAttention({ dIn, dOut: 6, contextLength });
  const keyPaddingMask = boolTensor([true, true, false], [1, 3]);
  const { output, weights } = module.forward(data(11, [1, 3, dIn]), {
    keyPaddingMask,
    needWeights: true,
  });
  assert.deepEqual([...output.data.slice(0, 12)], new Array(12).fill(0));
  assert.deepEqual([...(weights?.data ?? [])], [0, 0, 0, 0, 0, 0, 0, 0, 1]);
});

test('with a cache, padding and masks count the keys that are in it', () => {
  const module = new hw.MultiHeadAttention({ dIn, dOut: 6, contextLength, numHeads });
  const x = data(12, [batch, n, dIn]);
  for (const mask of [undefined, boolData(7, [n, n]), data(8, [n, n])]) {
    const asked = { ...(mask && { mask }), keyPaddingMask: padding, isCausal: true };
    const whole = module.forward(x, asked);
    const cache = module.createCache({ batch });
    const parts = [
      [0, 9],
      [9, 20],
      [20, n],
    ].map(([start, end]) => {
      const part = { ...(mask && { mask: corner(mask, start, end) }), isCausal: true };
      const keyPaddingMask = corner(padding, 0, batch, end);
      return module.forward(tokens(x, start, end), { ...part, keyPaddingMask, cache }).output;
    });
    const rows = [0, 1].flatMap((b) =>
      parts.flatMap((part) => [
        ...part.data.slice((b * part.data.length) / 2, ((b + 1) * part.data.length) / 2),
      ]),
    );
    allClose({ shape: [batch, n, 6], data: rows }, whole.output, loose);
  }
});

/**
 * Rows [start, end) of a matrix and their first `columns`.
 * @template {import('headwise').DType} D
 * @param {import('headwise').Tensor<D>} x
 * @param {number} start
 * @param {number} end
 */
const corner = (x, start, end, columns = end) => x.slice([start, end], [0, columns]);

test('blocks and stacks hide later keys and padding when they are asked to', () => {
  const options = { dModel: dIn, numHeads, dFf: 8 };
  const x = data(13, [batch, n, dIn]);
  const causal = Array.from({ length: n * n }, (_, i) => i % n <= Math.floor(i / n));
  const visible = boolTensor(
    Array.from({ length: batch * n * n }, (_, i) => {
      const entry = Math.floor(i / (n * n));
      return causal[i % (n * n)] && padding.data[entry * n + (i % n)] === 0;
    }),
    [batch, 1, n, n],
  );
  for (const isCausal of [true, false])
    for (const module of [
      new hw.TransformerBlock({ ...options, isCausal }),
      new hw.TransformerStack({ ...options, isCausal, numLayers: 2 }),
    ]) {
      const expected = module.forward(x, { mask: visible }).output;
      const asked = { isCausal: true, keyPaddingMask: padding };
      assert.deepEqual([...module.forward(x, asked).output.data], [...expected.data]);
    }
});

test('a padding mask that is none is refused in words, and the module works on', () => {
  const module = new hw.MultiHeadAttention({ dIn, dOut: 6, contextLength, numHeads });
  const x = data(14, [batch, n, dIn]);
  const before = [...module.forward(x).output.data];
  const forward = (/** @type {any} */ asked) => () => module.forward(x, asked);
  throwsCode(forward({ keyPaddingMask: zeros([batch, n]) }), 'ERR_VALUE', 'keyPaddingMask', 'bool');
  throwsCode(forward({ keyPaddingMask: [[true]] }), 'ERR_VALUE', 'keyPaddingMask', 'Tensor');
  for (const shape of [[n], [batch, n - 1], [n, batch], [batch, 1, 1, n]])
    throwsCode(
      forward({ keyPaddingMask: boolData(1, shape) }),
      'ERR_SHAPE',
      'keyPaddingMask',
      `[${shape.join(', ')}]`,
      `[batch, Lkv], [${batch}, ${n}]`,
    );
  throwsCode(forward({ isCausal: 1 }), 'ERR_VALUE', 'isCausal', 'true or false');
  assert.deepEqual([...module.forward(x).output.data], before);
});
