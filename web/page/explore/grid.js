/**
 * Every head as a small map: a row for each layer and a column for each head, whose numbers stand at the sides; or all
 * in the order of a score, each with its own name.
 *
 * @import { ExploreState, HeadName, MapScale } from './address.js'
 * @import { RunSummary, Session } from './session.js'
 * @import { HeadScores } from './scores.js'
 *
 * @typedef {object} Tile
 * @property {HeadName} name
 * @property {HTMLButtonElement} button
 * @property {HTMLCanvasElement} canvas
 * @property {HTMLElement} score
 * @property {HTMLElement} words what is not seen by all
 * @property {{ size: number, values: Float32Array } | undefined} map
 */

import { el } from '../dom.js';
import { isSameHead, shortName, spokenName } from './address.js';
import { hatchOf, largestOf, pictureOf } from './colours.js';

/** Numbers of heads that stand beside one another without touching. */
const MOST_NUMBERS = 12;

/** @param {Float32Array} values @param {number} size @returns {Float32Array} of each row */
function largestOfRows(values, size) {
  return Float32Array.from({ length: size }, (_, row) =>
    largestOf(values.subarray(row * size, (row + 1) * size)),
  );
}

/** @param {number} count @param {number} step @returns {number[]} */
const everyNth = (count, step) =>
  Array.from({ length: Math.ceil(count / step) }, (_, i) => i * step);

/**
 * The numbers of layers and heads, at the sides of the maps.
 *
 * @param {number} layers
 * @param {number} heads
 */
function headingsOf(layers, heads) {
  const heading = (/** @type {'head' | 'layer'} */ side, /** @type {number} */ at) =>
    el(
      'span',
      { class: `heading ${side}`, 'aria-hidden': 'true', style: `--at: ${at}` },
      `${side === 'head' ? 'H' : 'L'}${at}`,
    );
  return [
    el('span', { class: 'heading corner', 'aria-hidden': 'true' }, 'layer ↓ head →'),
    ...everyNth(heads, Math.ceil(heads / MOST_NUMBERS)).map((head) => heading('head', head)),
    ...everyNth(layers, 1).map((layer) => heading('layer', layer)),
  ];
}

export class HeadGrid {
  #room;
  #session;
  /** @type {Tile[]} */ #tiles = [];
  /** @type {HTMLElement[]} */ #headings = [];
  /** @type {HeadScores[] | undefined} */ #scores;
  /** @type {RunSummary | undefined} */ #run;
  /** The latest chosen, also for maps that are on their way. @type {MapScale} */ #scale = 'unit';
  #order = '';

  /**
   * @param {HTMLElement} room
   * @param {Session} session
   * @param {(head: HeadName, hasShift: boolean) => void} choose
   */
  constructor(room, session, choose) {
    this.#room = room;
    this.#session = session;
    room.addEventListener('click', (event) => {
      const tile = this.#tileOf(event.target);
      if (tile) choose(tile.name, event.shiftKey);
    });
    room.addEventListener('keydown', (event) => this.#key(event));
  }

  /** @param {EventTarget | null} target */
  #tileOf(target) {
    const button = target instanceof Element ? target.closest('button') : null;
    return this.#tiles.find((tile) => tile.button === button);
  }

