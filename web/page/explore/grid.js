/**
 * Small maps of every head: a row for each layer and a column for each head, or the other way round where that makes
 * larger maps, with numbers at the sides; or all in the order of a measure, each with its own name.
 *
 * @import { MapScale } from './address.js'
 * @import { Explorer } from './explorer.js'
 * @import { RunSummary } from './session.js'
 */

import { keyed } from 'lit-html/directives/keyed.js';
import { repeat } from 'lit-html/directives/repeat.js';
import { drawWeights } from '../../headwise/view.js';
import { focusInSight, hasModifier } from '../shared/dom.js';
import { drawFitted } from '../shared/fitted.js';
import { headAt, isSameHead, shortName, spokenName } from '../shared/head-names.js';
import { drawn, html, made } from '../shared/template.js';
import { SCALES } from './colours.js';
import { areFine, writeValue } from './measures.js';

/** Numbers that stand beside one another, or below, without touching. */
const MOST_NUMBERS = { head: 12, layer: 24 };

/** With more layers maps are so small that not each head has room for its number. */
const MOST_LAYERS = 20;

/** Of a number that has room under its map. */
const MOST_DECIMALS = 4;

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
  const how = { queries: n, keys: n, causal, ...SCALES[scale] };
  drawFitted(canvas, () => drawWeights(canvas, weights, how));
}

/** The numbers of layers and heads, at the sides of the maps. @param {RunSummary} run */
function headings({ layers, heads }) {
  const numbers = (/** @type {'head' | 'layer'} */ side, /** @type {number} */ count) => {
    const least = side === 'head' && layers > MOST_LAYERS ? 2 : 1;
    const step = Math.max(least, Math.ceil(count / MOST_NUMBERS[side]));
    return Array.from({ length: Math.ceil(count / step) }, (_, i) => {
      const words = `${side === 'head' ? 'H' : 'L'}${i * step}`;
      return html`<span class="heading ${side}" aria-hidden="true" translate="no"
        style="--at: ${i * step}">${words}</span>`;
    });
  };
  return [...numbers('head', heads), ...numbers('layer', layers)];
}

/** The button that lies next in a direction. @param {HTMLElement[]} buttons @param {HTMLElement} from @param {number} dx @param {number} dy */
function neighbour(buttons, from, dx, dy) {
  const placeOf = (/** @type {HTMLElement} */ { offsetLeft, offsetTop }) => [offsetLeft, offsetTop];
  const [x, y] = placeOf(from);
  const distance = (/** @type {HTMLElement} */ button) => {
    const [left, top] = placeOf(button);
    const [along, across] = dx ? [dx * (left - x), top - y] : [dy * (top - y), left - x];
    return along > 1 ? along + 8 * Math.abs(across) : Infinity;
  };
  const best = buttons.reduce((a, b) => (distance(b) < distance(a) ? b : a));
  return Number.isFinite(distance(best)) ? best : undefined;
}

/** Arrows go from head to head. @param {KeyboardEvent} event */
function followArrows(event) {
  /** @type {Record<string, [number, number]>} */
  const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const way = ways[event.key];
  const from = document.activeElement;
  const grid = /** @type {HTMLElement} */ (event.currentTarget);
  if (hasModifier(event)) return;
  if (!way || !(from instanceof HTMLButtonElement) || !grid.contains(from)) return;
  event.preventDefault();
  const next = neighbour([...grid.querySelectorAll('button')], from, ...way);
  if (!next) return;
  focusInSight(next);
  next.click();
}

/** Keys that choose another head, another order, and another model's grid take the focus along. @param {HTMLElement} grid */
function keepFocus(grid) {
  if (!document.activeElement?.closest('#explore-grid')) return;
  queueMicrotask(() => /** @type {HTMLElement} */ (grid.querySelector('[tabindex="0"]')).focus());
}

/** @param {Explorer} room @param {RunSummary} run @param {number} i which head */
function tile(room, run, i) {
  const { shown, state, thumbs, by, values, largest, measure, choices, isDark } = room;
  const name = headAt(i, run.heads);
  const { muted, scale, ...chosen } = shown.value;
  const isMuted = muted.some((head) => isSameHead(head, name));
  const isChosen = isSameHead(name, chosen);
  const small = thumbs.answer.value?.run === run ? thumbs.answer.value : undefined;
  const value = values.value?.[i] ?? NaN;
  const most = largest.value;
  const words = Number.isFinite(value) ? writeValue(measure.value, value, most, MOST_DECIMALS) : '';
  const number = words && html`<b>${areFine(most) ? words.replace('0.', '.') : words}</b>`;
  const share = most > 0 ? value / most || 0 : 0;
  const classes = [
    isSameHead(name, state.value.other) && 'compared',
    isMuted && 'muted',
    share < 0 && 'negative',
  ];
  const act = (/** @type {MouseEvent} */ { shiftKey }) => {
    if (shiftKey) room.set({ other: name, before: false });
    else choices.choose(name);
  };
  return html`<button type="button" title=${spokenName(name)}
    style="--layer: ${name.layer}; --head: ${name.head}; --value: ${Math.abs(100 * share).toFixed(1)}%"
    class=${classes.filter(Boolean).join(' ')} tabindex=${isChosen ? 0 : -1}
    aria-pressed=${isChosen} @click=${act}>
    <canvas aria-hidden="true" ${made(paint, small?.maps[i], small?.size, run, scale, isDark.value, small?.show)}></canvas>
    <span class="words" translate="no">${number}${by.value === 'place' ? '' : html` ${shortName(name)}`}</span>
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
    const { layers, heads } = run;
    const classes = [
      'explore-grid',
      room.measure.value !== 'none' && 'measured',
      room.isSigned.value && 'signed',
      areFine(room.largest.value) && 'fine',
      layers > heads && 'deep',
    ];
    const grid = html`<div id="explore-grid" class=${classes.filter(Boolean).join(' ')} role="group"
      aria-labelledby="explore-grid-title" data-sort=${room.by.value} data-measure=${room.measure.value}
      style="--heads: ${heads}; --layers: ${layers}"
      @keydown=${followArrows} ${made(keepFocus, layer, head, room.order.value)}>
      ${repeat(
        room.order.value,
        (i) => i,
        (i) => tile(room, run, i),
      )}
      ${room.by.value === 'place' ? headings(run) : ''}
    </div>`;
    // Another model's heads get another grid: where repeat takes a part away, lit 3 leaves a comment behind.
    return keyed(`${layers} ${heads}`, grid);
  });
}
