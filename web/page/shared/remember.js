/** What this browser remembers of a choice: whether something is so. It may forbid its pages to remember anything. */

/** @param {string} name @param {boolean} otherwise where nothing can be remembered */
export function isRemembered(name, otherwise) {
  try {
    return localStorage.getItem(name) !== null;
  } catch {
    return otherwise;
  }
}

/** @param {string} name @param {boolean} isSo */
export function remember(name, isSo) {
  try {
    if (isSo) localStorage.setItem(name, '1');
    else localStorage.removeItem(name);
  } catch {
    // It is so until the page is closed.
  }
}