  /**
   * Reads the maps of a run and draws them, layer after layer.
   *
   * @param {RunSummary} run
   * @param {ExploreState} state
   */
  async show(run, state) {
    this.#run = run;
    this.#scores = undefined;
    if (this.#tiles.length !== run.layers * run.heads) this.#build(run);
    this.#scale = state.scale;
    this.mark(state);
    const side = this.#tiles[0].canvas.clientWidth || 32;
    const size = Math.min(run.n, Math.floor(side * (devicePixelRatio || 1)));
    for (let layer = 0; layer < run.layers; layer++) {
      const { maps } = await this.#session.thumbs(layer, size);
      if (this.#run !== run) return;
      maps.forEach((values, head) => {
        const tile = this.#tiles[layer * run.heads + head];
        tile.map = { size, values };
        this.#paint(tile);
      });
    }
    this.#room.dataset.drawn = String(run.run);
  }

  /** @param {HeadScores[]} scores @param {ExploreState} state */
  showScores(scores, state) {
    this.#scores = scores;
    this.mark(state);
  }

  /** @param {MapScale} scale */
  colour(scale) {
    this.#scale = scale;
    for (const tile of this.#tiles) this.#paint(tile);
  }

  /**
   * Chosen, compared and muted heads, and their order.
   *
   * @param {ExploreState} state
   */
  mark(state) {
    const hasFocus = this.#room.contains(document.activeElement);
    for (const { name, button, words } of this.#tiles) {
      const isChosen = isSameHead(name, state);
      const isMuted = state.muted.some((head) => isSameHead(head, name));
      button.setAttribute('aria-pressed', String(isChosen));
      button.tabIndex = isChosen ? 0 : -1;
      button.classList.toggle('compared', isSameHead(name, state.other));
      button.classList.toggle('muted', isMuted);
      words.textContent = ` ${spokenName(name)}${isMuted ? ', muted' : ''}`;
      if (isChosen && hasFocus) button.focus();
    }
    this.#sort(state.sort);
  }

  /** The heads as they stand. */
  get order() {
    return [...this.#room.querySelectorAll('button')].map(
      (button) => /** @type {Tile} */ (this.#tileOf(button)).name,
    );
  }

  /** @param {RunSummary} run */
  #build({ layers, heads }) {
    this.#tiles = Array.from({ length: layers * heads }, (_, i) => {
      const name = { layer: Math.floor(i / heads), head: i % heads };
      const canvas = el('canvas', { 'aria-hidden': 'true' });
      const score = el('span', {});
      const words = el('span', { class: 'visually-hidden' });
      const button = el(
        'button',
        { type: 'button', title: spokenName(name) },
        canvas,
        score,
        words,
      );
      button.style.setProperty('--layer', String(name.layer));
      button.style.setProperty('--head', String(name.head));
      return { name, button, canvas, score, words, map: undefined };
    });
    this.#headings = headingsOf(layers, heads);
    this.#room.style.setProperty('--heads', String(heads));
    this.#order = '';
  }

  /** @param {ExploreState['sort']} by */
  #sort(by) {
    const scores = this.#scores;
    const order = by === 'place' || !scores ? 'place' : by;
    const changed = `${order} ${this.#run?.run}`;
    if (changed === this.#order) return;
    this.#order = changed;
    const active = document.activeElement;
    const valueOf = (/** @type {number} */ i) => {
      const value = order === 'place' ? 0 : (scores?.[i][order] ?? 0);
      return Number.isNaN(value) ? -Infinity : value;
    };
    const places = this.#tiles.map((_, i) => i).sort((a, b) => valueOf(b) - valueOf(a) || a - b);
    this.#room.replaceChildren(
      ...places.map((i) => this.#tiles[i].button),
      ...(order === 'place' ? this.#headings : []),
    );
    this.#room.dataset.sort = order;
    this.#tiles.forEach(({ name, score }, i) => {
      if (order === 'place') {
        score.replaceChildren();
        return;
      }
      const value = valueOf(i);
      const number = Number.isFinite(value) ? [el('b', {}, value.toFixed(2))] : [];
      score.replaceChildren(...number, shortName(name));
    });
    if (active instanceof HTMLElement && this.#room.contains(active)) active.focus();
  }

  /** @param {Tile} tile */
  #paint({ canvas, map }) {
    if (!map || !this.#run) return;
    const { size, values } = map;
    const ratio = devicePixelRatio || 1;
    const side = Math.round((canvas.clientWidth || 32) * ratio);
    canvas.width = side;
    canvas.height = side;
    const context = canvas.getContext('2d');
    if (!context) return;
    const { n, causal } = this.#run;
    /** @type {[number, number]} */
    const all = [0, n];
    const region = { queries: all, keys: all, height: size, width: size };
    const cells = { ...region, values, largest: largestOfRows(values, size) };
    context.fillStyle = context.createPattern(hatchOf(1), 'repeat') ?? 'transparent';
    context.fillRect(0, 0, side, side);
    context.imageSmoothingEnabled = false;
    const how = { scale: this.#scale, map: largestOf(values), isSigned: false, causal };
    context.drawImage(pictureOf(cells, how), 0, 0, side, side);
  }

  /** Arrows go from head to head. @param {KeyboardEvent} event */
  #key(event) {
    const buttons = [...this.#room.querySelectorAll('button')];
    const at = buttons.findIndex((button) => button === document.activeElement);
    const across =
      buttons.filter(({ offsetTop }) => offsetTop === buttons[0].offsetTop).length || 1;
    /** @type {Record<string, number>} */
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across };
    const next = buttons[at + (steps[event.key] ?? NaN)];
    if (!next) return;
    event.preventDefault();
    next.focus();
    next.click();
  }
}
