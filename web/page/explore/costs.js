/**
 * What was computed, and what it took.
 *
 * @import { RunSummary, Session } from './session.js'
 */

import { byId } from '../dom.js';
import { formatBytes, formatCount, formatTime, plural } from '../format.js';

/** The part of the large map that is seen. @param {import('./map/zoom-map.js').Seen} seen */
export function showSeen({ queries, keys, isPooled, ms }) {
  const side = (/** @type {[number, number]} */ [start, end]) =>
    `${formatCount(start + 1)} to ${formatCount(end)}`;
  // The clock ticks in tenths of a millisecond.
  const time = ms < 0.1 ? 'less than 0.1 ms' : formatTime(ms);
  byId('explore-span', HTMLElement).textContent =
    `Queries ${side(queries)}, keys ${side(keys)}, computed in ${time}` +
    (isPooled ? '; each cell shows the largest of the weights it covers.' : '.');
}

/**
 * All maps of a run.
 *
 * @param {RunSummary} run
 * @param {Session} session
 */
export function showCost({ n, layers, heads, ms, bytes }, { hasModel }) {
  const read = hasModel ? `: read in ${formatTime(ms)}` : '';
  byId('explore-cost', HTMLElement).textContent =
    `${plural(n, 'token')}, ${layers} × ${heads} heads${read}; ` +
    `all maps from ${formatBytes(bytes)} (${formatBytes(4 * layers * heads * n * n)} as matrices)`;
}
