/**
 * `<attention-map>`: one head's weights with token labels on both axes. A cell
 * is read by hovering or by arrow keys; a click or Enter pins its row.
 *
 * Events: `pin`, with `detail` the row (a token), and `head`, with `detail`
 * −1 or 1 for the `[` and `]` keys.
 *
 * @import { MapData, Token } from '../types.js'
 */

import { cellOf, tokensOf } from '../cells.js';
import { el } from '../dom.js';
import { formatWeight } from '../format.js';
import { isMasked, paintMap } from './paint-map.js';

/** Room that a token's label needs, in CSS pixels. */
const LABEL_PX = 12;
/** Beyond that the axes are numbered, at round distances this far apart. */
const NUMBER_PX = 36;
const ROUND = [5, 10, 20, 50, 100, 200, 500];
const LONGEST_LABEL = 9;
const PAGE = 10;

/**
 * @typedef {object} View
 * @property {MapData} map
 * @property {Token[]} tokens
 * @property {number | Float32Array} max as in paintMap
 * @property {string} name for those who do not see it
 * @property {boolean} [difference] the values are differences, not weights
 */

export class AttentionMap extends HTMLElement {
  /** @type {View | null} */ #view = null;
  #row = 0;
  #col = 0;
  #pinned = -1;
  #canvas = el('canvas');
  #rowLabels = el('div', { class: 'labels rows' });
  #colLabels = el('div', { class: 'labels cols' });
  #cursor = el('div', { class: 'cell-cursor', hidden: true });
  #pin = el('div', { class: 'row-pin', hidden: true });
  #tip = el('div', { class: 'map-tip', role: 'status' });
  #field = el(
    'div',
    {
      class: 'map-field',
      role: 'application',
      tabindex: 0,
      'aria-roledescription': 'attention map',
    },
    this.#canvas,
    this.#pin,
    this.#cursor,
  );
  #watch = new ResizeObserver(() => this.#paint());

  connectedCallback() {
    if (!this.firstChild) {
      const hide = { 'aria-hidden': 'true' };
      this.append(
        el('div', { class: 'axis key-axis', ...hide }, 'key (attended to)'),
        this.#colLabels,
        el('div', { class: 'axis query-axis', ...hide }, 'query (attends from)'),
        this.#rowLabels,
        this.#field,
        this.#tip,
      );
      for (const labels of [this.#rowLabels, this.#colLabels]) {
        labels.setAttribute('aria-hidden', 'true');
      }
      this.#listen();
    }
    this.#watch.observe(this.#field);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', this.#repaint);
  }

  disconnectedCallback() {
    this.#watch.disconnect();
    matchMedia('(prefers-color-scheme: dark)').removeEventListener('change', this.#repaint);
  }

  /** How many cells along a side have a pixel each. */
  get resolution() {
    const ratio = devicePixelRatio || 1;
    return Math.max(16, Math.floor(this.#field.clientWidth * ratio));
  }

  /** The canvas, for those who export it. */
  get canvas() {
    return this.#canvas;
  }

  /** @param {View} view */
  show(view) {
    const first = this.#view?.tokens !== view.tokens;
    this.#view = view;
    if (first) {
      this.#row = 0;
      this.#col = 0;
      this.#cursor.hidden = true;
      this.#tip.textContent = '';
    }
    this.#row = Math.min(this.#row, view.map.size - 1);
    this.#col = Math.min(this.#col, view.map.size - 1);
    this.#field.setAttribute(
      'aria-label',
      `${view.name}. Arrow keys move the cell, Enter pins its row.`,
    );
    this.#paint();
    if (!this.#cursor.hidden) this.#place(this.#row, this.#col);
  }

  /** @param {number} row the pinned token, or −1 */
  set pinned(row) {
    this.#pinned = row;
    this.#placePin();
  }

  #repaint = () => this.#paint();

  #paint() {
    if (!this.#view || this.#field.clientWidth === 0) return;
    const { map, tokens, max } = this.#view;
    const cell = this.#field.clientWidth / tokens.length;
    const words = cell >= LABEL_PX ? tokens.map(({ text }) => text) : ['1000'];
    const length = Math.max(...words.map((text) => [...text].length), 1);
    this.style.setProperty('--label-ch', String(Math.min(length, LONGEST_LABEL) + 1));
    paintMap(this.#canvas, map, max);
    this.#canvas.dataset.size = String(map.size);
    this.#colLabels.classList.toggle('level', cell > LONGEST_LABEL * 7 || cell < LABEL_PX);
    this.#showLabels(this.#rowLabels, tokens, cell);
    this.#showLabels(this.#colLabels, tokens, cell);
    this.#placePin();
  }

  /**
   * @param {HTMLElement} labels
   * @param {Token[]} tokens
   * @param {number} cell pixels that a token has
   */
  #showLabels(labels, tokens, cell) {
    const n = tokens.length;
    /** @type {HTMLElement[]} */
    const shown = [];
    /** @param {string} text @param {number} i */
    const add = (text, i) => {
      const label = el('span', {}, text);
      label.style.setProperty('--at', String((i + 0.5) / n));
      shown.push(label);
    };
    if (cell >= LABEL_PX) {
      tokens.forEach(({ text }, i) => add(text, i));
    } else {
      const step = ROUND.find((tokensApart) => tokensApart * cell >= NUMBER_PX) ?? n;
      for (let i = step; i <= n; i += step) add(String(i), i - 1);
    }
    labels.classList.toggle('numbers', cell < LABEL_PX);
    labels.replaceChildren(...shown);
  }

  #placePin() {
    const n = this.#view?.tokens.length ?? 0;
    this.#pin.hidden = this.#pinned < 0 || this.#pinned >= n;
    this.#pin.style.top = `${(100 * this.#pinned) / n}%`;
    this.#pin.style.height = `${100 / n}%`;
  }

  /**
   * Reads a cell out.
   *
   * @param {number} row
   * @param {number} col
   */
  #place(row, col) {
    if (!this.#view) return;
    const { map } = this.#view;
    const { size } = map;
    this.#row = Math.max(0, Math.min(size - 1, row));
    this.#col = Math.max(0, Math.min(size - 1, col));
    this.#cursor.hidden = false;
    const share = 100 / size;
    this.#cursor.style.top = `${this.#row * share}%`;
    this.#cursor.style.left = `${this.#col * share}%`;
    this.#cursor.style.width = `${share}%`;
    this.#cursor.style.height = `${share}%`;
    this.#tip.textContent = this.#words();
  }

  #words() {
    if (!this.#view) return '';
    const { map, tokens, difference } = this.#view;
    /** @param {number} cell */
    const name = (cell) => {
      const [start, end] = tokensOf(map, cell);
      if (end - start === 1) return `“${tokens[start].text}” (${start + 1})`;
      return `tokens ${start + 1} to ${end}`;
    };
    const value = map.values[this.#row * map.size + this.#col];
    const number = formatWeight(value);
    const what = isMasked(map, this.#row, this.#col)
      ? 'masked: a later token'
      : map.size < map.n
        ? `largest ${difference ? 'difference' : 'weight'} ${number}`
        : `${difference ? 'difference ' : ''}${number}`;
    return `${name(this.#row)} → ${name(this.#col)}: ${what}`;
  }

  #listen() {
    const field = this.#field;
    /** @param {PointerEvent | MouseEvent} event */
    const cellAt = (event) => {
      const box = field.getBoundingClientRect();
      const size = this.#view?.map.size ?? 0;
      /** @type {[number, number]} */
      const cell = [
        Math.floor(((event.clientY - box.top) / box.height) * size),
        Math.floor(((event.clientX - box.left) / box.width) * size),
      ];
      return cell;
    };
    field.addEventListener('pointermove', (event) => this.#place(...cellAt(event)));
    field.addEventListener('pointerleave', () => {
      if (document.activeElement !== field) this.#cursor.hidden = true;
    });
    field.addEventListener('click', (event) => {
      this.#place(...cellAt(event));
      this.#pinHere();
    });
    field.addEventListener('focus', () => {
      if (!field.matches(':focus-visible') || !this.#view) return;
      if (this.#cursor.hidden && this.#pinned >= 0) {
        this.#row = cellOf(this.#view.map, this.#pinned);
      }
      this.#place(this.#row, this.#col);
    });
    field.addEventListener('blur', () => {
      this.#cursor.hidden = true;
    });
    field.addEventListener('keydown', (event) => this.#key(event));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (!this.#view || event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.#view.map.size - 1;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowUp: () => this.#place(this.#row - 1, this.#col),
      ArrowDown: () => this.#place(this.#row + 1, this.#col),
      ArrowLeft: () => this.#place(this.#row, this.#col - 1),
      ArrowRight: () => this.#place(this.#row, this.#col + 1),
      PageUp: () => this.#place(this.#row - PAGE, this.#col),
      PageDown: () => this.#place(this.#row + PAGE, this.#col),
      Home: () => this.#place(this.#row, 0),
      End: () => this.#place(this.#row, last),
      Enter: () => this.#pinHere(),
      ' ': () => this.#pinHere(),
      '[': () => this.#turn(-1),
      ']': () => this.#turn(1),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** @param {number} by */
  #turn(by) {
    this.dispatchEvent(new CustomEvent('head', { detail: by }));
  }

  #pinHere() {
    if (!this.#view) return;
    const [row] = tokensOf(this.#view.map, this.#row);
    this.dispatchEvent(new CustomEvent('pin', { detail: row }));
  }
}

customElements.define('attention-map', AttentionMap);
