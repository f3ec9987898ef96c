export { el } from '../../headwise/view/element.js';

/**
 * The element with this id; the page's own markup promises that it is there.
 *
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type what it has to be
 * @returns {T}
 */
export function byId(id, type) {
  const found = document.getElementById(id);
  if (found instanceof type) return found;
  throw new Error(`the page has no <${type.name}> with id "${id}"`);
}

/** Whether a key is the browser's: Alt and an arrow go back. @param {KeyboardEvent} event */
export const hasModifier = ({ altKey, ctrlKey, metaKey }) => altKey || ctrlKey || metaKey;

/** The focus alone leaves what is in sight in part as it is. @param {HTMLElement} element */
export function focusInSight(element) {
  element.focus();
  element.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

/**
 * Reads a place's heading, from where Tab goes on; the place itself, where it has none yet.
 *
 * @param {HTMLElement} place
 * @param {FocusOptions} [options]
 */
export function focusHeading(place, options = { preventScroll: true }) {
  const heading = place.querySelector('h1') ?? place;
  heading.tabIndex = -1;
  heading.focus(options);
}

/**
 * Where what has the focus goes: the focus goes to the first of these that is seen and takes it, or to the page's main part.
 *
 * @param {...(Element | null | undefined)} wanted
 */
export function turnFocusTo(...wanted) {
  for (const element of wanted) {
    if (!(element instanceof HTMLElement) || element === document.body) continue;
    if (element.checkVisibility()) element.focus();
    if (document.activeElement === element) return;
  }
  byId('main', HTMLElement).focus({ preventScroll: true });
}
