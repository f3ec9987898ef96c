/**
 * What the colours of the maps mean.
 *
 * @import { ExploreState } from './address.js'
 */

import { showLegend } from '../parts/legend.js';
import { DECADES, gradientOf } from './colours.js';

const SCALES = {
  unit: 'weight',
  row: 'weight, as a share of its row’s largest',
  head: 'weight, each map its own scale',
  log: 'weight, logarithmic',
};

/**
 * @param {HTMLElement} room
 * @param {ExploreState} state
 * @param {object} map
 * @param {number} map.largest of the first map
 * @param {boolean} map.causal
 */
export function showMapLegend(room, { scale, other, hideFirst }, { largest, causal }) {
  const isOne = scale === 'head' && !other;
  const what = [
    isOne ? 'weight' : SCALES[scale],
    hideFirst ? 'without the first token, the rest sums to 1' : '',
  ];
  const weights = document.createElement('div');
  showLegend(weights, {
    max: isOne ? largest : 1,
    what: what.filter(Boolean).join('; '),
    masked: causal,
    start: scale === 'log' ? `10⁻${'⁰¹²³⁴⁵⁶⁷⁸⁹'[DECADES]} or less` : '0',
  });
  const parts = [weights];
  if (other) {
    const difference = document.createElement('div');
    const end = scale === 'unit' ? '1' : scale === 'log' ? '1' : 'largest';
    showLegend(difference, {
      max: 1,
      what: `difference${scale === 'log' ? ', logarithmic on both sides' : ''}`,
      masked: false,
      start: `−${end}: more in the second`,
      colours: gradientOf(true),
    });
    parts.push(difference);
  }
  room.replaceChildren(...parts);
}
