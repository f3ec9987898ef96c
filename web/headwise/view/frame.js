import { el } from './element.js';
import { roomFor, showLabels } from './labels.js';
import { giveSize, hatchOf, paint } from './paint.js';
import { TALLEST, clamp, spansOf } from './viewport.js';

/** @typedef {import('./layers.js').Layer} Layer */
/** @typedef {import('./place.js').Pin} Pin */
/** @typedef {import('./place.js').Place} Place */
/** @typedef {import('./viewport.js').Sides} Sides */
/** @typedef {import('./viewport.js').Viewport} Viewport */

/**
 * The contents of a drawing.
 * @typedef {object} Picture
 * @property {readonly Layer[]} layers
 * @property {boolean} isWaiting cells are on their way: the old drawing stays until they come
 * @property {Viewport} view
 * @property {Sides} size
 * @property {readonly string[]} queryNames
 * @property {readonly string[]} keyNames
 * @property {Readonly<Place>} place the cell at the crosshair
 * @property {readonly Pin[]} pins
 */

const hide = { 'aria-hidden': 'true' };

/** Of a row that is thinner, an outline would hide it: it is marked at the map's edge. */
const THIN_PX = 7;

/** Along less, in shares of the font's size, an axis has a shorter name. */
const AXIS_EM = 10.2;

/** A narrower map has no labels: they would leave nothing to its cells. */
const BARE_EM = 8;

/** Rows are at least this share of a column's length, and at most that. */
const ASPECTS = /** @type {const} */ ([1 / TALLEST, 8]);

/** The canvas of a map with its labels, axes, pins and crosshair. */
export class Frame {
  canvas = el('canvas', { part: 'canvas' });
  #marks = el('div', { class: 'marks' });
  field = el(
    'div',
    {
      class: 'map-field',
      part: 'field',
      role: 'application',
      tabindex: 0,
      'aria-roledescription': 'attention map',
    },
    this.canvas,
    this.#marks,
  );
  #rowLabels = el('div', { class: 'labels rows', part: 'labels', translate: 'no', ...hide });
  #columnLabels = el('div', { class: 'labels columns', part: 'labels', translate: 'no', ...hide });
  #keyAxis = el('div', { class: 'axis key-axis', part: 'axis', ...hide });
  #queryAxis = el('div', { class: 'axis query-axis', part: 'axis', ...hide });
  /** As wide as all of it, whatever the labels take. */
  ruler = el('div', { class: 'ruler' });
  element = el(
    'div',
    { class: 'frame' },
    this.ruler,
    this.#keyAxis,
    this.#columnLabels,
    this.#queryAxis,
    this.#rowLabels,
    this.field,
  );
  #hatch = this.canvas;
  #aspect = 1;
  /** Of the labels' font, in CSS pixels, as all of these. */
  #em = 0;
  /** Of the field. */
  #width = 0;
  #height = 0;

  /** How many cells along a side have a pixel each. */
  get resolution() {
    return Math.max(16, Math.floor(this.field.clientWidth * (devicePixelRatio || 1)));
  }

