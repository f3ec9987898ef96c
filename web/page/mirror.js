/**
 * The address mirrors the store, so that a link shows the same view, and the store follows the address.
 *
 * @import { State, Store } from './state.js'
 * @import { Room } from './types.js'
 */

import { formatHash, goTo } from './address.js';
import { addEntry } from './places.js';

/** The address that the page has followed or written: a link changes it before the page is told. */
let known = '';

/** Another entry of the history, as the state is. @param {State} state */
function addEntryOf(state) {
  addEntry(formatHash(state));
  known = location.hash;
}

/**
 * Safari takes a hundred new addresses in 30 seconds and refuses more.
 *
 * @param {string} hash
 * @returns {boolean} whether it was taken
 */
function changeAddress(hash) {
  try {
    history.replaceState(history.state, '', hash);
    known = location.hash;
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
  if (room === store.get().room) return;
  // Not left to a link: an address says less than the store where the visitor's text is long.
  addEntryOf({ ...store.get(), room });
  store.set({ room });
}

/** Whether what changes is no step of the visitor's. */
let isInPlace = false;

/**
 * Changes the store without another entry of the history, whatever is seen then.
 *
 * @param {() => void} change
 */
export function inPlace(change) {
  isInPlace = true;
  try {
    change();
  } finally {
    isInPlace = false;
  }
}

/** Whether almost all that is seen of a room has changed: Back leads to what was. @param {State} after @param {State} before */
const isStep = (after, before) =>
  [after, before].every(({ room }) => room === 'explore') &&
  (after.explore.mode !== before.explore.mode || after.explore.model !== before.explore.model);

/**
 * Keeps address and store the same.
 *
 * @param {Store} store
 * @returns {() => void} to be called when a room is open, and keeps what its address says: then the address says what is shown
 */
export function mirrorInAddress(store) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let later;
  known = location.hash;
  const write = () => {
    clearTimeout(later);
    // What a link has just asked for is not lost: its event comes.
    if (location.hash !== known) return;
    const hash = formatHash(store.get());
    if (hash !== location.hash && !changeAddress(hash)) later = setTimeout(write, LATER);
  };
  store.subscribe((after, before) => {
    if (isStep(after, before) && !isInPlace) addEntryOf(after);
    write();
  });
  addEventListener('hashchange', () => {
    known = location.hash;
    // The skip link's is no state, and has done its work.
    if (location.hash === '#main') write();
    else {
      inPlace(() => store.set(goTo(location.hash, store.get())));
      write();
    }
  });
  return () => {
    if (location.hash !== '') write();
  };
}
