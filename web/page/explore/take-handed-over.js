/**
 * @import { Found } from '../shared/dropped.js'
 * @import { Explorer } from './explorer.js'
 */

import { inPlace } from '../mirror.js';
import { handedOver } from '../shared/handed-over.js';
import { effect, untracked } from '../shared/signals.js';

/**
 * Opens what another room hands over, now and later.
 *
 * @param {Explorer} room
 * @param {(found: Found[], change?: (set: () => void) => void) => Promise<boolean>} open
 */
export function takeHandedOver(room, open) {
  effect(() => {
    const model = handedOver.value;
    // The dialog that tells of it must not hold another room.
    if (!model || !room.isShown.value) return;
    untracked(async () => {
      handedOver.value = undefined;
      // The dialog gives the focus back to what has it: the heading, once the room is entered.
      await new Promise((entered) => setTimeout(entered));
      // The way to this room was the step. If a link led here instead, Back leads to what it asked for.
      if (!(await open(model.found, model.isAwaited ? inPlace : undefined))) return;
      room.choices.read(model.text);
      room.choices.choose(model.head);
    });
  });
}
