/**
 * Every head as a small map: a row for each layer and a column for each head, whose numbers stand at the sides; or all
 * in the order of a score, each with its own name.
 *
 * @import { MapScale } from './address.js'
 * @import { Explorer } from './explorer.js'
 * @import { RunSummary } from './session.js'
 */

import { repeat } from 'lit-html/directives/repeat.js';
import { drawWeights } from '../../headwise/view.js';
import { drawn, html, made } from '../shared/template.js';
import { headAt, isSameHead, shortName, spokenName } from './address.js';
import { SCALES } from './colours.js';

/** Numbers of heads that stand beside one another without touching. */
const MOST_NUMBERS = 12;

/** @param {HTMLCanvasElement} canvas */
const sideOf = (canvas) => (canvas.clientWidth || 32) * (devicePixelRatio || 1);

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Float32Array | undefined} values not there yet: what was drawn stays
 * @param {number} size
 * @param {RunSummary} run
 * @param {MapScale} scale
 */
function paint(canvas, values, size, { n, causal }, scale) {
  if (!values) return;
  const weights = { shape: [size, size], data: values };
  drawWeights(canvas, weights, { queries: n, keys: n, causal, ...SCALES[scale] });
}

/** The numbers of layers and heads, at the sides of the maps. @param {RunSummary} run */
function headings({ layers, heads }) {
  const numbers = (/** @type {'head' | 'layer'} */ side, /** @type {number} */ count, step = 1) =>
    Array.from({ length: Math.ceil(count / step) }, (_, i) => {
      const words = `${side === 'head' ? 'H' : 'L'}${i * step}`;
      return html`<span class="heading ${side}" aria-hidden="true"
        style="--at: ${i * step}">${words}</span>`;
    });
  return html`<span class="heading corner" aria-hidden="true">layer ↓ head →</span>${[
    ...numbers('head', heads, Math.ceil(heads / MOST_NUMBERS)),
    ...numbers('layer', layers),
  ]}`;
}

/** Arrows go from head to head. @param {KeyboardEvent} event */
function followArrows(event) {
  const grid = /** @type {HTMLElement} */ (event.currentTarget);
  const buttons = [...grid.querySelectorAll('button')];
  const at = buttons.findIndex((button) => button === document.activeElement);
  const across = buttons.filter(({ offsetTop }) => offsetTop === buttons[0].offsetTop).length || 1;
  /** @type {Record<string, number>} */
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across };
  const next = buttons[at + (steps[event.key] ?? NaN)];
  if (!next) return;
  event.preventDefault();
  next.focus();
  next.click();
}

/** Keys that choose another head, and another order, take the focus along. @param {HTMLElement} grid */
function keepFocus(grid) {
  if (!grid.contains(document.activeElement)) return;
  queueMicrotask(() => /** @type {HTMLElement} */ (grid.querySelector('[tabindex="0"]')).focus());
}

/** @param {Explorer} room @param {RunSummary} run @param {number} i which head */
function tile(room, run, i) {
  const { shown, thumbs, by, scores, choices, isDark } = room;
  const name = headAt(i, run.heads);
  const { muted, other, scale, ...chosen } = shown.value;
  const isMuted = muted.some((head) => isSameHead(head, name));
  const isChosen = isSameHead(name, chosen);
  const small = thumbs.answer.value?.run === run ? thumbs.answer.value : undefined;
  const isPlace = by.value === 'place';
  const score = isPlace ? NaN : (scores.answer.value?.scores[i][by.value] ?? NaN);
  const number = Number.isFinite(score) ? html`<b>${score.toFixed(2)}</b>` : '';
  return html`<button type="button" title=${spokenName(name)}
    style="--layer: ${name.layer}; --head: ${name.head}"
    class="${isSameHead(name, other) ? 'compared' : ''} ${isMuted ? 'muted' : ''}"
    tabindex=${isChosen ? 0 : -1} aria-pressed=${isChosen}
    @click=${(/** @type {MouseEvent} */ { shiftKey }) =>
      shiftKey ? room.set({ other: name }) : choices.choose(name)}>
    <canvas aria-hidden="true"
      ${made(paint, small?.maps[i], small?.size, run, scale, isDark.value)}></canvas>
    <span>${number}${isPlace ? '' : shortName(name)}</span>
    <span class="visually-hidden"> ${spokenName(name)}${isMuted ? ', muted' : ''}</span>
  </button>`;
}

/** @param {Explorer} room */
export function headGrid(room) {
  room.thumbSide = () => {
    const canvas = document.querySelector('#explore-grid canvas');
    return Math.floor(canvas instanceof HTMLCanvasElement ? sideOf(canvas) : 0);
  };
  return drawn(() => {
    const run = room.run.value;
    if (!run) return '';
    const { layer, head } = room.shown.value;
    const key = (/** @type {number} */ i) => `${run.layers} ${run.heads} ${i}`;
    return html`<div id="explore-grid" class="explore-grid" role="group"
      aria-labelledby="explore-grid-title" data-sort=${room.by.value} style="--heads: ${run.heads}"
      @keydown=${followArrows} ${made(keepFocus, layer, head, room.order.value)}>
      ${repeat(room.order.value, key, (i) => tile(room, run, i))}
      ${room.by.value === 'place' ? headings(run) : ''}
    </div>`;
  });
}
