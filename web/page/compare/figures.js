/**
 * What the comparison comes to: difference, time, memory.
 *
 * @import { Summary } from '../types.js'
 */

import { el } from '../shared/dom.js';
import { formatBytes, formatTime } from '../shared/format.js';

/**
 * Two amounts as bars, the larger one full.
 *
 * @param {[string, number, string][]} rows name, amount, amount in words
 */
function bars(rows) {
  const most = Math.max(...rows.map(([, amount]) => amount));
  const lines = rows.map(([name, amount, words]) => {
    const bar = el('span', { class: 'bar' });
    bar.style.setProperty('--share', String(most > 0 ? amount / most : 0));
    return el(
      'span',
      { class: 'figure-line' },
      el('span', {}, name),
      el('span', { class: 'figure-bar' }, bar),
      el('b', {}, words),
    );
  });
  return lines;
}

/** @param {number} value */
function difference(value) {
  return value === 0 ? '0' : value.toExponential(2).replace('-', '\u2212');
}

/** @param {number} ratio of wrapper to fused */
function inWords(ratio) {
  if (ratio >= 1.05) return `Fused is ${ratio.toFixed(2)} times as fast`;
  if (ratio <= 0.95) return `Wrapper is ${(1 / ratio).toFixed(2)} times as fast`;
  return 'Both take the same time';
}

/** @param {number} ratio of all maps to what fused held */
function holds(ratio) {
  if (ratio >= 1.05) return `Fused holds ${ratio.toFixed(1)} times less`;
  if (ratio <= 0.95) return `Fused holds ${(1 / ratio).toFixed(1)} times as much`;
  return 'Both come to the same';
}

/**
 * @param {string} title
 * @param {string} headline
 * @param {HTMLElement[]} lines
 * @param {string} note
 */
const figure = (title, headline, lines, note) =>
  el(
    'div',
    {},
    el('dt', {}, title),
    el(
      'dd',
      {},
      el('span', { class: 'figure-headline' }, headline),
      ...lines,
      el('span', { class: 'note' }, note),
    ),
  );

/** @param {Summary['difference']} apart */
function whyApart({ output, weights }) {
  if (output === 0 && weights === 0) return 'Bit for bit the same numbers.';
  return output <= 1e-5
    ? 'The last bits of 32-bit floats: the same sums in another order.'
    : 'More than rounding explains.';
}

/** @param {Summary['difference']} apart */
function differenceFigure(apart) {
  const weights = el(
    'span',
    { class: 'figure-line' },
    el('span', {}, 'in the attention weights'),
    el('b', {}, difference(apart.weights)),
  );
  const headline = `${difference(apart.output)} in the outputs`;
  return figure('Largest absolute difference', headline, [weights], whyApart(apart));
}

/** @param {Summary['timing']} timing */
function timeFigure({ wrapper, fused, runs, calls }) {
  const times = calls === 1 ? '' : ` of ${calls} calls each`;
  return figure(
    'Time of one forward call',
    inWords(wrapper / fused),
    bars([
      ['Wrapper', wrapper, formatTime(wrapper)],
      ['Fused', fused, formatTime(fused)],
    ]),
    `Medians of ${runs} runs${times}, after a warm-up, on this machine.`,
  );
}

/** @param {Summary['memory']} memory */
const memoryFigure = ({ matrix, held }) =>
  figure(
    'Memory for the maps',
    holds(matrix / held),
    bars([
      ['All maps, n × n', matrix, formatBytes(matrix)],
      ['Held by fused', held, formatBytes(held)],
    ]),
    'Fused keeps queries, keys and the sums of each row, and recomputes any weight you look at. Maps grow with the square of the text, this with its length.',
  );

/**
 * @param {HTMLElement} room a `<dl>`
 * @param {Summary} summary
 */
export function showFigures(room, { difference: apart, timing, memory }) {
  room.replaceChildren(differenceFigure(apart), timeFigure(timing), memoryFigure(memory));
}
