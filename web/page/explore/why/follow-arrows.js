/** The buttons of a table as one stop of the tab key: arrows go up and down in it. */

/** @type {Record<string, (at: number, count: number) => number>} */
const WAYS = {
  ArrowUp: (at) => at - 1,
  ArrowDown: (at) => at + 1,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/** @param {KeyboardEvent} event of the table */
export function followArrows(event) {
  const way = WAYS[event.key];
  const table = /** @type {HTMLElement} */ (event.currentTarget);
  const buttons = [...table.querySelectorAll('button')];
  const at = buttons.findIndex((button) => button === document.activeElement);
  if (!way || at < 0) return;
  event.preventDefault();
  const next = buttons[way(at, buttons.length)];
  if (!next) return;
  for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
  next.focus();
}
