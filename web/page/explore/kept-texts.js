/**
 * Texts of Explore that are too long for its address.
 *
 * @import { Explorer } from './explorer.js'
 */

import { keepText, keptText } from '../shared/kept-texts.js';
import { isLinkable } from '../shared/linkable.js';
import { computed, effect } from '../shared/signals.js';

/** Keeps the texts that are read, and reads those that the address names. @param {Explorer} room */
export function connectKeptTexts(room) {
  effect(() => {
    const { text, kept } = room.state.value;
    if (!isLinkable(text)) keepText(/** @type {string} */ (text));
    const found = kept === null ? undefined : keptText(kept);
    if (found === undefined) return;
    room.ownText.value = found;
    room.set({ text: found, kept: null });
  });
  const other = computed(() => room.state.value.corrupted);
  effect(() => {
    // Beside the text that it was made of, not in its place.
    if (!isLinkable(other.value)) keepText(/** @type {string} */ (other.value), false);
  });
  effect(() => {
    const { keptOther } = room.state.value;
    const found = keptOther === null ? undefined : keptText(keptOther);
    if (found !== undefined) room.choices.setOther(found);
  });
}
