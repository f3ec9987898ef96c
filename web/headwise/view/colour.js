import { viridis } from './viridis.js';

const STEPS = viridis.length / 6;

/** What a value that is no number is drawn in: no colour of the scale. */
const NOT_A_NUMBER = [214, 39, 108];

/** @param {number} share from 0 to 1 */
const stepOf = (share) => Math.max(0, Math.min(STEPS - 1, Math.floor(share * STEPS)));

/** @type {Uint8Array | undefined} */
let table;

/** @returns {Uint8Array} RGB triples, from the smallest value to the largest */
function colours() {
  table ??= Uint8Array.from({ length: 3 * STEPS }, (_, i) =>
    Number.parseInt(viridis.slice(2 * i, 2 * i + 2), 16),
  );
  return table;
}

/**
 * Writes a value's colour into image data.
 *
 * @param {Uint8ClampedArray} pixels RGBA
 * @param {number} at index of the pixel's first byte
 * @param {number} share how far along the scale it is: 0 its start, 1 its end
 */
export function putColour(pixels, at, share) {
  if (Number.isNaN(share)) {
    pixels.set(NOT_A_NUMBER, at);
  } else {
    const start = 3 * stepOf(share);
    pixels.set(colours().subarray(start, start + 3), at);
  }
  pixels[at + 3] = 255;
}

/** @returns {string} the colour scale as a CSS gradient, from left to right: for a legend */
export function gradient() {
  const stops = Array.from({ length: 17 }, (_, i) => {
    const start = 6 * stepOf(i / 16);
    return `#${viridis.slice(start, start + 6)}`;
  });
  return `linear-gradient(to right, ${stops.join(', ')})`;
}
