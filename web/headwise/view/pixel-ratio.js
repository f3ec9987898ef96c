/**
 * Watches devicePixelRatio, which changes with the browser's zoom or on another screen.
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
