/** Files that are dropped on a room. */

import { hasFiles } from './drops.js';
import { signal } from './signals.js';
import { drawn, html } from './template.js';

/**
 * A room that takes files while it is shown.
 *
 * @param {HTMLElement} room
 * @param {string} words what it takes, said while files are held over the page
 * @param {(transfer: DataTransfer) => void} take
 * @returns {unknown} part of a template
 */
export function takeDrops(room, words, take) {
  const isOver = signal(false);
  document.addEventListener('dragover', (event) => {
    if (room.hidden || !hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    isOver.value = true;
  });
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) isOver.value = false;
  });
  document.addEventListener('drop', (event) => {
    isOver.value = false;
    if (room.hidden || !event.dataTransfer || !hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    take(event.dataTransfer);
  });
  return drawn(() => (isOver.value ? html`<p class="dropping">${words}</p>` : ''));
}
