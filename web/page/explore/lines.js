/**
 * The text twice, and lines from each token to what it attends to: those that carry a chosen share of its row. Only what
 * is scrolled into view is drawn.
 *
 * @import { Token } from '../types.js'
 * @import { Pin } from './address.js'
 * @import { Focus } from './focus.js'
 */

import { el } from '../dom.js';
import { formatCount, plural } from '../format.js';
import { topEdges } from './edges.js';
import { newest, onceAFrame } from './newest.js';

/** Lines are as high as shows the whole text, within these bounds. */
const LEAST_LINE_PX = 15;
const MOST_LINE_PX = 24;
const MOST_PX = 600;
/** More lines of all tokens are a blur, and slow. */
const MOST_LINES = 2000;
const SVG = 'http://www.w3.org/2000/svg';

/** @param {number} share */
const percent = (share) => `${(100 * share).toFixed(1)} %`;

/**
 * @typedef {object} Lines
 * @property {readonly Token[]} tokens
 * @property {number} topP
 * @property {(query: number) => Promise<Float32Array>} row
 * @property {string} name
 */

export class LinesView {
  #svg = document.createElementNS(SVG, 'svg');
  #queries = el('div', { class: 'lines-side queries' });
  #keys = el('div', { class: 'lines-side keys' });
  #inner = el('div', { class: 'lines-inner' }, this.#queries, this.#keys);
  #scroll = el('div', { class: 'lines', tabindex: 0, role: 'group' }, this.#inner);
  #note = el('p', { class: 'note' });
  /** Height of a line, in CSS pixels. */
  #line = MOST_LINE_PX;
  #focus;
  #pin;
  /** @type {Lines | undefined} */ #lines;
  /** @type {readonly Pin[]} */ #pins = [];
  /** Lines of the queries in view. @type {Map<number, ReturnType<typeof topEdges>>} */
  #rows = new Map();
  #schedule = onceAFrame(() => this.#draw());
  #read;

