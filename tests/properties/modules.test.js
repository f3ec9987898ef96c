// Modules and caches of random shapes and options, against the definitions in float64 and against each other.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { allClose, engine, tokens } from '../helpers.js';
import * as reference from '../reference.js';
import { maskOf, maskPlan, numbers, size, tensorOf } from './arbitraries.js';
import { checkProperty } from './check.js';

const hw = await engine();

const near = { rtol: 2e-4, atol: 4e-5 };

const module = fc.record({
  seed: fc.nat(1000),
  batch: size(3),
  length: size(90),
  dIn: size(30),
  headDim: size(20),
  numHeads: fc.integer({ min: 1, max: 4 }),
  qkvBias: fc.boolean(),
  outProj: fc.boolean(),
  isCausal: fc.boolean(),
  x: numbers({ finite: true }),
  mask: fc.option(maskPlan(), { nil: undefined }),
});

checkProperty(
  'Linear is x·Wᵀ + b',
  fc.property(
    size(70),
    size(70),
    fc.boolean(),
    fc.array(size(9), { maxLength: 3 }),
    numbers({ finite: true }),
    (inFeatures, outFeatures, bias, lead, how) => {
      const linear = new hw.Linear({ inFeatures, outFeatures, bias });
      const x = tensorOf([...lead, inFeatures], how);
      const state = linear.stateDict();
      const expected = reference.linear(x, /** @type {any} */ (state));
      allClose(linear.forward(x).output, expected, { rtol: 1e-5, atol: 1e-5 * how.scale });
      linear.dispose();
    },
  ),
);

/** @param {import('headwise').Tensor} x @param {number} heads @param {import('./arbitraries.js').MaskPlan | undefined} plan */
function maskFor(x, heads, plan) {
  if (plan === undefined) return undefined;
  const [batch, length] = x.shape;
  // Modules take masks of rank 2 and 4.
  return maskOf({ ...plan, rank: plan.rank > 2 ? 4 : 2 }, [batch, heads, length, length]);
}

checkProperty(
  'MultiHeadAttention is the definition, with weights and trace of the same numbers',
  fc.property(module, ({ seed, batch, length, headDim, x: how, mask: plan, ...rest }) => {
    hw.manualSeed(seed);
    const dOut = headDim * rest.numHeads;
    const mha = new hw.MultiHeadAttention({ ...rest, dOut, contextLength: length });
    const x = tensorOf([batch, length, rest.dIn], how);
    const mask = maskFor(x, rest.numHeads, plan);
    const options = {
      numHeads: rest.numHeads,
      isCausal: rest.isCausal && mask === undefined,
      mask,
    };
    const expected = reference.multiHeadAttention(x, mha.stateDict(), options);
    const asked = mask === undefined ? {} : { mask };
    const { output, weights, trace } = mha.forward(x, { ...asked, needWeights: true, trace: true });
    allClose(output, expected.output, { ...near, what: 'output' });
    assert.ok(weights && trace);
    allClose(weights, expected.weights, { ...near, what: 'weights' });
    const [b, head] = [seed % batch, seed % rest.numHeads];
    const at = (b * rest.numHeads + head) * length * length;
    const own = { shape: [length, length], data: weights.data.slice(at, at + length * length) };
    allClose(trace.weights({ batch: b, head }), own, { ...near, what: 'trace' });
    assert.deepEqual(mha.forward(x, asked).output, output);
    trace.dispose();
    mha.dispose();
  }),
);

checkProperty(
  'the wrapper and the module made from it give the same numbers',
  fc.property(module, ({ seed, batch, length, headDim, outProj: _, x: how, ...rest }) => {
    hw.manualSeed(seed);
    const { mask: plan, ...options } = rest;
    const wrapper = new hw.MultiHeadAttentionWrapper({
      ...options,
      dOut: headDim,
      contextLength: length,
    });
    const fused = hw.MultiHeadAttention.fromWrapper(wrapper);
    const x = tensorOf([batch, length, rest.dIn], how);
    const mask = maskFor(x, rest.numHeads, plan);
    const asked = { needWeights: true, ...(mask === undefined ? {} : { mask }) };
    const [one, other] = [wrapper.forward(x, asked), fused.forward(x, asked)];
    allClose(one.output, other.output, { ...near, what: 'output' });
    allClose(/** @type {any} */ (one.weights), /** @type {any} */ (other.weights), near);
    wrapper.dispose();
    fused.dispose();
  }),
);

checkProperty(
  'a cache that is filled in any pieces, truncated and filled again gives what one forward gives',
  fc.property(
    module,
    fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 6 }),
    fc.nat(90),
    ({ seed, batch, length, headDim, x: how, mask: _, ...rest }, pieces, kept) => {
      hw.manualSeed(seed);
      const dOut = headDim * rest.numHeads;
      const options = { ...rest, isCausal: true, dOut, contextLength: length };
      const mha = new hw.MultiHeadAttention(options);
      const x = tensorOf([batch, length, rest.dIn], how);
      const { output } = mha.forward(x);
      const cache = mha.createCache({ batch });
      const fill = () => {
        for (let i = 0; cache.length < length; i++) {
          const start = cache.length;
          const end = Math.min(length, start + pieces[i % pieces.length]);
          const part = mha.forward(tokens(x, start, end), { cache });
          assert.equal(cache.length, end);
          allClose(part.output, tokens(output, start, end), {
            ...near,
            what: `${start} to ${end}`,
          });
        }
      };
      fill();
      cache.truncate(kept % length);
      fill();
      cache.dispose();
      mha.dispose();
    },
  ),
);
