/**
 * Watches how many pixels the screen has for one of CSS, which a browser's zoom and another screen change.
 *
 * @param {() => void} changed
 * @returns {() => void} ends it
 */
export function onPixelRatio(changed) {
  /** @type {MediaQueryList | undefined} */
  let query;
  const follow = () => {
    query = globalThis.matchMedia?.(`(resolution: ${devicePixelRatio || 1}dppx)`);
    query?.addEventListener('change', heard, { once: true });
  };
  const heard = () => {
    follow();
    changed();
  };
  follow();
  return () => query?.removeEventListener('change', heard);
}
