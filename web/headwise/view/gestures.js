/** @typedef {{ x: number, y: number }} Point in shares of a map's sides */

/** @typedef {{ clientX: number, clientY: number }} Pixels where a pointer is in the window */

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
/** Fingers that are closer count as this far apart: their tremble would zoom by large factors. */
const CLOSE_PX = 4;
const WHEEL = 0.004;
const DOUBLE_CLICK = 0.5;

/** In pixels: a share of the height is not as long as one of the width. @param {Pixels} a @param {Pixels} b */
const distance = (a, b) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);

/** Of two fingers. @param {Pixels} a @param {Pixels} b */
const spread = (a, b) => Math.max(CLOSE_PX, distance(a, b));

/** Where a pointer is over a field. @param {HTMLElement} field @param {Pixels} at @returns {Point} */
function placeOf(field, { clientX, clientY }) {
  const box = field.getBoundingClientRect();
  return { x: (clientX - box.left) / box.width, y: (clientY - box.top) / box.height };
}

/**
 * Listens to pointers over a map: hovering, clicking, dragging, pinching, the wheel.
 *
 * @param {HTMLElement} field
 * @param {Gestures} on
 */
export function listenTo(field, on) {
  listenToPointers(field, on);
  listenToZoom(field, on);
}

/** Hovering, clicking, dragging and pinching. @param {HTMLElement} field @param {Gestures} on */
function listenToPointers(field, on) {
  /** Pointers that are down, where they are now. @type {Map<number, Pixels>} */
  const down = new Map();
  /** Where the first of them went down. @type {Pixels} */
  let start = { clientX: 0, clientY: 0 };
  /** How far it has been from there: a hand that trembles still clicks. */
  let moved = 0;

  /** @param {PointerEvent} event */
  const move = (event) => {
    // A map that was taken out of the page meanwhile has not heard that the button went up.
    if (event.buttons === 0) {
      down.delete(event.pointerId);
      moved = 0;
    }
    const at = placeOf(field, event);
    const from = down.get(event.pointerId);
    if (!from) {
      on.hover(at);
      return;
    }
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    down.set(event.pointerId, event);
    if (other) {
      moved = Infinity;
      const { x, y } = placeOf(field, other);
      const middle = { x: (at.x + x) / 2, y: (at.y + y) / 2 };
      on.zoom(spread(from, other) / spread(event, other), middle);
      return;
    }
    moved = Math.max(moved, distance(event, start));
    const { x, y } = placeOf(field, from);
    if (moved > CLICK_PX) on.drag({ x: at.x - x, y: at.y - y });
  };

  field.addEventListener('pointerdown', (event) => {
    if (event.isPrimary) down.clear();
    if (down.size === 0) {
      start = event;
      moved = 0;
    }
    // A finger does not come over the map before it touches it.
    if (event.isPrimary && event.pointerType === 'touch') on.hover(placeOf(field, event));
    if (event.button !== 0 || !on.canZoom()) return;
    down.set(event.pointerId, event);
    field.setPointerCapture(event.pointerId);
  });
  field.addEventListener('pointermove', move);
  for (const type of /** @type {const} */ (['pointerup', 'pointercancel'])) {
    field.addEventListener(type, ({ pointerId }) => down.delete(pointerId));
  }
  field.addEventListener('pointerleave', () => on.leave());
  field.addEventListener('click', (event) => {
    const zooms = event.detail > 1 && doubleClickZooms(event, on);
    if (moved <= CLICK_PX && !zooms) on.click(placeOf(field, event), event.shiftKey);
    moved = 0; // the next may come without a pointer
  });
}

/**
 * Whether the second click of a double click zooms, instead of pinning. A click with Shift always pins: a key, where the
 * click just before pinned the query.
 *
 * @param {MouseEvent} event @param {Gestures} on
 */
function doubleClickZooms({ shiftKey }, on) {
  return !shiftKey && on.canZoom();
}

/** Double clicks and the wheel. @param {HTMLElement} field @param {Gestures} on */
function listenToZoom(field, on) {
  field.addEventListener('dblclick', (event) => {
    if (doubleClickZooms(event, on)) on.zoom(DOUBLE_CLICK, placeOf(field, event));
  });
  field.addEventListener(
    'wheel',
    (event) => {
      // As in maps of places: with Ctrl or a pinch it zooms, otherwise the page scrolls.
      if (!on.canZoom() || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      on.zoom(Math.exp(event.deltaY * WHEEL), placeOf(field, event));
    },
    { passive: false },
  );
}
