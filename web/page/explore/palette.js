/**
 * The page's colours for what is drawn and not styled. Canvases and other readers of SVG do not know light-dark(), so an
 * element is asked what it comes to.
 *
 * @typedef {object} Palette the page's colours
 * @property {string} ground
 * @property {string} ink
 * @property {string} soft
 * @property {string} line
 * @property {string} accent
 * @property {string} wash
 * @property {string} mask
 * @property {string} maskLine
 * @property {string[]} pins
 */

import { PIN_COLOURS } from './pin-colours.js';

/** @type {Record<Exclude<keyof Palette, 'pins'>, string>} */
const NAMES = {
  ground: '--ground',
  ink: '--ink',
  soft: '--soft',
  line: '--line',
  accent: '--accent',
  wash: '--wash',
  mask: '--mask',
  maskLine: '--mask-line',
};

export const isDark = () => matchMedia('(prefers-color-scheme: dark)').matches;

/** By scheme. @type {Map<boolean, Palette>} */
const palettes = new Map();

/** @returns {Palette} */
function read() {
  const probe = document.createElement('span');
  probe.style.forcedColorAdjust = 'none';
  const context = document.createElement('canvas').getContext('2d');
  document.body.append(probe);
  const colourOf = (/** @type {string} */ variable) => {
    probe.style.color = `var(${variable})`;
    const { color } = getComputedStyle(probe);
    if (!context) return color;
    context.fillStyle = color;
    return String(context.fillStyle);
  };
  const colours = Object.entries(NAMES).map(([name, variable]) => [name, colourOf(variable)]);
  const pins = Array.from({ length: PIN_COLOURS }, (_, i) => colourOf(`--pin-${i}`));
  probe.remove();
  return /** @type {Palette} */ ({ ...Object.fromEntries(colours), pins });
}

/** @returns {Palette} of the scheme that the page is in */
export function palette() {
  const scheme = isDark();
  const found = palettes.get(scheme) ?? read();
  palettes.set(scheme, found);
  return found;
}
