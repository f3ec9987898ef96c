/**
 * What the colours of the maps mean.
 *
 * @import { ExploreState } from './address.js'
 */

import { shortName } from './address.js';
import { showLegend } from '../parts/legend.js';
import { DECADES, gradientOf } from './colours.js';
import { firstName } from './maps.js';

const SCALES = {
  unit: 'weight',
  row: 'weight, as a share of its row’s largest',
  head: 'weight, each map its own scale',
  log: 'weight, logarithmic',
};

/**
 * @typedef {object} Legend of one scale
 * @property {number} max the value at its end
 * @property {string} what
 * @property {boolean} masked
 * @property {string} [start]
 * @property {string} [end] if it is not `max`
 * @property {string} [middle]
 * @property {boolean} isSigned
 *
 * @param {ExploreState} state
 * @param {object} map
 * @param {number} map.largest of the first map
 * @param {boolean} map.causal
 * @returns {Legend[]} of the weights and, where two heads are compared, of their difference
 */
export function legendsOf(state, { largest, causal }) {
  const { scale, other, hideFirst } = state;
  const isOne = scale === 'head' && !other;
  const what = [
    isOne ? 'weight' : SCALES[scale],
    hideFirst ? 'without the first token, the rest sums to 1' : '',
  ];
  const weights = {
    max: isOne ? largest : 1,
    what: what.filter(Boolean).join('; '),
    masked: causal,
    start: scale === 'log' ? `10⁻${'⁰¹²³⁴⁵⁶⁷⁸⁹'[DECADES]} or less` : '0',
    isSigned: false,
  };
  if (!other) return [weights];
  const end = scale === 'unit' || scale === 'log' ? '1' : 'largest';
  const difference = {
    max: 1,
    what: `difference${scale === 'log' ? ', logarithmic on both sides' : ''}`,
    masked: false,
    start: `−${end}: more in ${shortName(other)}`,
    middle: '0',
    end: `+${end}: more in ${firstName(state)}`,
    isSigned: true,
  };
  return [weights, difference];
}

/**
 * @param {HTMLElement} room
 * @param {ExploreState} state
 * @param {{ largest: number, causal: boolean }} map
 */
export function showMapLegend(room, state, map) {
  const parts = legendsOf(state, map).map(({ isSigned, ...legend }) => {
    const part = document.createElement('div');
    showLegend(part, { ...legend, colours: gradientOf(isSigned) });
    return part;
  });
  room.replaceChildren(...parts);
}
