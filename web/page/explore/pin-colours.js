/**
 * A colour for each pin, the same in text, map, lines and lists.
 *
 * @import { Pin } from './address.js'
 * @import { Palette } from './palette.js'
 */

/** How many there are (../style/explore-text.css). */
export const PIN_COLOURS = 6;

/** @param {readonly Pin[]} pins @param {Pin} pin one of them */
const placeOf = (pins, { side, token }) =>
  pins.findIndex((one) => one.side === side && one.token === token) % PIN_COLOURS;

/** @param {readonly Pin[]} pins @param {Pin} pin one of them */
export const colourOf = (pins, pin) => `var(--pin-${placeOf(pins, pin)})`;

/** The same for what knows no variables. @param {Palette} palette @param {readonly Pin[]} pins @param {Pin} pin one of them */
export const paletteColourOf = (palette, pins, pin) => palette.pins[placeOf(pins, pin)];

/** @param {readonly Pin[]} pins as maps take them */
export const colouredPins = (pins) => pins.map((pin) => ({ ...pin, colour: colourOf(pins, pin) }));
