/**
 * How far down the page each entry of the history was left: Back, Forward and a reload lead there again. A browser would
 * scroll before the room has its height.
 */

import { scrollAndHold } from './shared/hold.js';

const STORED = 'headwise-places';

/** By the entries' names. @type {Record<string, number>} */
let places = {};

/** The name of the entry that is shown. */
let here = '';

/** Where the page is held, and how far down it could be scrolled. @type {{ y: number, at?: number, done: AbortController } | undefined} */
let held;

const newName = () => String(Date.now() + Math.random());

/** Keeps how far down the page is; until it has its height, how far down it is to be. */
function keep() {
  places[here] = held && (held.at ?? scrollY) === scrollY ? held.y : scrollY;
}

function leave() {
  keep();
  held?.done.abort();
}

/** Scrolls to a place, and again while the page grows, until somebody else scrolls. @param {number} y */
function holdAt(y) {
  const root = document.documentElement;
  const isMoved = () => {
    if (now.at === undefined || now.at === scrollY) return false;
    // A page that got shorter is scrolled up to its end by that; while it is too short, it may have grown again since.
    const isUp = now.at > y - 2 && scrollY + innerHeight < root.scrollHeight - 2;
    return scrollY > now.at || isUp;
  };
  const done = scrollAndHold(document.body, () => {
    if (isMoved()) return false;
    scrollTo(0, y);
    now.at = scrollY;
    return true;
  });
  /** @type {NonNullable<typeof held>} */
  const now = { y, done };
  held = now;
  // What comes above is to move what is seen: it was there when the place was left.
  root.style.overflowAnchor = 'none';
  done.signal.addEventListener('abort', () => {
    root.style.overflowAnchor = '';
    held = undefined;
  });
}

/** Takes the entry that is shown now, and goes to its place if it has been left before. */
function arrive() {
  const name = history.state?.entry;
  here = name ?? newName();
  if (name === undefined) {
    try {
      history.replaceState({ entry: here }, '');
    } catch {
      // It is a new one again when one comes back.
    }
  } else if (here in places) holdAt(places[here]);
}

/** Keeps the places of this tab. */
export function keepPlaces() {
  history.scrollRestoration = 'manual';
  try {
    const stored = JSON.parse(sessionStorage.getItem(STORED) ?? '{}');
    // Another script of this host may have stored something else.
    if (typeof stored === 'object' && stored !== null) places = stored;
  } catch {
    // The browser stores nothing.
  }
  arrive();
  // The visitor has not waited for the page's scripts.
  if (scrollY > 0) held?.done.abort();
  addEventListener('popstate', () => {
    leave();
    arrive();
  });
  // WebKit shows a page that it had kept from its beginning.
  addEventListener('pageshow', (event) => {
    const { persisted } = /** @type {PageTransitionEvent} */ (event);
    if (persisted && here in places) holdAt(places[here]);
  });
  // A tab in the background may be dropped.
  for (const event of ['visibilitychange', 'pagehide']) {
    addEventListener(event, () => {
      if (event === 'visibilitychange' && !document.hidden) return;
      keep();
      try {
        sessionStorage.setItem(STORED, JSON.stringify(places));
      } catch {
        // As above.
      }
    });
  }
}

/**
 * Another entry of the history: Back leads to what is seen now.
 *
 * @param {string} hash
 */
export function addEntry(hash) {
  leave();
  const entry = newName();
  try {
    history.pushState({ entry }, '', hash);
    here = entry;
  } catch {
    // Safari refuses more than a hundred in 30 seconds.
  }
}

/** Where a room is seen that was just shown: its beginning, or where it was left. */
export function goToPlace() {
  scrollTo(0, held?.y ?? 0);
  if (held) held.at = scrollY;
}
