/**
 * The address mirrors the store, so that a link shows the same view, and the store follows the address.
 *
 * @import { Store } from './state.js'
 * @import { Room } from './types.js'
 */

import { formatHash, goTo } from './address.js';
import { addEntry } from './places.js';

/**
 * Safari takes a hundred new addresses in 30 seconds and refuses more.
 *
 * @param {string} hash
 * @returns {boolean} whether it was taken
 */
function changeAddress(hash) {
  try {
    history.replaceState(history.state, '', hash);
    return true;
  } catch {
    return false;
  }
}

/** In ms: what was refused is tried again. */
const LATER = 1000;

/**
 * Goes to a room as it was left; Back leads here again.
 *
 * @param {Store} store
 * @param {Room} room
 */
export function goToRoom(store, room) {
  // Not left to a link: an address says less than the store where the visitor's text is long.
  addEntry(formatHash({ ...store.get(), room }));
  store.set({ room });
}

/**
 * Keeps address and store the same.
 *
 * @param {Store} store
 * @returns {() => void} to be called when a room is open, and keeps what its address says: then the address says what is shown
 */
export function mirrorInAddress(store) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let later;
  const write = () => {
    clearTimeout(later);
    const hash = formatHash(store.get());
    if (hash !== location.hash && !changeAddress(hash)) later = setTimeout(write, LATER);
  };
  /** Whether the store follows the address. */
  let isLed = false;
  store.subscribe((after, before) => {
    // Almost all that is seen changes: Back leads to what was.
    const isOther = after.room === before.room && after.explore.mode !== before.explore.mode;
    if (isOther && !isLed) addEntry(formatHash(after));
    write();
  });
  addEventListener('hashchange', () => {
    // The skip link's is no state, and has done its work.
    if (location.hash === '#main') write();
    else {
      isLed = true;
      try {
        store.set(goTo(location.hash, store.get()));
      } finally {
        isLed = false;
      }
      write();
    }
  });
  return () => {
    if (location.hash !== '') write();
  };
}
