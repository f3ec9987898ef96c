/**
 * A text of Explore that is too long for its address.
 *
 * @import { Explorer } from './explorer.js'
 */

import { keepText, keptText } from '../shared/kept-texts.js';
import { isLinkable } from '../shared/linkable.js';
import { effect } from '../shared/signals.js';

/** Keeps the text that is read, and reads the one that the address names. @param {Explorer} room */
export function connectKeptTexts(room) {
  effect(() => {
    const { text, kept } = room.state.value;
    if (!isLinkable(text)) keepText(/** @type {string} */ (text));
    const found = kept === null ? undefined : keptText(kept);
    if (found === undefined) return;
    room.ownText.value = found;
    room.set({ text: found, kept: null });
  });
}
