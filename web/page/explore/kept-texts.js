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
  // Each alone: to keep a long text takes long, and other choices are many.
  const text = computed(() => room.state.value.text);
  const kept = computed(() => room.state.value.kept);
  const other = computed(() => room.state.value.corrupted);
  const keptOther = computed(() => room.state.value.keptOther);
  effect(() => {
    if (!isLinkable(text.value)) keepText(/** @type {string} */ (text.value));
  });
  effect(() => {
    const found = kept.value === null ? undefined : keptText(kept.value);
    if (found === undefined) return;
    room.ownText.value = found;
    room.set({ text: found, kept: null });
  });
  effect(() => {
    // Beside the text that it was made of, not in its place.
    if (!isLinkable(other.value)) keepText(/** @type {string} */ (other.value), false);
  });
  effect(() => {
    const found = keptOther.value === null ? undefined : keptText(keptOther.value);
    if (found !== undefined) room.choices.setOther(found);
  });
}
