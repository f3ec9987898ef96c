/**
 * The address of what is seen, for others.
 *
 * @import { Explorer } from './explorer.js'
 */

import { formatList } from '../shared/format.js';
import { signal } from '../shared/signals.js';
import { drawn, html } from '../shared/template.js';
import { leftOut } from './address.js';

/** @param {Explorer} room */
export function copyLink(room) {
  /** Of the address as it was then. */
  const told = signal({ words: '', state: room.state.peek() });
  const tell = (/** @type {string} */ words) => (told.value = { words, state: room.state.peek() });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      const missing = formatList(leftOut(room.state.peek()));
      tell(missing ? `Copied. The link does not carry ${missing}.` : 'Copied.');
    } catch {
      tell('Copy it from the address bar.');
    }
  };
  return html`<button type="button" class="quiet" id="explore-link" @click=${copy}
      ?hidden=${drawn(() => !room.run.value)}>Copy link</button>
    <span class="note" role="status">${drawn(() => (told.value.state === room.state.value ? told.value.words : ''))}</span>`;
}
