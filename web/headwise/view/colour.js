import { checkBoolean, checkOptions } from '../checks/check.js';
import { viridis } from './viridis.js';

const STEPS = viridis.length / 6;

/** The logarithmic scale begins at 10 to the minus this, as a share of its end. */
export const DECADES = 4;

/** What a value that is no number is drawn in: no colour of a scale. */
const NOT_A_NUMBER = 'd6276c';

/** Of differences: below zero, zero and above it, in light and dark. Most eyes can tell the two sides apart. */
const SIGNED = {
  light: ['542788', 'f4f5f7', 'b35806'],
  dark: ['b2abd2', '282d36', 'fdb863'],
};

/** @param {string} hex */
const channelsOf = (hex) => [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

/** @param {string} hex @returns {number} a pixel's 32 bits in memory */
function wordOf(hex) {
  const [red, green, blue] = channelsOf(hex);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** @param {string} from @param {string} to @param {number} share */
const between = (from, to, share) =>
  channelsOf(from)
    .map((value, i) => Math.round(value + share * (channelsOf(to)[i] - value)))
    .map((value) => value.toString(16).padStart(2, '0'))
    .join('');

/** @param {number} place from 0 to 1 @param {number} count of colours */
const stepOf = (place, count) => Math.min(count - 1, Math.floor(place * count));

/** @param {boolean} signed @param {boolean} dark @returns {string[]} six hexadecimal digits each, in equal steps */
function stepsOf(signed, dark) {
  if (!signed) return Array.from({ length: STEPS }, (_, i) => viridis.slice(6 * i, 6 * i + 6));
  const [below, zero, above] = SIGNED[dark ? 'dark' : 'light'];
  return Array.from({ length: STEPS + 1 }, (_, i) => {
    const place = (2 * i) / STEPS - 1;
    return between(zero, place < 0 ? below : above, Math.abs(place));
  });
}

/**
 * @param {boolean} signed
 * @param {boolean} dark
 * @returns {string[]} colours of the scale at equal steps, from its start to its end
 */
export function stopsOf(signed, dark) {
  const steps = stepsOf(signed, dark);
  return Array.from({ length: 17 }, (_, i) => `#${steps[stepOf(i / 16, steps.length)]}`);
}

/** By scale, as pixels. @type {Map<string, Uint32Array>} */
const tables = new Map();

/**
 * @param {boolean} signed
 * @param {boolean} dark
 * @returns {(share: number) => number} a pixel for a share of the scale: from 0 to 1, signed from −1
 */
export function coloursOf(signed, dark) {
  const name = `${signed} ${dark}`;
  const table = tables.get(name) ?? Uint32Array.from(stepsOf(signed, dark), wordOf);
  tables.set(name, table);
  const noNumber = wordOf(NOT_A_NUMBER);
  return (share) => {
    if (Number.isNaN(share)) return noNumber;
    return table[stepOf(signed ? (1 + share) / 2 : share, table.length)];
  };
}

/**
 * How far along the colour scale a value is.
 *
 * @param {number} value not negative
 * @param {number} max the value at the scale's end
 * @param {'linear' | 'log'} scale
 * @returns {number} from 0 to 1; NaN stays NaN
 */
export function shareOf(value, max, scale) {
  const share = max > 0 ? value / max : 0 * value;
  if (scale === 'linear') return Math.min(1, share);
  return share <= 0 ? 0 : Math.max(0, Math.min(1, 1 + Math.log10(share) / DECADES));
}

/**
 * The colours of weights, for a legend of one's own.
 * @param {object} [options]
 * @param {boolean} [options.signed] default false; true is for differences: negative and positive values have different colours
 * @returns {string} the colour scale as a CSS gradient from left to right, for a legend
 * @throws {HeadwiseError} ERR_VALUE: a bad value or an unknown option
 */
export function gradient(options) {
  const { signed = false } = checkOptions(options, ['signed'], 'gradient');
  checkBoolean(signed, 'signed');
  const dark = stopsOf(signed, true);
  const stops = stopsOf(signed, false).map((light, i) =>
    light === dark[i] ? light : `light-dark(${light}, ${dark[i]})`,
  );
  return `linear-gradient(to right, ${stops.join(', ')})`;
}
