/** @typedef {{ x: number, y: number }} Point in shares of a map's sides */

/**
 * What pointers can do.
 * @typedef {object} Gestures
 * @property {() => boolean} canZoom whether they may zoom and move
 * @property {(at: Point) => void} hover
 * @property {() => void} leave
 * @property {(at: Point, hasShift: boolean) => void} click
 * @property {(by: Point) => void} drag
 * @property {(factor: number, at: Point) => void} zoom factor below 1: closer
 */

/** A pointer that moves less has clicked. */
const CLICK_PX = 5;
const WHEEL = 0.004;
const DOUBLE_CLICK = 0.5;

/** @param {Point} a @param {Point} b */
const distance = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);

/**
 * Listens to pointers over a map: hovering, clicking, dragging, pinching, the wheel.
 *
 * @param {HTMLElement} field
 * @param {Gestures} on
 */
export function listenTo(field, on) {
  /** Pointers that are down, where they are now. @type {Map<number, Point>} */
  const down = new Map();
  let moved = 0;

  /** @param {{ clientX: number, clientY: number }} event @returns {Point} */
  const placeOf = ({ clientX, clientY }) => {
    const box = field.getBoundingClientRect();
    return { x: (clientX - box.left) / box.width, y: (clientY - box.top) / box.height };
  };

  /** @param {PointerEvent} event */
  const move = (event) => {
    // A map that was taken out of the page meanwhile has not heard that the button went up.
    if (event.buttons === 0) {
      down.delete(event.pointerId);
      moved = 0;
    }
    const at = placeOf(event);
    const from = down.get(event.pointerId);
    if (!from) {
      on.hover(at);
      return;
    }
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    down.set(event.pointerId, at);
    if (other) {
      moved = Infinity;
      const middle = { x: (at.x + other.x) / 2, y: (at.y + other.y) / 2 };
      on.zoom(distance(from, other) / Math.max(0.01, distance(at, other)), middle);
      return;
    }
    moved += distance(at, from) * field.clientWidth;
    if (moved > CLICK_PX) on.drag({ x: at.x - from.x, y: at.y - from.y });
  };

  field.addEventListener('pointerdown', (event) => {
    if (event.isPrimary) down.clear();
    if (down.size === 0) moved = 0;
    if (event.button !== 0 || !on.canZoom()) return;
    down.set(event.pointerId, placeOf(event));
    field.setPointerCapture(event.pointerId);
  });
  field.addEventListener('pointermove', move);
  for (const type of /** @type {const} */ (['pointerup', 'pointercancel'])) {
    field.addEventListener(type, ({ pointerId }) => down.delete(pointerId));
  }
  field.addEventListener('pointerleave', () => on.leave());
  field.addEventListener('click', (event) => {
    if (moved <= CLICK_PX) on.click(placeOf(event), event.shiftKey);
    moved = 0; // the next may come without a pointer
  });
  field.addEventListener('dblclick', (event) => {
    if (on.canZoom()) on.zoom(DOUBLE_CLICK, placeOf(event));
  });
  field.addEventListener(
    'wheel',
    (event) => {
      // As in maps of places: with Ctrl or a pinch it zooms, otherwise the page scrolls.
      if (!on.canZoom() || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      on.zoom(Math.exp(event.deltaY * WHEEL), placeOf(event));
    },
    { passive: false },
  );
}
