/** What moves a page by a visitor's own hand. */
const MOVES = ['wheel', 'touchstart', 'pointerdown', 'keydown'];

/**
 * Scrolls to an element, and again while what is above it grows, until the visitor moves. Not every browser holds the place.
 *
 * @param {HTMLElement} element
 * @param {HTMLElement} page what grows
 */
export function scrollAndHold(element, page) {
  const done = new AbortController();
  const watch = new ResizeObserver(() => {
    if (element.isConnected) element.scrollIntoView();
    else done.abort();
  });
  watch.observe(page);
  done.signal.addEventListener('abort', () => watch.disconnect());
  for (const move of MOVES) {
    addEventListener(move, () => done.abort(), { signal: done.signal, passive: true });
  }
}
