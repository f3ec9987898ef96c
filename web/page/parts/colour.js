/** Viridis as a table of 256 colours. */

import { interpolateViridis } from 'd3-scale-chromatic';

const STEPS = 256;

/** RGB triples, from the smallest value to the largest. */
const table = new Uint8Array(3 * STEPS);
for (let i = 0; i < STEPS; i++) {
  const hex = Number.parseInt(interpolateViridis((i + 0.5) / STEPS).slice(1), 16);
  table.set([hex >> 16, (hex >> 8) & 255, hex & 255], 3 * i);
}

/** What a value that is no number is drawn in: no colour of the scale. */
const NOT_A_NUMBER = [214, 39, 108];

/**
 * Writes a value's colour into image data.
 *
 * @param {Uint8ClampedArray} pixels RGBA
 * @param {number} at index of the pixel's first byte
 * @param {number} value
 * @param {number} max the value at the scale's end; it starts at 0
 */
export function putColour(pixels, at, value, max) {
  if (Number.isNaN(value)) {
    pixels.set(NOT_A_NUMBER, at);
  } else {
    const share = max > 0 ? value / max : 0;
    const i = Math.max(0, Math.min(STEPS - 1, Math.floor(share * STEPS)));
    pixels[at] = table[3 * i];
    pixels[at + 1] = table[3 * i + 1];
    pixels[at + 2] = table[3 * i + 2];
  }
  pixels[at + 3] = 255;
}

/** The scale as a CSS gradient. */
export function gradient() {
  const stops = Array.from({ length: 17 }, (_, i) => interpolateViridis(Math.min(i / 16, 0.9999)));
  return `linear-gradient(to right, ${stops.join(', ')})`;
}
