/**
 * All heads as small maps: a column a head, a row each for the wrapper, the fused module and their difference. One of
 * the maps is chosen; arrow keys move the choice.
 *
 * @import { DrawOptions } from '../../headwise/view.js'
 * @import { MapData, Mode } from '../types.js'
 */

import { drawWeights } from '../../headwise/view.js';
import { el, focusInSight, hasModifier } from '../shared/dom.js';
import { plural } from '../shared/format.js';
import { viewOf } from '../shared/map-view.js';

/** @type {readonly Mode[]} */
export const MODES = ['wrapper', 'fused', 'difference'];

/** @type {Record<string, [heads: number, modes: number]>} */
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** @typedef {{ mode: Mode, head: number }} Choice */

/** @param {Mode} mode @param {number} heads */
const headings = (mode, heads) =>
  ({
    wrapper: ['Wrapper', plural(heads, 'module')],
    fused: ['Fused', '1 module'],
    difference: ['Difference', '|w − f|'],
  })[mode];

export class HeadTable {
  #room;
  #choose;
  #heads = 0;
  /** @type {{ mode: Mode, head: number, button: HTMLButtonElement, canvas: HTMLCanvasElement }[]} */
  #cells = [];

  /** @param {HTMLElement} room @param {(choice: Choice) => void} choose */
  constructor(room, choose) {
    this.#room = room;
    this.#choose = choose;
    room.addEventListener('keydown', (event) => this.#key(event));
  }

  /** How many cells along a side have a pixel each. */
  get resolution() {
    const side = this.#cells[0]?.canvas.clientWidth || 96;
    return Math.floor(side * (devicePixelRatio || 1));
  }

  /** @param {number} count */
  set heads(count) {
    if (count === this.#heads) return;
    this.#heads = count;
    const names = Array.from({ length: count }, (_, head) => el('span', {}, `H${head}`));
    this.#cells = [];
    const rows = MODES.map((mode) => this.#row(mode));
    const top = el(
      'div',
      { class: 'head-names', 'aria-hidden': 'true', translate: 'no' },
      el('span'),
      ...names,
    );
    this.#room.dataset.heads = String(count);
    this.#room.style.setProperty('--heads', String(count));
    this.#room.replaceChildren(top, ...rows);
  }

  /** @param {Mode} mode */
  #row(mode) {
    const buttons = Array.from({ length: this.#heads }, (_, head) => {
      const canvas = el('canvas');
      const label = `Head H${head}: ${mode === 'difference' ? 'wrapper − fused' : mode}`;
      const button = el('button', { type: 'button', 'aria-label': label }, canvas);
      button.addEventListener('click', () => this.#choose({ mode, head }));
      this.#cells.push({ mode, head, button, canvas });
      return button;
    });
    const [name, note] = headings(mode, this.#heads);
    const heading = el('span', { class: 'head-of' }, el('b', {}, name), el('small', {}, note));
    return el('div', { role: 'group', 'aria-label': name, 'data-mode': mode }, heading, ...buttons);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const step = STEPS[event.key];
    const at = this.#cells.findIndex(({ button }) => button === event.target);
    if (!step || at < 0 || hasModifier(event)) return;
    event.preventDefault();
    const count = this.#heads;
    const head = ((at % count) + step[0] + count) % count;
    const row = (Math.floor(at / count) + step[1] + MODES.length) % MODES.length;
    const { button } = this.#cells[row * count + head];
    focusInSight(button);
    button.click();
  }

  /** @param {Choice} choice */
  set chosen(choice) {
    for (const { mode, head, button } of this.#cells) {
      const isChosen = mode === choice.mode && head === choice.head;
      button.setAttribute('aria-pressed', String(isChosen));
      button.tabIndex = isChosen ? 0 : -1;
    }
  }

  /** @param {Choice} place @param {MapData} map @param {DrawOptions['max']} max */
  show({ mode, head }, map, max) {
    const canvas = this.#cells[MODES.indexOf(mode) * this.#heads + head]?.canvas;
    if (!canvas) return;
    const { weights, ...options } = viewOf(map);
    drawWeights(canvas, weights, { ...options, max });
    canvas.dataset.size = String(map.size);
    canvas.dataset.pooled = String(map.size < map.n);
  }
}
