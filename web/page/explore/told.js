/**
 * @import { Explorer } from './explorer.js'
 */

import { computed, signal } from '../shared/signals.js';

/**
 * A message that counts until anything else is chosen.
 *
 * @param {Pick<Explorer, 'state'>} room
 */
export function untilChanged({ state }) {
  const told = signal({ words: '', of: state.peek() });
  return {
    words: computed(() => (told.value.of === state.value ? told.value.words : '')),
    /** @param {string} words */
    tell(words) {
      told.value = { words, of: state.peek() };
    },
  };
}
