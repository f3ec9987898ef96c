/**
 * Pins and crosshair over a map.
 *
 * @import { Pin, Viewport } from '../address.js'
 * @import { Frame } from './labels.js'
 */

/** Bands are at least this thick, in CSS pixels. */
const THIN = 3;

/**
 * @param {CanvasRenderingContext2D} context in CSS pixels
 * @param {Frame} frame
 * @param {Viewport} view
 * @param {object} marks
 * @param {readonly Pin[]} marks.pins
 * @param {{ query: number, key: number }} marks.place what the pointer is at
 * @param {{ accent: string, ground: string }} style
 */
export function drawMarks(context, { left, top, side }, view, { pins, place }, { accent, ground }) {
  const cell = side / view.span;
  /** @param {Pin} pin @returns {[number, number, number, number]} */
  const band = ({ side: which, token }) => {
    const at = (token - view[which]) * cell;
    const thickness = Math.max(THIN, cell);
    return which === 'query'
      ? [left, top + at, side, thickness]
      : [left + at, top, thickness, side];
  };
  /** @param {Pin} pin @param {[number, string][]} strokes */
  const outline = (pin, strokes) => {
    for (const [width, colour] of strokes) {
      context.lineWidth = width;
      context.strokeStyle = colour;
      context.strokeRect(...band(pin));
    }
  };
  context.save();
  context.beginPath();
  context.rect(left - 2, top - 2, side + 4, side + 4);
  context.clip();
  for (const pin of pins) {
    outline(pin, [
      [4, ground],
      [2, accent],
    ]);
  }
  for (const which of /** @type {const} */ (['query', 'key'])) {
    if (place[which] < 0) continue;
    outline({ side: which, token: place[which] }, [
      [3, 'rgb(0 0 0 / 55%)'],
      [1, 'white'],
    ]);
  }
  context.restore();
}
