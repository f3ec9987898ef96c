/**
 * Curves over a common axis, each with its name at its end.
 *
 * @import { LinesItem } from '../audience.js'
 */

import { formatNumber, formatWeight } from '../../shared/format.js';
import { signal } from '../../shared/signals.js';
import { drawn, html, made, svg } from '../../shared/template.js';
import { colourOf } from './colours.js';
import { ticksOf } from './ticks.js';

/** In pixels. In a wider room it is magnified; in a narrower one it is drawn anew, for words must not shrink. */
const SIZE = { width: 520, height: 300, left: 48, right: 92, top: 26, bottom: 42 };
const LEAST = { width: 240, height: 220 };

/** From one number below the chart to the next. */
const TICK_ROOM = 18;

/** Names at the ends of curves keep this distance. */
const APART = 15;

/** Dashes, so that curves are told apart without their colours. */
const DASHES = ['', '6 3', '2 3', '8 3 2 3', '14 4', '8 3 2 3 2 3'];

/** Of more points the dots would hide the dashes. */
const MOST_DOTS = 32;

/** Moves what is closer than APART: down, and from the lowest place up. @param {number[]} places @param {number} lowest */
function spread(places, lowest) {
  const order = places.map((_, i) => i).sort((a, b) => places[a] - places[b]);
  const moved = [...places];
  order.forEach((at, i) => {
    if (i > 0) moved[at] = Math.max(moved[at], moved[order[i - 1]] + APART);
  });
  order.reverse().forEach((at, i) => {
    moved[at] = Math.min(moved[at], i > 0 ? moved[order[i - 1]] - APART : lowest);
  });
  return moved;
}

/** How it is written below and beside a chart. @param {number} value */
const write = (value) => String(value).replace('-', '−');

/** @param {LinesItem} item @param {number} room its width */
function chartOf({ name, x, series, xLabel, yLabel }, room) {
  const all = series.flatMap(({ values }) => values).filter(Number.isFinite);
  const yTicks = ticksOf(Math.min(...all), Math.max(...all));
  const [low, high] = [yTicks[0], yTicks[yTicks.length - 1]];
  const [from, to] = [Math.min(...x), Math.max(...x)];
  const { left, right, top, bottom } = SIZE;
  const width = Math.min(SIZE.width, Math.max(LEAST.width, room));
  const height = Math.max(LEAST.height, Math.round((SIZE.height * width) / SIZE.width));
  const placeX = (/** @type {number} */ v) =>
    left + ((v - from) / (to - from || 1)) * (width - left - right);
  const placeY = (/** @type {number} */ v) =>
    height - bottom - ((v - low) / (high - low || 1)) * (height - top - bottom);
  const allTicks = x.length <= 13 ? x : ticksOf(from, to).filter((v) => v >= from && v <= to);
  const every = Math.ceil((allTicks.length * TICK_ROOM) / (width - left - right));
  const xTicks = allTicks.filter((_, i) => i % every === 0);
  const last = series.map(({ values }) => placeY(values.findLast(Number.isFinite) ?? low));
  const ends = spread(last, height - bottom);
  const dotted = x.length <= MOST_DOTS ? x : [];
  return html`<svg
      class="line-chart"
      role="img"
      aria-label="${name}: ${series.map(({ label }) => label).join(', ')}"
      viewBox="0 0 ${width} ${height}"
    >
      ${yTicks.map(
        (v) =>
          svg`<path class="rule" d="M${left} ${placeY(v)}H${width - right}" />
            <text class="tick-y" x=${left - 8} y=${placeY(v)}>${write(v)}</text>`,
      )}
      ${xTicks.map(
        (v) =>
          svg`<text class="tick-x" x=${placeX(v)} y=${height - bottom + 16}>${write(v)}</text>`,
      )}
      <text class="tick-x" x=${(left + width - right) / 2} y=${height - 8}>${xLabel}</text>
      <text class="axis-y" x="4" y="12">${yLabel}</text>
      ${series.map(({ label, values }, i) => {
        const style = `--series-colour: ${colourOf(i, series.length)}`;
        const points = values.map((v, at) => `${placeX(x[at])},${placeY(v)}`);
        return svg`<g style=${style}>
          <polyline points=${points.join(' ')} stroke-dasharray=${DASHES[i % DASHES.length]} />
          ${dotted.map(
            (v, at) =>
              svg`<circle cx=${placeX(v)} cy=${placeY(values[at])} r="2.6">
                <title>${label}, ${xLabel} ${v}: ${formatWeight(values[at])}</title></circle>`,
          )}
          <text class="line-name" x=${width - right + 8} y=${ends[i]}>${label}</text>
        </g>`;
      })}
    </svg>`;
}

/** @param {LinesItem} item */
export function linesOf(item) {
  const { name, x, series, xLabel } = item;
  const room = signal(SIZE.width);
  /** @param {HTMLElement} place */
  const watch = (place) =>
    new ResizeObserver(() => {
      // None where it is not shown.
      if (place.clientWidth > 0) room.value = Math.min(SIZE.width, place.clientWidth);
    }).observe(place);
  return html`<div ${made(watch)}>${drawn(() => chartOf(item, room.value))}</div>
    <details class="numbers">
      <summary>The numbers</summary>
      <div class="table-room" tabindex="0" role="group" aria-label="The numbers of ${name}">
        <table class="matrix">
          <thead>
            <tr>
              <th scope="col">${xLabel || 'x'}</th>
              ${series.map(({ label }) => html`<th scope="col">${label}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${x.map(
              (v, at) =>
                html`<tr>
                  <th scope="row">${write(v)}</th>
                  ${series.map(({ values }) => html`<td>${formatNumber(values[at])}</td>`)}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </details>`;
}
