/**
 * Charts of lines on logarithmic scales, as SVG.
 *
 * @typedef {object} Point
 * @property {number} x
 * @property {number} y
 * @property {number} [high] the end of its range, from y
 *
 * @typedef {{ name: string, of: string, points: readonly Point[] }} Series of: the class of its colour
 *
 * @typedef {object} Axis
 * @property {string} label
 * @property {readonly number[]} [ticks] all of them, if not those that the scale chooses
 * @property {(value: number) => string} format
 *
 * @typedef {object} Chart
 * @property {number} width in pixels
 * @property {string} title for those who do not see it
 * @property {Axis} x
 * @property {Axis} y
 * @property {readonly Series[]} series
 * @property {readonly { x: number, words: string }[]} [below] words below ticks
 * @property {{ x: number, words: string }} [mark] an upright line
 */

import { scaleLog } from 'd3-scale';
import { area, line } from 'd3-shape';
import { html, svg } from './template.js';

const HEIGHT = 250;
const [TOP, RIGHT, BOTTOM, LEFT] = [16, 22, HEIGHT - 54, 56];
/** Narrower charts leave out every other tick's words. */
const NARROW = 340;

/** @param {readonly number[]} values @returns {[number, number]} */
const extent = (values) => [Math.min(...values), Math.max(...values)];

/** @param {[number, number]} domain @param {[number, number]} range */
const logScale = ([low, high], range) => scaleLog().domain([low, high]).range(range);

/** @param {Chart} chart */
function scalesOf({ width, x, series }) {
  const points = series.flatMap((one) => one.points);
  const xs = extent(x.ticks ?? points.map((point) => point.x));
  const ys = extent(points.flatMap((point) => [point.y, point.high ?? point.y]));
  const [low, high] = points.length ? ys : [1, 10];
  return {
    across: logScale(xs, [LEFT, width - RIGHT]),
    up: logScale([low * 0.7, high * 1.5], [BOTTOM, TOP]),
  };
}

/**
 * Where the horizontal lines are: those of the axis, or 1, 2 and 5 times powers of ten; the powers alone where they are
 * many, and all digits where they are few.
 *
 * @param {Axis} axis
 * @param {number[]} domain
 */
function rowsOf({ ticks }, [low, high]) {
  const least = Math.floor(Math.log10(low));
  const powers = Array.from({ length: 16 }, (_, i) => 10 ** (least + i));
  const within = (/** @type {readonly number[]} */ all) =>
    all.filter((value) => value >= low && value <= high);
  const times = (/** @type {number[]} */ digits) =>
    within(powers.flatMap((power) => digits.map((digit) => digit * power)));
  if (ticks) return within(ticks);
  if (high / low > 60) return times([1]);
  const rows = times([1, 2, 5]);
  return rows.length > 1 ? rows : times([1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

/** @param {Chart} chart @param {ReturnType<typeof scalesOf>} scales */
function axes({ width, x, y, below = [], series }, { across, up }) {
  const ticks = x.ticks ?? across.ticks(6);
  const isNarrow = width < NARROW;
  const hasData = series.some(({ points }) => points.length > 0);
  return svg`
    ${(hasData ? rowsOf(y, up.domain()) : []).map(
      (
        value,
      ) => svg`<line class="chart-grid" x1=${LEFT} x2=${width - RIGHT} y1=${up(value)} y2=${up(value)}></line>
        <text class="chart-y" x=${LEFT - 8} y=${up(value) + 4}>${y.format(value)}</text>`,
    )}
    <line class="chart-axis" x1=${LEFT} x2=${width - RIGHT} y1=${BOTTOM} y2=${BOTTOM}></line>
    ${ticks.map((value, i) =>
      isNarrow && i % 2
        ? ''
        : svg`<text class="chart-x" x=${across(value)} y=${BOTTOM + 16}>${x.format(value)}</text>`,
    )}
    ${below.map(({ x: value, words }) =>
      isNarrow && ticks.indexOf(value) % 2
        ? ''
        : svg`<text class="chart-x strong" x=${across(value)} y=${BOTTOM + 31}>${words}</text>`,
    )}
    <text class="chart-x" x=${(LEFT + width - RIGHT) / 2} y=${HEIGHT - 6}>${x.label}</text>`;
}

/** @param {Series} series @param {ReturnType<typeof scalesOf>} scales */
function lineOf({ of, points }, { across, up }) {
  /** @type {(point: Point) => number} */
  const x = (point) => across(point.x);
  /** @type {(point: Point) => number} */
  const y = (point) => up(point.y);
  const path = line(x, y)([...points]);
  const range = area(x, y, (/** @type {Point} */ point) => up(point.high ?? point.y))([...points]);
  return svg`<g class=${of}>
    <path class="chart-range" d=${range ?? ''}></path>
    <path class="chart-line" d=${path ?? ''}></path>
    ${points.map((point) => svg`<circle cx=${x(point)} cy=${y(point)} r="3"></circle>`)}
  </g>`;
}

/** @param {Chart} description */
export function chart(description) {
  const scales = scalesOf(description);
  const { width, title, series, mark, y } = description;
  return html`<div class="chart-key">
      <span>${y.label}</span>
      ${series.map(({ name, of }) => html`<span class="chart-name ${of}">${name}</span>`)}
    </div>
    <svg class="chart" width=${width} height=${HEIGHT} role="img" aria-label=${title}>
      ${axes(description, scales)}
      ${
        mark &&
        svg`<line class="chart-mark" x1=${scales.across(mark.x)} x2=${scales.across(mark.x)} y1=${TOP} y2=${BOTTOM}></line>
          <text class="chart-x strong" x=${scales.across(mark.x)} y=${TOP - 4}>${mark.words}</text>`
      }
      ${series.filter(({ points }) => points.length > 0).map((one) => lineOf(one, scales))}
    </svg>`;
}
