/** What moves a page by a visitor's own hand. */
const MOVES = ['wheel', 'touchstart', 'pointerdown', 'keydown'];

/**
 * Scrolls, and again while the page grows, until the visitor moves. Not every browser holds the place.
 *
 * @param {HTMLElement} page what grows
 * @param {() => boolean} scroll false: it is not to scroll again
 * @returns {AbortController} ends it
 */
export function scrollAndHold(page, scroll) {
  const done = new AbortController();
  const watch = new ResizeObserver(() => {
    if (!scroll()) done.abort();
  });
  watch.observe(page);
  done.signal.addEventListener('abort', () => watch.disconnect());
  for (const move of MOVES) {
    addEventListener(move, () => done.abort(), { signal: done.signal, passive: true });
  }
  return done;
}
