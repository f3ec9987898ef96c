/**
 * Heads that an address names and that the model has not.
 *
 * @import { Explorer } from './explorer.js'
 */

import { effect, untracked } from '../shared/signals.js';

/** Of the heads that are not there so many are named. */
const MOST_NAMED = 8;

/** @param {string[]} names at least one */
function orList(names) {
  const others = names.length - MOST_NAMED;
  const rest = others > 0 ? [`${others} ${others === 1 ? 'other' : 'others'}`] : [];
  return [...names.slice(0, MOST_NAMED), ...rest].join(' or ');
}

/** Takes heads out of the choice that the model has not, and says which until something else is chosen. @param {Explorer} room */
export function tellMissing(room) {
  const { state, run, isBusy, isSettled, message } = room;
  let told = { words: '', state: state.peek() };
  effect(() => {
    void state.value;
    if (!run.value || isBusy.value || !isSettled.value) return;
    untracked(() => {
      const missing = room.takeOutMissing();
      if (missing.length > 0) {
        const words = `This model has no head ${orList(missing)}.`;
        told = { words, state: state.peek() };
      }
      // Also after the text was read again without those that were muted.
      if (state.peek() === told.state && told.words) room.say(told.words, true);
      else if (told.words && message.peek().words === told.words) room.say('');
    });
  });
}
