// Random tensors, masks and options for the property tests. What is drawn is small (sizes, seeds), so that it shrinks to
// something that can be read; the numbers follow from it.
import fc from 'fast-check';
import { Tensor } from 'headwise';
import { boolData, data } from '../helpers.js';

/** Sizes around the tiles' edges more often than others. @param {number} most */
export const size = (most) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 1, max: Math.min(most, 9) }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: most }) },
  );

/** Numbers a test sees seldom: signs of zero, subnormals, large and small ones, infinities and NaN. */
const rare = [0, -0, 1e-45, -1e-38, 1e-30, 3e4, -3e4, 1e30, -3e38, Infinity, -Infinity, NaN];

/**
 * How a tensor's numbers are made: from a seed, in [-scale, scale), a few of them replaced.
 * @typedef {{ seed: number, scale: number, replaced: readonly (readonly [at: number, value: number])[] }} Numbers
 */

/** @param {{ finite: boolean }} options @returns {fc.Arbitrary<Numbers>} */
export const numbers = ({ finite }) =>
  fc.record({
    seed: fc.integer({ min: 0, max: 2 ** 20 }),
    scale: fc.constantFrom(1, 1, 4, 1e-3),
    replaced: finite
      ? fc.constant([])
      : fc.array(fc.tuple(fc.nat(10_000), fc.constantFrom(...rare)), { maxLength: 3 }),
  });

/** @param {number[]} shape @param {Numbers} how */
export function tensorOf(shape, { seed, scale, replaced }) {
  const x = data(seed, shape, scale);
  for (const [at, value] of replaced) x.data[at % x.data.length] = value;
  return x;
}

/**
 * A mask for scores of a shape: some leading axes left out, some of size 1, the last sometimes too short.
 * @typedef {{ seed: number, isBool: boolean, rank: number, ones: readonly boolean[], short: number, share: number }} MaskPlan
 */

/** @returns {fc.Arbitrary<MaskPlan>} */
export const maskPlan = () =>
  fc.record({
    seed: fc.integer({ min: 0, max: 2 ** 20 }),
    isBool: fc.boolean(),
    rank: fc.integer({ min: 1, max: 4 }),
    ones: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    short: fc.integer({ min: 0, max: 3 }),
    share: fc.constantFrom(0, 0.1, 0.6, 0.95, 1),
  });

/**
 * @param {MaskPlan} plan
 * @param {readonly number[]} scores their shape
 * @returns {import('headwise').AnyTensor}
 */
export function maskOf({ seed, isBool, rank, ones, short, share }, scores) {
  const own = scores.slice(-Math.min(rank, scores.length));
  const shape = own.map((n, axis) => (ones[axis] && axis < own.length - 1 ? 1 : n));
  const last = own[own.length - 1];
  shape[shape.length - 1] = last - short > 1 ? last - short : last;
  const allows = boolData(seed, shape, share);
  if (isBool) return allows;
  const added = data(seed + 1, shape);
  return new Tensor(
    added.data.map((value, i) => (allows.data[i] ? value : -Infinity)),
    shape,
  );
}
