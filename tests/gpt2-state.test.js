// Gpt2's state dict: Hugging Face's names, what is accepted and refused, and what is drawn.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor, zeros } from 'headwise';
import { Gpt2 } from 'headwise/gpt2';
import { drawIds, small, smallModel } from './gpt2.js';
import { engine, throwsCode } from './helpers.js';

const hw = await engine();
const model = smallModel(hw);

/** Hugging Face's names and shapes. */
const names = [
  ...['wte.weight 31,12', 'wpe.weight 20,12'],
  ...[0, 1].flatMap((i) =>
    [
      ...['ln_1.weight 12', 'ln_1.bias 12', 'attn.c_attn.weight 12,36', 'attn.c_attn.bias 36'],
      ...['attn.c_proj.weight 12,12', 'attn.c_proj.bias 12', 'ln_2.weight 12', 'ln_2.bias 12'],
      ...[
        'mlp.c_fc.weight 12,48',
        'mlp.c_fc.bias 48',
        'mlp.c_proj.weight 48,12',
        'mlp.c_proj.bias 12',
      ],
    ].map((name) => `h.${i}.${name}`),
  ),
  ...['ln_f.weight 12', 'ln_f.bias 12'],
];

test('the state dict has Hugging Face’s names and shapes, and comes back as it went in', () => {
  const state = model.stateDict();
  assert.deepEqual(
    Object.entries(state).map(([key, { shape }]) => `${key} ${shape}`),
    names,
  );
  const count = Object.values(state).reduce((sum, { data }) => sum + data.length, 0);
  assert.equal(model.parameterCount(), count);
  const other = new Gpt2(hw, small, false);
  assert.ok(
    Object.entries(other.stateDict()).every(([key, { data }]) =>
      data.every((x) => x === (/ln_\w\.weight/.test(key) ? 1 : 0)),
    ),
  );
  assert.equal(other.loadStateDict(state), other);
  assert.deepEqual(other.stateDict(), state);
  const ids = drawIds(18, 9);
  assert.deepEqual(other.forward(ids), model.forward(ids));
  other.dispose();
});

test('names with transformer., causal masks and the tied head are accepted', () => {
  const state = model.stateDict();
  const prefixed = Object.entries(state).map(([key, value]) => [`transformer.${key}`, value]);
  const other = new Gpt2(hw, small, false).loadStateDict({
    ...Object.fromEntries(prefixed),
    'lm_head.weight': state['wte.weight'],
    'transformer.h.0.attn.bias': zeros([1, 1, 20, 20]),
    'h.1.attn.masked_bias': tensor([-10000]),
  });
  assert.deepEqual(other.stateDict(), state);
  other.dispose();
});

test('a state dict that does not fit is refused, and nothing of it is there', () => {
  const state = model.stateDict();
  const other = new Gpt2(hw, small, false);
  const before = other.stateDict();
  const { 'ln_f.bias': _, ...without } = state;
  const load = (/** @type {any} */ dict) => () => other.loadStateDict(dict);
  throwsCode(load(without), 'ERR_VALUE', 'missing: ln_f.bias');
  throwsCode(
    load({ ...state, 'h.2.ln_1.bias': zeros([12]) }),
    'ERR_VALUE',
    'unexpected: h.2.ln_1.bias',
  );
  throwsCode(
    load({ ...state, 'h.0.attn.bias.x': zeros([1]) }),
    'ERR_VALUE',
    'unexpected: h.0.attn.bias.x',
  );
  throwsCode(
    load({ ...state, 'h.0.mlp.c_fc.weight': zeros([48, 12]) }),
    'ERR_SHAPE',
    'h.0.mlp.c_fc.weight has shape [48, 12]',
    '[12, 48]',
  );
  assert.deepEqual(other.stateDict(), before);
  other.dispose();
});

test('new weights are drawn as GPT-2’s, in the order of the state dict', () => {
  hw.manualSeed(5);
  const drawn = new Gpt2(hw, small);
  const next = hw.rand([1]).data[0];
  hw.manualSeed(5);
  for (const [key, { shape, data }] of Object.entries(drawn.stateDict())) {
    const isNorm = /ln_\w\.weight$/.test(key);
    const expected =
      shape.length === 2
        ? hw.randn(shape).data.map((value) => value * 0.02)
        : new Float32Array(shape[0]).fill(isNorm ? 1 : 0);
    assert.deepEqual(data, expected, key);
  }
  assert.equal(hw.rand([1]).data[0], next);
  drawn.dispose();
});
