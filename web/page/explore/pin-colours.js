/**
 * A colour for each pin, the same in text, map, lines and lists.
 *
 * @import { Pin } from './address.js'
 */

/** How many there are (../style/explore-text.css). */
const COLOURS = 6;

/** @param {readonly Pin[]} pins @param {Pin} pin one of them */
export const colourOf = (pins, { side, token }) =>
  `var(--pin-${pins.findIndex((one) => one.side === side && one.token === token) % COLOURS})`;

/** @param {readonly Pin[]} pins as maps take them */
export const colouredPins = (pins) => pins.map((pin) => ({ ...pin, colour: colourOf(pins, pin) }));
