/**
 * The rooms of the page: one is shown, the others are hidden as they are. A room is opened when it is first entered.
 *
 * @import { Room } from './types.js'
 * @import { State, Store } from './state.js'
 */

import { formatHash } from './address.js';
import { goToRoom } from './mirror.js';
import { goToPlace } from './places.js';
import { byId, el, focusHeading } from './shared/dom.js';
import { orOffline } from './shared/errors.js';
import { closeMenus } from './shared/menu.js';
import { ROOMS } from './state.js';

/** @param {Room} room @returns {HTMLAnchorElement} the navigation's link */
function linkTo(room) {
  const link = document.querySelector(`#rooms a[data-room="${room}"]`);
  if (link instanceof HTMLAnchorElement) return link;
  throw new Error(`the navigation has no link to "${room}"`);
}

/** @param {Room} room */
const placeOf = (room) => byId(`${room}-room`, HTMLElement);

/**
 * Closes what a room has open over the page: a modal dialog that is hidden with its room still holds the page.
 *
 * @param {HTMLElement} place
 * @returns {boolean} whether the room has the focus, or had it in what is closed
 */
function closeOver(place) {
  const hasFocus = () => place.contains(document.activeElement);
  const had = hasFocus();
  for (const dialog of place.querySelectorAll('dialog')) dialog.close();
  closeMenus(place);
  return had || hasFocus();
}

/** Links with data-room lead to a room as it was left, wherever they are. @param {Store} store */
function followRoomLinks(store) {
  document.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.target instanceof Element ? event.target.closest('a[data-room]') : null;
    const room = ROOMS.find((name) => name === link?.getAttribute('data-room'));
    if (!room) return;
    event.preventDefault();
    goToRoom(store, room);
  });
}

/**
 * What a room says that could not be opened.
 *
 * @param {unknown} error
 * @param {boolean} isFirst
 * @param {() => void} retry
 */
function failure(error, isFirst, retry) {
  const why = error instanceof Error ? error.message : String(error);
  const reason = orOffline(why);
  // Firefox keeps in mind, until a reload, that a module did not come.
  const button = el('button', { type: 'button' }, isFirst ? 'Try again' : 'Reload the page');
  button.addEventListener('click', isFirst ? retry : () => location.reload());
  return el(
    'div',
    { class: 'not-opened' },
    el('p', { class: 'message error', role: 'alert' }, `This room could not be opened: ${reason}.`),
    button,
  );
}

/**
 * Shows a room or hides it, and lets every link to it lead to what it would show.
 *
 * @param {{ room: Room, link: HTMLAnchorElement }} one link: the navigation's
 * @param {State} state
 */
function showOrHide({ room, link }, state) {
  const isHere = room === state.room;
  placeOf(room).hidden = !isHere;
  const href = formatHash({ ...state, room });
  for (const one of document.querySelectorAll(`a[data-room="${room}"]`)) {
    one.setAttribute('href', href);
  }
  if (isHere) link.setAttribute('aria-current', 'page');
  else link.removeAttribute('aria-current');
}

/**
 * Navigation and rooms follow the store.
 *
 * @param {Store} store
 * @param {Record<Room, () => void | Promise<void>>} open called when a room is first entered
 * @param {() => void} settle called when it is open
 */
export function connectRooms(store, open, settle) {
  const title = document.title;
  const links = ROOMS.map((room) => ({ room, link: linkTo(room) }));
  /** @type {Set<Room>} */
  const opened = new Set();
  /** Rooms that could not be opened at least once. @type {Set<Room>} */
  const failed = new Set();
  followRoomLinks(store);

  const show = () => {
    const state = store.get();
    document.documentElement.dataset.room = state.room;
    for (const one of links) {
      showOrHide(one, state);
      if (one.room !== state.room) continue;
      document.title = one.room === ROOMS[0] ? title : `${one.link.textContent} – ${title}`;
    }
    if (!opened.has(state.room)) enter(state.room);
  };
  /** Opens a room anew that could not be opened. @param {Room} room */
  const retry = (room) => {
    const place = placeOf(room);
    const message = place.querySelector(':scope > .not-opened');
    if (!message) return;
    const hadFocus = message.contains(document.activeElement);
    message.remove();
    if (hadFocus) focusHeading(place);
    enter(room);
  };
  /** @param {Room} room */
  const enter = async (room) => {
    opened.add(room);
    const place = placeOf(room);
    try {
      await open[room]();
      settle();
    } catch (error) {
      place.prepend(failure(error, !failed.has(room), () => retry(room)));
      failed.add(room);
    } finally {
      place.querySelector(':scope > .opening')?.remove();
      // Its heading was not there when it was entered.
      if (document.activeElement === place) focusHeading(place);
    }
  };
  store.subscribe((after, before) => {
    const isLeft = after.room !== before.room;
    const hadFocus = isLeft && closeOver(placeOf(before.room));
    show();
    if (isLeft) goToPlace();
    if (isLeft) retry(after.room);
    // What was clicked is hidden now.
    if (hadFocus) focusHeading(placeOf(after.room));
  });
  show();
}
