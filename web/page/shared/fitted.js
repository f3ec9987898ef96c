/** Drawings that fit the canvas that they are on, whatever size it comes to have. */

/** What is drawn on a canvas, and for which size. @type {WeakMap<Element, { draw: () => void, size?: string }>} */
const drawings = new WeakMap();

/** @param {Element} canvas */
function fit(canvas) {
  const drawing = drawings.get(canvas);
  const size = `${canvas.clientWidth} × ${canvas.clientHeight}`;
  // An observer tells the size that a canvas begins with, too.
  if (!drawing || drawing.size === size) return;
  drawing.size = size;
  drawing.draw();
}

const sizes = new ResizeObserver((changes) => changes.forEach(({ target }) => fit(target)));

/**
 * Draws once a canvas stands somewhere, and again when it stands there in another size.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {() => void} draw
 */
export function drawFitted(canvas, draw) {
  if (!drawings.has(canvas)) sizes.observe(canvas);
  drawings.set(canvas, { draw });
  if (canvas.isConnected) fit(canvas);
}
