/** A button that opens a panel over the page: what is needed now and then. */

import { html } from './template.js';

/**
 * Closes the menus of a part of the page.
 *
 * @param {ParentNode} place
 * @param {EventTarget | null} [inside] what is in the one that stays
 */
export function closeMenus(place, inside) {
  for (const menu of place.querySelectorAll('details.menu[open]')) {
    if (!(inside instanceof Node) || !menu.contains(inside)) menu.removeAttribute('open');
  }
}

/** Closes the menus around which something happened. @param {Event} event */
const close = ({ target }) => closeMenus(document, target);

globalThis.document?.addEventListener('pointerdown', close);

// What Tab has led to. Not every focus elsewhere: a press on a panel, between its controls, gives it to the page.
globalThis.document?.addEventListener('keyup', (event) => {
  if (event.key === 'Tab') close(event);
});

/** Escape closes it. @param {KeyboardEvent} event */
function key(event) {
  const menu = /** @type {HTMLDetailsElement} */ (event.currentTarget);
  if (event.key !== 'Escape' || !menu.open) return;
  event.preventDefault();
  event.stopPropagation();
  menu.open = false;
  menu.querySelector('summary')?.focus();
}

/** What opens a dialog closes it. Its own button has the focus before the dialog opens, which gives it back. */
const closing = {
  capture: true,
  /** @param {Event} event */
  handleEvent({ target, currentTarget }) {
    if (!(target instanceof Element) || !target.closest('[data-opens]')) return;
    const menu = /** @type {HTMLDetailsElement} */ (currentTarget);
    menu.open = false;
    menu.querySelector('summary')?.focus();
  },
};

/** @param {string} id @param {unknown} words on the button @param {unknown} content */
export const menu = (id, words, content) =>
  html`<details class="menu" id=${id} @keydown=${key} @click=${closing}>
    <summary>${words}</summary>
    <div class="menu-panel">${content}</div>
  </details>`;
