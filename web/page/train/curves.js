/**
 * Curves over the steps of a run, as SVG.
 *
 * @import { Point } from './history.js'
 *
 * @typedef {object} Curve
 * @property {string} of the class of its colour
 * @property {Point[]} points
 *
 * @typedef {object} Curves
 * @property {string} title
 * @property {string} value the latest in words
 * @property {string} longest the longest that the value may become
 * @property {number} end the last step of the axis
 * @property {number} top the largest value of the axis
 * @property {(value: number) => string} format
 * @property {readonly Curve[]} curves
 * @property {readonly (number | undefined)[]} marks steps, one for each curve
 * @property {number} at the step that is shown
 */

import { scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import { formatCount } from '../shared/format.js';
import { html, svg } from '../shared/template.js';
import { thinnedPoints } from './history.js';

const [WIDTH, HEIGHT] = [340, 132];
const [LEFT, RIGHT, TOP, BOTTOM] = [46, 10, 8, 22];

/** More points than these are not told apart. */
const MOST_POINTS = 240;

/** @param {Curves} description */
export function curvesChart({ title, value, longest, end, top, format, curves, marks, at }) {
  const across = scaleLinear([0, end], [LEFT, WIDTH - RIGHT]);
  const up = scaleLinear([0, top], [HEIGHT - BOTTOM, TOP]);
  const path = line(
    (/** @type {Point} */ { x }) => Math.round(10 * across(x)) / 10,
    ({ y }) => Math.round(10 * up(Math.min(y, top))) / 10,
  );
  const upright = (/** @type {number} */ x, /** @type {string} */ of) =>
    svg`<line class=${of} x1=${across(x)} x2=${across(x)} y1=${TOP} y2=${HEIGHT - BOTTOM}></line>`;
  return html`<figure class="train-curve">
    <figcaption><h3>${title}</h3><span class="train-number train-roomy" translate="no" data-longest=${longest}><span>${value}</span></span></figcaption>
    <svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${`${title} over the steps; now ${value}`}>
      ${[0, top / 2, top].map(
        (
          y,
        ) => svg`<line class="chart-grid" x1=${LEFT} x2=${WIDTH - RIGHT} y1=${up(y)} y2=${up(y)}></line>
          <text class="chart-y" x=${LEFT - 6} y=${up(y) + 4}>${format(y)}</text>`,
      )}
      ${[0, end / 2, end].map(
        (x, i) =>
          svg`<text class="chart-x" style="text-anchor: ${['start', 'middle', 'end'][i]}" x=${across(x)} y=${HEIGHT - 6}>${formatCount(Math.round(x))}${i === 2 ? ' steps' : ''}</text>`,
      )}
      ${marks.map((mark, i) => (mark === undefined ? '' : upright(mark, `train-mark ${curves[i].of}`)))}
      ${upright(Math.min(at, end), 'train-now')}
      ${curves.map(({ of, points }) => svg`<path class="train-line ${of}" d=${path(thinnedPoints(points, MOST_POINTS)) ?? ''}></path>`)}
    </svg>
  </figure>`;
}
