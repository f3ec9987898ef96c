/**
 * The address of what is seen, for others.
 *
 * @import { Explorer } from './explorer.js'
 */

import { formatList } from '../shared/format.js';
import { drawn, html } from '../shared/template.js';
import { leftOut } from './address.js';
import { untilChanged } from './told.js';

/** @param {Explorer} room */
export function copyLink(room) {
  const { words, tell } = untilChanged(room);
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
    <span class="note" role="status">${drawn(() => words.value)}</span>`;
}
