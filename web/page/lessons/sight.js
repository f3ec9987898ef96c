/** Where the focus goes on a page that is long: to what is seen. */

/** What Tab leads to. */
const REACHED = 'a[href], button:not([disabled]), summary, [tabindex="0"], .cm-content';

/** How much of the window the bar above a lesson takes. */
export const coveredHeight = () =>
  Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;

/** Gives what was scrolled to the focus: Tab goes on from there. @param {Element} target */
export function focusTarget(target) {
  const heading = target.matches('section') ? target.querySelector('h2') : target;
  if (heading instanceof HTMLElement) heading.focus({ preventScroll: true });
}

/** Goes to a section of the page in place of following the link that was clicked. @param {Event} event @param {Element} section */
export function goToSection(event, section) {
  event.preventDefault();
  section.scrollIntoView();
  focusTarget(section);
}

/**
 * Lets Tab go on from what is seen, should the heading that has the focus be out of sight: Back leads to a place far
 * below it.
 *
 * @param {HTMLElement} page
 */
export function tabFromSight(page) {
  const heading = document.activeElement;
  if (!heading || !page.contains(heading)) return;
  heading.addEventListener('keydown', (event) => {
    const { key, shiftKey } = /** @type {KeyboardEvent} */ (event);
    const covered = coveredHeight();
    if (key !== 'Tab' || shiftKey || heading.getBoundingClientRect().bottom > covered) return;
    const next = [...page.querySelectorAll(REACHED)].find(
      (one) => one.checkVisibility() && one.getBoundingClientRect().top >= covered,
    );
    if (!(next instanceof HTMLElement)) return;
    event.preventDefault();
    next.focus();
  });
}
