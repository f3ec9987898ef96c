/** Drawings that fit the canvas that they are on, whatever size it comes to have. */

/** What is drawn on a canvas. @type {WeakMap<Element, () => void>} */
const drawings = new WeakMap();

const sizes = new ResizeObserver((changes) => {
  for (const { target } of changes) drawings.get(target)?.();
});

/**
 * Draws once a canvas stands somewhere, and again when it stands there in another size.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {() => void} draw
 */
export function drawFitted(canvas, draw) {
  if (!drawings.has(canvas)) sizes.observe(canvas);
  drawings.set(canvas, draw);
  if (canvas.isConnected) draw();
}
