/**
 * One large map that can be zoomed from the whole to exact cells: cells, labels, crosshair and pins on one canvas, drawn
 * once a frame from cells that were computed before.
 *
 * @import { MapScale, Pin, Viewport } from '../address.js'
 * @import { Focus, Place } from '../focus.js'
 * @import { Cells, Region } from '../worker/pool.js'
 *
 * @typedef {object} Shown
 * @property {string} title
 * @property {string} key the same as long as the weights are
 * @property {readonly string[]} names of the tokens
 * @property {boolean} causal
 * @property {boolean} isSigned a difference
 * @property {MapScale} scale
 * @property {(region: Region) => Promise<Cells & { ms: number }>} ask
 *
 * @typedef {object} MapEvents
 * @property {(pin: Pin) => void} pin
 * @property {(view: Viewport | null) => void} view null: the whole
 * @property {(seen: Seen) => void} moved what is seen, on every move
 * @property {(error: unknown) => void} fail
 *
 * @typedef {{ queries: [number, number], keys: [number, number], isPooled: boolean, ms: number }} Seen tokens
 *   [first, past the last]; ms: that the cells took
 */

import { el } from '../../dom.js';
import { hatchOf } from '../colours.js';
import { palette } from '../palette.js';
import { onceAFrame } from '../newest.js';
import { NOWHERE } from '../focus.js';
import { listenTo } from './gestures.js';
import { drawLabels, END_PX, frameOf } from './labels.js';
import { MapCells } from './map-cells.js';
import { drawMarks } from './marks.js';
import { cellAt, wordsOf } from './readout.js';
import { fit, reveal, wholeOf, zoom } from './viewport.js';

const PAGE = 10;
const CLOSER = 0.5;

