/**
 * Lets Escape stop a run, wherever the focus is: the button that stops it may be many Tabs away.
 *
 * @param {() => void} stop
 * @returns {() => void} ends that
 */
export function stopOnEscape(stop) {
  const listen = (/** @type {KeyboardEvent} */ { key, defaultPrevented }) => {
    if (key === 'Escape' && !defaultPrevented) stop();
  };
  document.addEventListener('keydown', listen);
  return () => document.removeEventListener('keydown', listen);
}

/** What the button says of it. */
export const ESCAPE = { title: 'Or press Escape', 'aria-keyshortcuts': 'Escape' };
