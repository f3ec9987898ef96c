/**
 * What a comparison comes to, in words.
 *
 * @import { Summary, Timing } from '../types.js'
 */

import { formatCount, plural } from '../shared/format.js';

/** Sums of 32-bit floats in another order differ by less. */
const ROUNDING = 1e-5;

/** @param {number} value */
const tiny = (value) => (value === 0 ? '0' : value.toExponential(1).replace('-', '\u2212'));

/**
 * @param {Pick<Summary, 'difference' | 'compared'>} summary
 * @returns {{ words: string, note: string }}
 */
export function agreementOf({ difference: { output, weights }, compared }) {
  const what = `${plural(compared.weights, 'weight')} and ${plural(compared.outputs, 'output')}`;
  if (output === 0 && weights === 0) {
    return {
      words: 'Wrapper = fused, bit for bit',
      note: `All ${what} are equal.`,
    };
  }
  const note = `${what}: they differ by at most ${tiny(weights)} and ${tiny(output)}.`;
  return Math.max(output, weights) <= ROUNDING
    ? { words: 'Wrapper = fused, up to the last bits', note }
    : { words: 'Wrapper and fused differ', note };
}

/**
 * Whether the times of two say nothing: their ranges, from the fastest run to the median, overlap.
 *
 * @param {Timing} timing
 */
export const isTooClose = ({ wrapper, fused }) =>
  wrapper.minimum <= fused.median && fused.minimum <= wrapper.median;

/** How many times as fast the fused module is. @param {Timing} timing */
export const ratioOf = ({ wrapper, fused }) => wrapper.minimum / fused.minimum;

/** @param {Timing} timing */
export function speedOf(timing) {
  if (isTooClose(timing)) return 'Too close to call';
  const ratio = ratioOf(timing);
  return ratio >= 1
    ? `Fused is ${ratio.toFixed(2)} times as fast`
    : `The wrapper is ${(1 / ratio).toFixed(2)} times as fast`;
}

/** The first number of tokens at which the maps take more memory than is held. @param {number} tokens @param {string} whose */
export const crossoverOf = (tokens, whose) =>
  `From ${formatCount(tokens)} tokens on, the maps take more memory than ${whose} keeps.`;
