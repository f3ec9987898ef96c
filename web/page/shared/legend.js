/** What the colours of a map mean: the scale with its ends, and the mask. */

import { gradient } from '../../headwise/view.js';
import { el } from './dom.js';
import { formatWeight } from './format.js';

/** The scale's end in figures. @param {number} max */
export const legendEnd = (max) => (max === 1 ? '1' : formatWeight(max));

/**
 * @param {HTMLElement} room
 * @param {object} scale
 * @param {number} scale.max the value at the scale's end
 * @param {string} scale.what what is measured
 * @param {boolean} scale.masked whether the map has masked cells
 * @param {string} [scale.start] the scale's other end, if it is not 0
 * @param {string} [scale.end] the scale's end in words, if it is not `max`
 * @param {string} [scale.middle] what lies halfway, if that has a name
 * @param {string} [scale.colours] a CSS gradient, if it is not the weights'
 */
export function showLegend(room, { max, what, masked, start = '0', end, middle, colours }) {
  if (max === 0) {
    const none = el('p', { class: 'legend' }, `${what}: 0 everywhere`);
    room.replaceChildren(none);
    return;
  }
  const bar = el('div', { class: 'legend-bar' });
  bar.style.backgroundImage = colours ?? gradient();
  if (middle !== undefined) bar.append(el('span', { class: 'legend-middle' }, middle));
  const scale = el(
    'div',
    { class: 'legend' },
    el('span', { class: 'legend-what' }, what),
    el(
      'span',
      { class: 'legend-scale' },
      el('span', {}, start),
      bar,
      el('span', {}, end ?? legendEnd(max)),
    ),
  );
  if (masked) {
    const swatch = el('span', { class: 'legend-mask' });
    scale.append(el('span', { class: 'legend-what' }, swatch, 'masked: a later token'));
  }
  room.replaceChildren(scale);
}

/** What the colours of weights from 0 to 1 mean. @param {HTMLElement} room @param {boolean} [masked] */
export const showWeightLegend = (room, masked = true) =>
  showLegend(room, { max: 1, what: 'attention weight', masked });
