/**
 * All heads as small maps; one of them is chosen.
 *
 * @import { DrawOptions } from '../../headwise/view.js'
 * @import { MapData } from '../types.js'
 */

import { drawWeights } from '../../headwise/view.js';
import { el } from '../shared/dom.js';
import { viewOf } from '../shared/map-view.js';

export class HeadGrid {
  /** @type {HTMLElement} */ #room;
  /** @type {{ button: HTMLButtonElement, canvas: HTMLCanvasElement }[]} */
  #heads = [];
  /** @type {(head: number) => void} */ #choose;

  /** @param {HTMLElement} room @param {(head: number) => void} choose */
  constructor(room, choose) {
    this.#room = room;
    this.#choose = choose;
  }

  /** How many cells along a side have a pixel each. */
  get resolution() {
    const side = this.#heads[0]?.canvas.clientWidth || 96;
    return Math.floor(side * (devicePixelRatio || 1));
  }

  /** @param {number} count */
  set heads(count) {
    if (count === this.#heads.length) return;
    this.#heads = Array.from({ length: count }, (_, head) => {
      const canvas = el('canvas');
      const label = el('span', {}, `Head H${head}`);
      const button = el('button', { type: 'button' }, canvas, label);
      button.addEventListener('click', () => this.#choose(head));
      return { button, canvas };
    });
    this.#room.dataset.heads = String(count);
    this.#room.replaceChildren(...this.#heads.map(({ button }) => button));
  }

  /** @param {number} head */
  set chosen(head) {
    this.#heads.forEach(({ button }, i) => button.setAttribute('aria-pressed', String(i === head)));
  }

  /** @param {number} head @param {MapData} map @param {DrawOptions['max']} max */
  show(head, map, max) {
    const canvas = this.#heads[head]?.canvas;
    if (!canvas) return;
    const { weights, ...options } = viewOf(map);
    drawWeights(canvas, weights, { ...options, max });
    canvas.dataset.size = String(map.size);
    canvas.dataset.pooled = String(map.size < map.n);
  }
}
