/**
 * What the plots show: works along an axis, and what their times come to.
 *
 * @import { Point } from '../../shared/chart.js'
 * @import { Timing, Work } from '../../types.js'
 * @typedef {{ at: number, timing: Timing }} Timed
 */

import { capitalized, formatCount, plural } from '../../shared/format.js';
import { isTooClose, ratioOf } from '../verdict.js';

export const TOKENS = [8, 16, 32, 64, 128, 256, 512, 1024];
export const HEADS = [1, 2, 4, 8, 16];

/** @param {number} width @param {number} heads @param {number} tokens @returns {Work} */
export const workOf = (width, heads, tokens) => ({
  ...{ tokens, heads, causal: true },
  ...{ dIn: width, dOut: width / heads },
});

/** @param {readonly Timed[]} timed @param {'wrapper' | 'fused'} way @returns {Point[]} */
export const pointsOf = (timed, way) =>
  timed.map(({ at, timing }) => ({ x: at, y: timing[way].minimum, high: timing[way].median }));

/** 1.05, but 2.1. @param {number} ratio */
const digits = (ratio) => ratio.toFixed(Math.abs(ratio - 1) < 0.1 ? 2 : 1);

/** What stands below a point: short, as those of one axis stand side by side. @param {Timing} timing */
export const shortly = (timing) => (isTooClose(timing) ? '≈' : `${ratioOf(timing).toFixed(1)}×`);

/** Which is faster, and how much. @param {Timing} timing */
function fasterOf(timing) {
  const ratio = ratioOf(timing);
  return ratio > 1
    ? `fused is ${digits(ratio)} times as fast`
    : `the wrapper is ${digits(1 / ratio)} times as fast`;
}

/** @param {string} words */
const asSentence = (words) => `${capitalized(words)}.`;

/**
 * Where the difference is largest, for fused if it is faster anywhere, and what is left of it at the end.
 *
 * @param {readonly Timed[]} timed in order
 * @param {string} noun of the axis
 */
export function headline(timed, noun) {
  const clear = timed.filter(({ timing }) => !isTooClose(timing));
  if (clear.length === 0) return 'Too close to call everywhere.';
  const sorted = clear.toSorted((a, b) => ratioOf(b.timing) - ratioOf(a.timing));
  const best = sorted[ratioOf(sorted[0].timing) > 1 ? 0 : sorted.length - 1];
  const first = `${fasterOf(best.timing)} at ${plural(best.at, noun.slice(0, -1), noun)}`;
  if (clear.length === 1 && timed.length > 1)
    return asSentence(`${first}; elsewhere it is too close to call`);
  const last = timed[timed.length - 1];
  if (last === best) return asSentence(first);
  const then = isTooClose(last.timing) ? 'it is too close to call' : fasterOf(last.timing);
  return asSentence(`${first}; at ${formatCount(last.at)} ${then}`);
}

/**
 * From how many tokens on maps of n × n take more memory than is held, which grows along a straight line: between the
 * first number of tokens that is measured so and the one before.
 *
 * @param {readonly number[]} tokens
 * @param {readonly number[]} maps bytes
 * @param {readonly number[]} held bytes
 * @returns {number | undefined}
 */
export function crossover(tokens, maps, held) {
  const at = maps.findIndex((bytes, i) => bytes > held[i]);
  if (at < 1) return undefined;
  const [from, to] = [tokens[at - 1], tokens[at]];
  const slope = (held[at] - held[at - 1]) / (to - from);
  const mapsOf = (/** @type {number} */ n) => maps[at] * (n / to) ** 2;
  let n = from + 1;
  while (n < to && mapsOf(n) <= held[at - 1] + slope * (n - from)) n++;
  return n;
}

/** All heads' maps as 32-bit floats. @param {Work} work */
export const mapBytes = ({ heads, tokens }) => 4 * heads * tokens * tokens;
