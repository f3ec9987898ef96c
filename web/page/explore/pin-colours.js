/**
 * A colour for each pin, the same in text, map, lines and lists.
 *
 * @import { Pin } from './address.js'
 * @import { Palette } from './palette.js'
 */

/** How many there are (../style/pins.css). */
export const PIN_COLOURS = 6;

/** @param {readonly Pin[]} pins @param {Pin} pin one of them */
const placeOf = (pins, { side, token }) =>
  pins.findIndex((one) => one.side === side && one.token === token) % PIN_COLOURS;

/** @param {readonly Pin[]} pins @param {Pin} pin one of them */
export const colourOf = (pins, pin) => `var(--pin-${placeOf(pins, pin)})`;

/** The same for what knows no variables. @param {Palette} palette @param {readonly Pin[]} pins @param {Pin} pin one of them */
export const paletteColourOf = (palette, pins, pin) => palette.pins[placeOf(pins, pin)];

/** @param {number} i of heads whose lines are drawn; the first is the accent's */
const placeOfHead = (i) => 1 + ((i - 1) % (PIN_COLOURS - 1));

/** A colour for each head whose lines are drawn. @param {number} i the chosen one is the first */
export const headColour = (i) => (i === 0 ? 'var(--accent)' : `var(--pin-${placeOfHead(i)})`);

/** The same for what knows no variables. @param {Palette} palette @param {number} i */
export const paletteHeadColour = ({ accent, pins }, i) => (i === 0 ? accent : pins[placeOfHead(i)]);

/** @param {readonly Pin[]} pins as maps take them */
export const colouredPins = (pins) => pins.map((pin) => ({ ...pin, colour: colourOf(pins, pin) }));
