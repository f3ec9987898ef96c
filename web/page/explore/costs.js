/**
 * What was computed, and what it took.
 *
 * @import { Explorer } from './explorer.js'
 * @import { Seen } from './maps.js'
 */

import { formatBytes, formatCount, formatTime, plural } from '../shared/format.js';

/** The part of the large map that is seen. @param {Seen} seen */
export function spanWords({ queries, keys, isPooled, ms }) {
  const side = (/** @type {[number, number]} */ [start, end]) =>
    `${formatCount(start + 1)} to ${formatCount(end)}`;
  // The clock ticks in tenths of a millisecond.
  const time = ms < 0.1 ? 'less than 0.1 ms' : formatTime(ms);
  return (
    `Queries ${side(queries)}, keys ${side(keys)}, computed in ${time}` +
    (isPooled ? '; each cell shows the largest of the weights it covers.' : '.')
  );
}

/** What the full matrices would take: more, where the text is not short. @param {number} kept @param {number} full in bytes */
const matrixWords = (kept, full) =>
  kept < full
    ? ` (the full matrices would take ${formatBytes(full)}).`
    : `, in proportion to the text’s length. The full matrices would take ${formatBytes(full)} here, but grow with its square.`;

/** All maps of the run. @param {Explorer} room */
export function costWords({ run, hasModel }) {
  if (!run.value) return '';
  const { n, layers, heads, ms, bytes, residualBytes } = run.value;
  const read = hasModel.value ? `: read in ${formatTime(ms)}` : '';
  return (
    `${plural(n, 'token')}, ${layers} × ${heads} heads${read}. ` +
    `Kept for the maps: ${formatBytes(bytes)}${matrixWords(bytes, 4 * layers * heads * n * n)}` +
    (residualBytes > 0
      ? ` Another ${formatBytes(residualBytes)} lets muting start at the head’s layer.`
      : '')
  );
}