export class ZoomMap {
  #title = el('h3', {});
  #canvas = el('canvas', { 'aria-hidden': 'true' });
  #field = el('div', {
    class: 'zoom-field',
    role: 'application',
    tabindex: 0,
    'aria-roledescription': 'attention map',
  });
  #tip = el('p', { class: 'zoom-tip', role: 'status' });
  element = el(
    'div',
    { class: 'zoom-map' },
    this.#title,
    el('div', { class: 'zoom-stage' }, this.#canvas, this.#field),
    this.#tip,
  );
  /** @type {Shown | undefined} */ #shown;
  #focus;
  #on;
  /** @type {Viewport} */ #view = wholeOf(0);
  /** What was asked for, which a shorter text may not have; null: the whole. @type {Viewport | null} */
  #wish = null;
  /** @type {readonly Pin[]} */ #pins = [];
  /** The cell that keys were at last. @type {Readonly<Place>} */
  #kept = NOWHERE;
  #frame = frameOf(0, []);
  #ratio = 1;
  /** @type {HTMLCanvasElement | undefined} */ #hatch;
  #cells;
  #schedule = onceAFrame(() => this.#draw());

  /**
   * @param {Focus} focus
   * @param {MapEvents} on
   */
  constructor(focus, on) {
    this.#focus = focus;
    this.#on = on;
    const changed = () => {
      this.#schedule();
      this.#say();
    };
    const computed = () => {
      changed();
      on.moved(this.#seen);
    };
    this.#cells = new MapCells(computed, on.fail);
    focus.subscribe(changed);
    new ResizeObserver(() => {
      this.#measure();
      this.#draw(); // at once: a canvas is empty when its size has changed, and would be seen so
    }).observe(this.element);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      if (this.#shown) this.#cells.colour(this.#shown);
      this.#measure();
    });
    this.#listen();
  }

  get #n() {
    return this.#shown?.names.length ?? 0;
  }

  /** The canvas, for those who export it, and the whole map's largest weight. */
  get canvas() {
    return this.#canvas;
  }

  get largest() {
    return this.#cells.largest;
  }

  /** What is seen of the weights, as far as they are known. */
  get weightsSeen() {
    return this.#cells.seenIn(this.#view);
  }

  /** @param {Shown} shown @returns {Promise<void>} when it is drawn */
  async show(shown) {
    const before = this.#shown;
    this.#shown = shown;
    this.#title.textContent = shown.title;
    this.#field.setAttribute(
      'aria-label',
      `Attention weights: ${shown.title}. Arrow keys move the cell, P pins its query, K its key, plus and minus zoom.`,
    );
    this.#view = fit(this.#wish, this.#n);
    if (before?.key === shown.key) {
      this.#cells.colour(shown);
    } else {
      this.#cells.use({ n: this.#n, ask: shown.ask, how: shown });
      this.#measure();
    }
    await this.#want();
    this.#say();
  }

  /** @param {Viewport | null} view null: the whole */
  set view(view) {
    this.#wish = view;
    // One finger moves a map that is zoomed in, and scrolls the page otherwise.
    this.#field.style.touchAction = view ? 'none' : 'pan-y';
    this.#view = fit(view, this.#n);
    this.#on.moved(this.#seen);
    this.#schedule();
    this.#want();
  }

  /** @returns {Seen} */
  get #seen() {
    const { query, key, span } = this.#view;
    const n = this.#n;
    /** @param {number} start @returns {[number, number]} */
    const side = (start) => [Math.floor(start), Math.min(n, Math.ceil(start + span))];
    return {
      queries: side(query),
      keys: side(key),
      isPooled: span > this.#pixels,
      ms: this.#cells.ms,
    };
  }

  /** Pixels of the screen along a side of the field. */
  get #pixels() {
    return Math.floor(this.#frame.side * this.#ratio);
  }

  /** @param {readonly Pin[]} pins */
  set pins(pins) {
    this.#pins = pins;
    this.#schedule();
  }

  /** @param {number} factor below 1: closer */
  zoomBy(factor) {
    const { query, key } = this.#cell;
    const share = (/** @type {number} */ token, /** @type {number} */ start) =>
      Math.max(0, Math.min(1, (token + 0.5 - start) / this.#view.span));
    this.#zoom(factor, { x: share(key, this.#view.key), y: share(query, this.#view.query) });
  }

  /**
   * The cell that keys are about: the one in focus, else the one that keys were at last, else of the latest pins, as far
   * as they are in view; else what says most.
   */
  get #cell() {
    const { place } = this.#focus;
    const view = this.#view;
    const isSeen = (/** @type {Pin['side']} */ side, /** @type {number} */ token) =>
      token >= Math.floor(view[side]) && token < Math.min(this.#n, view[side] + view.span);
    const { query, key } = this.#kept;
    const kept = isSeen('query', query) && isSeen('key', key) ? this.#kept : NOWHERE;
    const chosen = (/** @type {Pin['side']} */ side) => {
      const pin = this.#pins.findLast((one) => one.side === side && isSeen(side, one.token));
      return [place[side], kept[side], pin?.token ?? -1].find((token) => token >= 0) ?? -1;
    };
    return this.#cells.tellingIn(view, { query: chosen('query'), key: chosen('key') });
  }

  #measure() {
    const width = this.element.clientWidth;
    if (width === 0) return;
    this.#ratio = devicePixelRatio || 1;
    this.#frame = frameOf(width, this.#shown?.names ?? []);
    const { left, top, side } = this.#frame;
    this.#canvas.width = Math.round(width * this.#ratio);
    this.#canvas.height = Math.round((top + side + END_PX) * this.#ratio);
    this.#canvas.style.height = `${top + side + END_PX}px`;
    Object.assign(this.#field.style, {
      left: `${left}px`,
      top: `${top}px`,
      width: `${side}px`,
      height: `${side}px`,
    });
    this.#hatch = hatchOf(this.#ratio);
    this.#schedule();
    this.#want();
  }

  async #want() {
    if (!this.element.isConnected) return;
    await this.#cells.want(this.#view, this.#pixels);
    this.#canvas.dataset.computed = String(this.#cells.computed);
  }

  #draw() {
    const context = this.#canvas.getContext('2d');
    if (!context || !this.#shown) return;
    context.setTransform(this.#ratio, 0, 0, this.#ratio, 0, 0);
    context.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    this.#drawCells(context);
    const { accent, ground, ink, soft } = palette();
    drawMarks(
      context,
      this.#frame,
      this.#view,
      { pins: this.#pins, place: this.#focus.place },
      { accent, ground },
    );
    drawLabels(
      context,
      this.#frame,
      this.#view,
      { names: this.#shown.names, marked: this.#focus.place },
      { font: getComputedStyle(this.element).fontFamily, ink, soft },
    );
    this.#canvas.dataset.drawn = this.#shown.key;
  }

  /** @param {CanvasRenderingContext2D} context */
  #drawCells(context) {
    const { left, top, side } = this.#frame;
    const { query, key, span } = this.#view;
    const cell = side / span;
    context.save();
    context.beginPath();
    context.rect(left, top, side, side);
    context.clip();
    context.imageSmoothingEnabled = false;
    const ground = this.#hatch && context.createPattern(this.#hatch, 'repeat');
    ground?.setTransform(new DOMMatrix().scale(1 / this.#ratio));
    context.fillStyle = ground ?? 'transparent';
    for (const { picture, queries, keys } of this.#cells.layers) {
      /** @type {[number, number, number, number]} */
      const box = [
        left + (keys[0] - key) * cell,
        top + (queries[0] - query) * cell,
        (keys[1] - keys[0]) * cell,
        (queries[1] - queries[0]) * cell,
      ];
      // Of a coarser layer nothing may show through where a finer one is masked.
      context.fillRect(...box);
      context.drawImage(picture, ...box);
    }
    context.restore();
  }

  /** Reads the cell in focus out. */
  #say() {
    const { query, key } = this.#focus.place;
    const shown = this.#shown;
    if (!shown || query < 0 || key < 0 || query >= this.#n || key >= this.#n) {
      this.#tip.textContent = '';
      return;
    }
    const cell = cellAt(this.#cells.layers, query, key);
    this.#tip.textContent = cell ? wordsOf(cell, shown) : '…';
  }

  #listen() {
    /** @param {{ x: number, y: number }} at */
    const tokensAt = ({ x, y }) => {
      const token = (/** @type {number} */ start, /** @type {number} */ share) =>
        Math.max(0, Math.min(this.#n - 1, Math.floor(start + share * this.#view.span)));
      return { query: token(this.#view.query, y), key: token(this.#view.key, x) };
    };
    listenTo(this.#field, {
      hover: (at) => this.#focus.set(tokensAt(at), this),
      leave: () => this.#focus.clear(this),
      click: (at, hasShift) => {
        const { query, key } = tokensAt(at);
        this.#on.pin(hasShift ? { side: 'key', token: key } : { side: 'query', token: query });
      },
      drag: ({ x, y }) => {
        const { query, key, span } = this.#view;
        this.#move({ query: query - y * span, key: key - x * span, span });
      },
      zoom: (factor, at) => this.#zoom(factor, at),
      settle: () => this.#want(),
    });
    this.#field.addEventListener('keydown', (event) => this.#key(event));
    this.#field.addEventListener('focus', () => {
      if (!this.#field.matches(':focus-visible') || this.#focus.place.query >= 0) return;
      const { query, key } = this.#cell;
      this.#go(query, key);
    });
    this.#field.addEventListener('blur', () => this.#focus.clear(this));
  }

  /** @param {Viewport} view */
  #move(view) {
    const whole = view.span >= this.#n;
    this.view = whole ? null : view;
    this.#on.view(whole ? null : this.#view);
  }

  /** @param {number} factor @param {{ x: number, y: number }} at */
  #zoom(factor, at) {
    this.#move(zoom(this.#view, this.#n, factor, at));
  }

  /** @param {number} query @param {number} key */
  #go(query, key) {
    const inside = (/** @type {number} */ token) => Math.max(0, Math.min(this.#n - 1, token));
    const cell = { query: inside(query), key: inside(key) };
    const view = reveal(this.#view, this.#n, cell);
    if (view.query !== this.#view.query || view.key !== this.#view.key) this.#move(view);
    this.#kept = cell;
    this.#focus.set(cell, this);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { query, key } = this.#cell;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowUp: () => this.#go(query - 1, key),
      ArrowDown: () => this.#go(query + 1, key),
      ArrowLeft: () => this.#go(query, key - 1),
      ArrowRight: () => this.#go(query, key + 1),
      PageUp: () => this.#go(query - PAGE, key),
      PageDown: () => this.#go(query + PAGE, key),
      Home: () => this.#go(query, 0),
      End: () => this.#go(query, query),
      Enter: () => this.#on.pin({ side: 'query', token: query }),
      ' ': () => this.#on.pin({ side: 'query', token: query }),
      '+': () => this.zoomBy(CLOSER),
      '=': () => this.zoomBy(CLOSER),
      '-': () => this.zoomBy(1 / CLOSER),
      0: () => this.#move(wholeOf(this.#n)),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}