  /**
   * @param {HTMLElement} room
   * @param {Focus} focus
   * @param {(pin: Pin) => void} pin
   * @param {(error: unknown) => void} fail
   */
  constructor(room, focus, pin, fail) {
    this.#focus = focus;
    this.#pin = pin;
    this.#read = newest(() => this.#readRows(), fail);
    this.#svg.setAttribute('role', 'img');
    this.#inner.append(this.#svg);
    const heads = el(
      'div',
      { class: 'lines-heads note', 'aria-hidden': 'true' },
      el('span', {}, 'query (attends from)'),
      el('span', {}, 'key (attended to)'),
    );
    room.replaceChildren(heads, this.#scroll, this.#note);
    focus.subscribe(() => {
      const { query } = focus.place;
      if (query >= 0 && !this.#inner.matches(':hover')) this.reveal(query);
      this.#schedule();
    });
    this.#scroll.addEventListener('scroll', () => {
      this.#schedule();
      this.#read();
    });
    new ResizeObserver(this.#schedule).observe(this.#scroll);
    this.#listen(this.#queries, 'query');
    this.#listen(this.#keys, 'key');
  }

  /** @param {Lines} lines */
  async show(lines) {
    this.#lines = lines;
    this.#rows = new Map();
    const n = lines.tokens.length;
    this.#line = Math.max(LEAST_LINE_PX, Math.min(MOST_LINE_PX, MOST_PX / n));
    this.#inner.style.setProperty('--line', `${this.#line}px`);
    const height = n * this.#line;
    this.#inner.style.height = `${height}px`;
    this.#scroll.style.height = `${Math.min(height, MOST_PX) + 2}px`;
    this.#scroll.setAttribute('aria-label', `Lines from queries to keys, ${lines.name}`);
    this.#schedule();
    await this.#read();
  }

  /** @param {readonly Pin[]} pins */
  set pins(pins) {
    this.#pins = pins;
    this.#schedule();
  }

  /** Scrolls to a token. @param {number} token */
  reveal(token) {
    const top = token * this.#line;
    const { scrollTop, clientHeight } = this.#scroll;
    if (top < scrollTop || top + this.#line > scrollTop + clientHeight) {
      this.#scroll.scrollTop = top - clientHeight / 2;
    }
  }

  /** @param {HTMLElement} side @param {Pin['side']} name */
  #listen(side, name) {
    const at = (/** @type {EventTarget | null} */ target) =>
      target instanceof HTMLElement ? Number(target.dataset.at ?? NaN) : NaN;
    side.addEventListener('pointerover', ({ target }) => {
      const token = at(target);
      if (token >= 0) this.#focus.set({ [name]: token }, this);
    });
    side.addEventListener('pointerleave', () => this.#focus.clear(this));
    side.addEventListener('click', ({ target }) => {
      const token = at(target);
      if (token >= 0) this.#pin({ side: name, token });
    });
  }

  /** Tokens in view: [first, past the last]. */
  #visible() {
    const n = this.#lines?.tokens.length ?? 0;
    const { scrollTop, clientHeight } = this.#scroll;
    const first = Math.max(0, Math.floor(scrollTop / this.#line) - 1);
    return [
      first,
      Math.min(n, Math.ceil((scrollTop + (clientHeight || MOST_PX)) / this.#line) + 1),
    ];
  }

  async #readRows() {
    const lines = this.#lines;
    if (!lines) return;
    const [first, end] = this.#visible();
    const queries = Array.from({ length: end - first }, (_, i) => first + i);
    const rows = await Promise.all(queries.map((query) => lines.row(query)));
    if (lines !== this.#lines) return;
    this.#rows = new Map(queries.map((query, i) => [query, topEdges(rows[i], lines.topP)]));
    this.#schedule();
  }

  #draw() {
    const lines = this.#lines;
    if (!lines) return;
    const [first, end] = this.#visible();
    const width = this.#inner.clientWidth;
    const place = this.#focus.place;
    const pinned = (/** @type {Pin['side']} */ side) =>
      new Set(this.#pins.filter((pin) => pin.side === side).map(({ token }) => token));
    const hovers = place.query >= 0 || place.key >= 0;
    const chosen = hovers
      ? { query: new Set([place.query]), key: new Set(place.query < 0 ? [place.key] : []) }
      : { query: pinned('query'), key: pinned('key') };
    this.#label(this.#queries, first, end, chosen.query);
    this.#label(this.#keys, first, end, new Set([...chosen.key, place.key]));
    const hasChosen = hovers || this.#pins.length > 0;

    const left = 0.36 * width;
    const right = 0.64 * width;
    const top = first * this.#line;
    const all = [];
    let most = 0;
    for (const [query, { edges, rest }] of this.#rows) {
      const isChosen = chosen.query.has(query);
      if (isChosen || !hasChosen) most = Math.max(most, rest);
      for (const { key, weight } of edges) {
        if (!hasChosen || isChosen || chosen.key.has(key)) all.push({ query, key, weight });
      }
    }
    const isCut = !hasChosen && all.length > MOST_LINES;
    const shown = isCut ? all.sort((a, b) => b.weight - a.weight).slice(0, MOST_LINES) : all;
    const paths = shown.map(({ query, key, weight }) => {
      const y = (query + 0.5) * this.#line - top;
      const to = (key + 0.5) * this.#line - top;
      const bend = (right - left) / 2;
      const path = document.createElementNS(SVG, 'path');
      path.setAttribute(
        'd',
        `M${left} ${y}C${left + bend} ${y} ${right - bend} ${to} ${right} ${to}`,
      );
      path.setAttribute('stroke-opacity', String(Math.min(1, 0.12 + 0.88 * weight)));
      path.setAttribute('stroke-width', String(1 + 3 * Math.min(1, weight)));
      return path;
    });
    this.#svg.style.top = `${top}px`;
    this.#svg.setAttribute('width', String(width));
    this.#svg.setAttribute('height', String((end - first) * this.#line));
    this.#svg.setAttribute('aria-label', `${plural(shown.length, 'line')}, ${lines.name}`);
    this.#svg.replaceChildren(...paths);
    const each = chosen.query.size === 1 ? 'Its' : 'Each token’s';
    if (isCut) {
      this.#note.textContent = `The ${formatCount(shown.length)} strongest of ${plural(all.length, 'line')} in view; choose a token to see all of its own.`;
      return;
    }
    this.#note.textContent = `${each} lines carry at least ${percent(lines.topP)} of its attention; ${chosen.query.size === 1 ? '' : 'up to '}${percent(most)} is not shown.`;
  }

  /** @param {HTMLElement} side @param {number} first @param {number} end @param {Set<number>} strong */
  #label(side, first, end, strong) {
    const { tokens } = /** @type {Lines} */ (this.#lines);
    const labels = [];
    for (let token = first; token < end; token++) {
      const label = el(
        'div',
        { 'data-at': token, class: strong.has(token) ? 'strong' : '' },
        tokens[token].text,
      );
      label.style.top = `${token * this.#line}px`;
      labels.push(label);
    }
    side.replaceChildren(...labels);
  }
}
