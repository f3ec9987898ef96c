/**
 * Pointers over a map: hovering, clicking, dragging, pinching, the wheel. Places are shares of the map's field.
 *
 * @typedef {{ x: number, y: number }} Point
 *
 * @typedef {object} Gestures
 * @property {(at: Point) => void} hover
 * @property {() => void} leave
 * @property {(at: Point, hasShift: boolean) => void} click
 * @property {(by: Point) => void} drag
 * @property {(factor: number, at: Point) => void} zoom factor below 1: closer
 * @property {() => void} settle a drag or a pinch has ended
 */

/** A pointer that moves less has clicked. */
const CLICK_PX = 5;
const WHEEL = 0.004;
const DOUBLE_CLICK = 0.5;

/**
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
  /** @param {Point} a @param {Point} b */
  const distance = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);

  /** @param {PointerEvent} event */
  const move = (event) => {
    const at = placeOf(event);
    const from = down.get(event.pointerId);
    if (!from) {
      on.hover(at);
      return;
    }
    const others = [...down].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    down.set(event.pointerId, at);
    if (others.length > 0) {
      const [other] = others;
      const middle = { x: (at.x + other.x) / 2, y: (at.y + other.y) / 2 };
      moved = Infinity;
      on.zoom(distance(from, other) / Math.max(0.01, distance(at, other)), middle);
      return;
    }
    moved += distance(at, from) * field.clientWidth;
    if (moved > CLICK_PX) on.drag({ x: at.x - from.x, y: at.y - from.y });
  };
  /** @param {PointerEvent} event */
  const lift = (event) => {
    if (!down.delete(event.pointerId) || down.size > 0) return;
    if (moved > CLICK_PX) on.settle();
    else if (event.type === 'pointerup') on.click(placeOf(event), event.shiftKey);
  };

  field.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    if (down.size === 0) moved = 0;
    down.set(event.pointerId, placeOf(event));
    field.setPointerCapture(event.pointerId);
  });
  field.addEventListener('pointermove', move);
  field.addEventListener('pointerup', lift);
  field.addEventListener('pointercancel', lift);
  field.addEventListener('pointerleave', () => on.leave());
  field.addEventListener('dblclick', (event) => on.zoom(DOUBLE_CLICK, placeOf(event)));
  field.addEventListener(
    'wheel',
    (event) => {
      // As in maps of places: with Ctrl or a pinch it zooms, otherwise the page scrolls.
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      on.zoom(Math.exp(event.deltaY * WHEEL), placeOf(event));
    },
    { passive: false },
  );
}
