import { misfit } from '../checks/error.js';

/**
 * A cell, given by its tokens; −1 means no row or no column.
 * @typedef {object} Place
 * @property {number} query its row
 * @property {number} key its column
 */
/**
 * A token whose row or column is marked.
 * @typedef {object} Pin
 * @property {'query' | 'key'} side 'query' marks a row, 'key' a column
 * @property {number} token counted from 0
 * @property {string} [colour] a CSS colour for the outline and label; default: the accent colour
 */

/** @type {Readonly<Place>} */
export const nowhere = Object.freeze({ query: -1, key: -1 });

/**
 * @template T
 * @param {T} value of a property
 * @returns {NonNullable<T> | null} null for an empty text too, which some frameworks set instead, such as Preact
 */
export const orNone = (value) => (value === '' ? null : (value ?? null));

/**
 * @param {any} token
 * @param {string} name
 * @returns {number}
 * @throws {HeadwiseError} ERR_VALUE: not an integer
 */
export function checkToken(token, name) {
  if (!Number.isInteger(token)) throw misfit(token, name, 'an integer, −1 for none');
  return token;
}

/**
 * @param {any} place
 * @returns {Place} a copy
 * @throws {HeadwiseError} ERR_VALUE: not an object of two integers
 */
export function checkPlace(place) {
  if (typeof place !== 'object') throw misfit(place, 'place', '{ query, key } or null');
  const { query, key } = place;
  return { query: checkToken(query, 'place.query'), key: checkToken(key, 'place.key') };
}

/**
 * @param {any} pins
 * @returns {readonly Pin[]} a copy of the array
 * @throws {HeadwiseError} ERR_VALUE: no array, or a pin without a side or token
 */
export function checkPins(pins) {
  if (!Array.isArray(pins)) throw misfit(pins, 'pins', 'an array of { side, token }');
  return pins.map((pin, i) => {
    if (pin?.side !== 'query' && pin?.side !== 'key') {
      throw misfit(pin?.side, `pins[${i}].side`, '"query" or "key"');
    }
    checkToken(pin.token, `pins[${i}].token`);
    return pin;
  });
}
