/**
 * The room's colour scales, as the package draws them.
 *
 * @import { MapScale } from './address.js'
 */

import { stopsOf } from '../../headwise/view/colour.js';
import { isDark } from './palette.js';

/** @type {Record<MapScale, { max: 1 | 'row' | 'map', scale: 'linear' | 'log' }>} */
export const SCALES = {
  unit: { max: 1, scale: 'linear' },
  row: { max: 'row', scale: 'linear' },
  head: { max: 'map', scale: 'linear' },
  log: { max: 1, scale: 'log' },
};

/** @param {boolean} isSigned @returns {string[]} colours of the scale at equal steps, from its start to its end */
export const colourStops = (isSigned) => stopsOf(isSigned, isDark());
