/** The buttons of a table as one stop of the tab key: arrows go from one to another. */

import { focusInSight, hasModifier } from '../../shared/dom.js';

/** @type {Record<string, (at: number, count: number, columns: number) => number>} */
const WAYS = {
  ArrowUp: (at, _, columns) => at - columns,
  ArrowDown: (at, _, columns) => at + columns,
  ArrowLeft: (at, _, columns) => (at % columns > 0 ? at - 1 : -1),
  ArrowRight: (at, _, columns) => ((at + 1) % columns > 0 ? at + 1 : -1),
  Home: () => 0,
  End: (_, count) => count - 1,
};

/** @param {KeyboardEvent} event of the table; data-columns: buttons in a row, if there are several */
export function followArrows(event) {
  const way = WAYS[event.key];
  const table = /** @type {HTMLElement} */ (event.currentTarget);
  const buttons = [...table.querySelectorAll('button')];
  const at = buttons.findIndex((button) => button === document.activeElement);
  if (!way || at < 0 || hasModifier(event)) return;
  event.preventDefault();
  const next = buttons[way(at, buttons.length, Number(table.dataset.columns ?? 1))];
  if (!next) return;
  for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
  focusInSight(next);
}

/** Lets the tab key stop at the first button when the one where it stopped has gone. @param {HTMLElement} table */
export const keepStop = (table) =>
  queueMicrotask(() => {
    const buttons = [...table.querySelectorAll('button')];
    if (buttons.every(({ tabIndex }) => tabIndex < 0)) buttons[0].tabIndex = 0;
  });
