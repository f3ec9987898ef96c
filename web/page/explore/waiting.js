/**
 * What takes long: opening a model, reading a text. A bar says how far it is, and a button cancels it.
 *
 * @import { Signal } from '../shared/signals.js'
 * @import { Explorer } from './explorer.js'
 */

import { signal } from '../shared/signals.js';
import { drawn, html } from '../shared/template.js';

/** What is done by then needs no bar. */
const SLOW_MS = 500;

export class Waiting {
  /** What is waited for; fraction: how much of it is done, where that is known. @type {Signal<{ label: string, fraction?: number } | undefined>} */
  now = signal(undefined);
  /** Called when it is not wanted any more. */
  cancel = () => {};
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #timer;

  /** @param {string} label */
  begin(label) {
    const show = () => (this.now.value = { label });
    clearTimeout(this.#timer);
    if (this.now.peek()) show();
    else this.#timer = setTimeout(show, SLOW_MS);
  }

  /** @param {number} fraction */
  reach(fraction) {
    const now = this.now.peek();
    if (now) this.now.value = { ...now, fraction };
  }

  end() {
    clearTimeout(this.#timer);
    this.now.value = undefined;
  }
}

/** @param {Explorer} room */
export const waitingBar = ({ waiting }) =>
  drawn(() => {
    const { label = '', fraction } = waiting.now.value ?? {};
    const bar =
      fraction === undefined
        ? html`<progress aria-label=${label}></progress>`
        : html`<progress max="1" .value=${fraction} aria-label=${label}></progress>`;
    return html`<div class="waiting-bar" id="explore-waiting" ?hidden=${!waiting.now.value}>
      ${bar}<span class="note">${label}</span>
      <button type="button" class="quiet" @click=${() => waiting.cancel()}>Cancel</button>
    </div>`;
  });