  /** @returns {Sides} the same of both sides */
  get pixels() {
    const keys = this.resolution;
    return { queries: Math.max(1, Math.round(keys / this.#aspect)), keys };
  }

  /** @param {string} name read aloud @param {boolean} canZoom */
  name(name, canZoom) {
    const more = canZoom ? ', plus and minus zoom' : '';
    const keys = `Arrow keys move the cell, Enter chooses its row${more}.`;
    this.field.setAttribute('aria-label', name ? `${name}. ${keys}` : keys);
  }

  /**
   * Gives labels and cells their room: when what is shown or the size has changed.
   *
   * @param {Pick<Picture, 'size' | 'queryNames' | 'keyNames'>} map
   * @param {boolean} canZoom
   */
  measure({ size, queryNames, keyNames }, canZoom) {
    this.#em = parseFloat(getComputedStyle(this.#columnLabels).fontSize) || 0;
    for (const beside of [this.#keyAxis, this.#columnLabels, this.#queryAxis, this.#rowLabels]) {
      beside.hidden = this.ruler.clientWidth < BARE_EM * this.#em;
    }
    // Square cells, unless the map would be a thread.
    this.#aspect = clamp(size.keys / Math.max(1, size.queries), ...ASPECTS);
    if (canZoom) this.#keyAxis.textContent = 'key →\nquery ↓';
    this.field.style.setProperty('--aspect', String(this.#aspect));
    const { letters, isLevel } = roomFor({
      width: this.ruler.clientWidth - this.#queryAxis.offsetWidth,
      em: this.#em,
      names: [keyNames, queryNames],
      aspect: this.#aspect,
      canZoom,
    });
    for (const labels of [this.#rowLabels, this.#columnLabels]) {
      labels.style.setProperty('--label-ch', String(letters));
    }
    this.#columnLabels.classList.toggle('level', isLevel);
    this.#width = this.field.clientWidth;
    this.#height = this.field.clientHeight;
    const fits = (/** @type {number} */ length) => length >= AXIS_EM * this.#em;
    if (!canZoom)
      this.#keyAxis.textContent = fits(this.#keyAxis.clientWidth) ? 'key (attended to)' : 'key';
    this.#queryAxis.textContent = fits(this.#height) ? 'query (attends from)' : 'query';
    this.recolour();
  }

  /** The ground of masked cells has other colours. */
  recolour() {
    this.#hatch = hatchOf(this.canvas);
  }

  #clear() {
    for (const part of [this.#rowLabels, this.#columnLabels, this.#marks]) part.replaceChildren();
    const { width, height } = this.canvas;
    this.canvas.getContext('2d')?.clearRect(0, 0, width, height);
  }

  /** @param {Picture} picture */
  draw({ layers, isWaiting, view, size, queryNames, keyNames, place, pins }) {
    if (layers.length === 0 && !isWaiting) this.#clear();
    if (this.#width === 0 || layers.length === 0) return;
    giveSize(this.canvas);
    paint(this.canvas, { layers, view, size, hatch: this.#hatch });
    this.canvas.dataset.size = String(layers[0].height);
    const spans = spansOf(view, size);
    for (const [element, names, side, span, length] of /** @type {const} */ ([
      [this.#columnLabels, keyNames, 'key', spans.keys, this.#width],
      [this.#rowLabels, queryNames, 'query', spans.queries, this.#height],
    ])) {
      const pinned = pins.filter((pin) => pin.side === side).toReversed();
      const strong = [{ token: place[side] }, ...pinned];
      showLabels(element, { names, start: view[side], span, length, em: this.#em, strong });
    }
    const band = (/** @type {Pin} */ { side, token, colour }, /** @type {string} */ name) => {
      const isRow = side === 'query';
      const share = 100 / spans[isRow ? 'queries' : 'keys'];
      const isThin = (share / 100) * (isRow ? this.#height : this.#width) < THIN_PX;
      const mark = el('div', {
        class: `${name} ${isRow ? 'row' : 'column'}${isThin ? ' thin' : ''}`,
      });
      if (colour) mark.style.setProperty('--accent', colour);
      mark.style.setProperty(isRow ? 'top' : 'left', `${share * (token - view[side])}%`);
      mark.style.setProperty(isRow ? 'height' : 'width', `${share}%`);
      return mark;
    };
    const isThere = (/** @type {Pin} */ { side, token }) =>
      token >= 0 && token < (side === 'query' ? size.queries : size.keys);
    const sides = /** @type {const} */ (['query', 'key']);
    const cross = sides.map((side) => ({ side, token: place[side] }));
    this.#marks.replaceChildren(
      ...pins.filter(isThere).map((pin) => band(pin, 'row-pin')),
      ...cross.filter(isThere).map((one) => band(one, 'cell-cursor')),
    );
  }
}
