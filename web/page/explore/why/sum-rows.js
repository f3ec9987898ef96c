/**
 * Which rows the sum of a logit has: layers are opened into their heads, or the largest parts come first.
 *
 * @import { Signal } from '../../shared/signals.js'
 * @import { Explorer } from '../explorer.js'
 * @import { Part, Stacked } from './sum.js'
 *
 * @typedef {Stacked & { isWithin?: boolean }} Row isWithin: a head below its layer
 */

import { derived, signal } from '../../shared/signals.js';
import { largestFirst, stacked } from './sum.js';

/** Parts that are shown one by one when the largest are first. */
const MOST = 24;

export class SumRows {
  #room;
  /** Layers whose heads are shown one by one. @type {Signal<readonly number[]>} */ #open = signal(
    [],
  );
  /** The part that is pointed at, and of which sum. @type {Signal<{ part?: Stacked, of?: object }>} */
  #pointed = signal({});
  isSorted;

  /** @param {Explorer} room */
  constructor(room) {
    this.#room = room;
    this.isSorted = derived(() => room.shown.value.parts === 'size');
  }

  /** @param {Part[]} parts @returns {Row[]} */
  of(parts) {
    return stacked(this.isSorted.value ? largestFirst(parts, MOST) : parts).flatMap((part) => {
      const within = this.isOpen(part) ? stacked(part.parts ?? [], part.start) : [];
      return [part, ...within.map((one) => ({ ...one, isWithin: true }))];
    });
  }

  /** @param {Part} part */
  isOpen({ kind, layer = 0 }) {
    return kind === 'layer' && this.#open.value.includes(layer);
  }

  /** Chooses a head, and opens or closes a layer. @param {Part} part */
  act({ kind, layer = 0, head = 0 }) {
    if (kind === 'head') this.#room.choices.choose({ layer, head });
    if (kind !== 'layer') return;
    const others = this.#open.peek().filter((one) => one !== layer);
    this.#open.value = others.length < this.#open.peek().length ? others : [...others, layer];
  }

  /** @param {Stacked} part */
  point(part) {
    this.#pointed.value = { part, of: this.#room.attribution.peek() };
  }

  leave = () => void (this.#pointed.value = {});

  /** The part that is pointed at, of the sum that is shown. */
  get pointed() {
    const { part, of } = this.#pointed.value;
    return of === this.#room.attribution.value ? part : undefined;
  }
}
