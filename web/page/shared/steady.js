/** What takes a moment to come leaves its place as high as it was: what is below it does not jump. */

import { drawn, html, made } from './template.js';

/**
 * Before all of it was there once, nothing is kept, nor measured: a page that is half drawn would be laid out, and scrolled.
 *
 * @param {HTMLElement} element
 * @param {boolean} isThere whether all that belongs in it is; else it gets no less high
 */
export function steady(element, isThere) {
  if (isThere) element.classList.add('filled');
  const isKept = !isThere && element.classList.contains('filled');
  element.style.minHeight = isKept ? `${element.offsetHeight}px` : '';
}

/**
 * A part that is drawn as `drawn` does, in a place that is kept for it.
 *
 * @param {() => unknown} draw undefined: it is to come
 * @param {unknown} [toCome] stands there until then
 */
export const steadily = (draw, toCome = '') =>
  drawn(() => {
    const there = draw();
    return html`<div class="steady" ${made(steady, there !== undefined)}>${there ?? toCome}</div>`;
  });

/** What stands in such a place, with the height that it has before anything was there. @param {string} height of CSS @param {unknown} [words] */
export const placeOf = (height, words = html`<p class="note">…</p>`) =>
  html`<div class="place" style="--height: ${height}">${words}</div>`;
