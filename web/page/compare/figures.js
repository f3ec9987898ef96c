/**
 * What the comparison comes to: difference, time, memory.
 *
 * @import { Summary } from '../types.js'
 */

import { el } from '../dom.js';
import { formatBytes, formatTime } from '../format.js';

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
 * @param {HTMLElement} room a `<dl>`
 * @param {Summary} summary
 */
export function showFigures(room, summary) {
  const { difference: apart, timing, memory } = summary;
  const times = timing.calls === 1 ? '' : ` of ${timing.calls} calls each`;
  const small = apart.output <= 1e-5;
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
  room.replaceChildren(
    figure(
      'Largest absolute difference',
      `${difference(apart.output)} in the outputs`,
      [
        el(
          'span',
          { class: 'figure-line' },
          el('span', {}, 'in the attention weights'),
          el('b', {}, difference(apart.weights)),
        ),
      ],
      apart.output === 0 && apart.weights === 0
        ? 'Bit for bit the same numbers.'
        : small
          ? 'The last bits of 32-bit floats: the same sums in another order.'
          : 'More than rounding explains.',
    ),
    figure(
      'Time of one forward call',
      inWords(timing.wrapper / timing.fused),
      bars([
        ['Wrapper', timing.wrapper, formatTime(timing.wrapper)],
        ['Fused', timing.fused, formatTime(timing.fused)],
      ]),
      `Medians of ${timing.runs} runs${times}, after a warm-up, on this machine.`,
    ),
    figure(
      'Memory for the maps',
      holds(memory.matrix / memory.held),
      bars([
        ['All maps, n × n', memory.matrix, formatBytes(memory.matrix)],
        ['Held by fused', memory.held, formatBytes(memory.held)],
      ]),
      'Fused keeps queries, keys and the sums of each row, and recomputes any weight you look at. Maps grow with the square of the text, this with its length.',
    ),
  );
}
