/**
 * A model that another room made, for Explore to open.
 *
 * @import { Store } from '../state.js'
 * @import { HeadName } from './address.js'
 * @import { Explorer } from './explorer.js'
 * @import { Found } from '../shared/dropped.js'
 *
 * @typedef {object} HandedOver
 * @property {Found[]} found its files
 * @property {string} text to read
 * @property {HeadName} head to show
 */

import { effect, signal, untracked } from '../shared/signals.js';
import { goToRoom } from '../state.js';

const handed = signal(/** @type {HandedOver | undefined} */ (undefined));

/** Goes to Explore, which opens the model. @param {Store} store @param {HandedOver} model */
export function handOver(store, model) {
  handed.value = model;
  goToRoom(store, 'explore');
}

/**
 * Opens what is handed over, now and later.
 *
 * @param {Explorer} room
 * @param {(found: Found[]) => Promise<boolean>} open
 */
export function takeHandedOver(room, open) {
  effect(() => {
    const model = handed.value;
    if (!model) return;
    untracked(async () => {
      handed.value = undefined;
      // The dialog gives the focus back to what has it: the heading, once the room is entered.
      await new Promise((entered) => setTimeout(entered));
      if (!(await open(model.found))) return;
      room.choices.read(model.text);
      room.choices.choose(model.head);
    });
  });
}
