/**
 * A model that one room made, for Explore to open.
 *
 * @import { Found } from './dropped.js'
 * @import { HeadName } from './head-names.js'
 *
 * @typedef {object} HandedOver
 * @property {Found[]} found its files
 * @property {string} text to read
 * @property {HeadName} head to show
 * @property {boolean} isAwaited whether the visitor is taken there at once; if not, it opens when Explore is entered
 */

import { signal } from './signals.js';

/** Until Explore takes it. */
export const handedOver = signal(/** @type {HandedOver | undefined} */ (undefined));
