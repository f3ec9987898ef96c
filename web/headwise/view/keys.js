/**
 * What keys can do, but for those that move from cell to cell.
 * @typedef {object} KeyActions
 * @property {() => boolean} canAct false: the map has no cells
 * @property {() => boolean} canZoom
 * @property {(key: string) => boolean} move moves to the cell that a key leads to; false: it leads nowhere
 * @property {(isKey: boolean) => void} pin the row of the cell; isKey: its column
 * @property {(by: -1 | 1) => void} turn to another head
 * @property {(factor: number) => void} zoom factor below 1: closer
 * @property {() => void} showAll
 */

const CLOSER = 0.5;

/**
 * Listens to the keyboard on a map.
 *
 * @param {HTMLElement} field
 * @param {KeyActions} on
 */
export function listenToKeys(field, on) {
  /** @type {Record<string, (event: KeyboardEvent) => void>} */
  const actions = {
    Enter: (event) => on.pin(event.shiftKey),
    ' ': (event) => on.pin(event.shiftKey),
    '[': () => on.turn(-1),
    ']': () => on.turn(1),
  };
  /** @type {typeof actions} */
  const zooms = {
    '+': () => on.zoom(CLOSER),
    '=': () => on.zoom(CLOSER),
    '-': () => on.zoom(1 / CLOSER),
    0: () => on.showAll(),
  };

  /** @param {KeyboardEvent} event whether its key does something here */
  const act = (event) => {
    if (on.move(event.key)) return true;
    const action = actions[event.key] ?? (on.canZoom() ? zooms[event.key] : undefined);
    action?.(event);
    return action !== undefined;
  };

  field.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !on.canAct()) return;
    if (act(event)) event.preventDefault();
  });
}
