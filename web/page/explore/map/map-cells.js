/**
 * The computed cells of one map: the whole, pooled to the pixels there are, and the part that is looked at, closer. Both
 * stay until something else is looked at, so that moving and zooming only draws.
 *
 * @import { Viewport } from '../address.js'
 * @import { Cells, Region } from '../worker/pool.js'
 *
 * @typedef {Parameters<typeof pictureOf>[1]} How without `map`, which is known here
 * @typedef {Cells & Region & { picture: HTMLCanvasElement }} Layer
 */

import { largestOf, pictureOf } from '../colours.js';
import { newest } from '../newest.js';
import { seenIn } from './seen-weights.js';
import { tellingCell } from './telling-cell.js';
import { regionOf, suffices, wholeOf } from './viewport.js';

export class MapCells {
  #n = 0;
  /** @type {(region: Region) => Promise<Cells & { ms: number }>} */
  #ask = () => Promise.reject(new Error('nothing is shown'));
  /** @type {Omit<How, 'map'>} */
  #how = { scale: 'unit', isSigned: false, causal: true };
  /** @type {Layer | undefined} */ #whole;
  /** @type {Layer | undefined} */ #part;
  /** Counts what is shown, so that late answers to what was shown are dropped. */
  #shown = 0;
  #changed;
  #fail;
  #want;
  /** How often cells were computed: drawing must not ask. */
  computed = 0;
  /** How long the newest took, in milliseconds. */
  ms = 0;

  /**
   * @param {() => void} changed called when there is something new to draw
   * @param {(error: unknown) => void} fail
   */
  constructor(changed, fail) {
    this.#changed = changed;
    this.#fail = fail;
    this.#want = this.#begin();
  }

  /** What is shown now waits for nothing that was asked for what was shown before. */
  #begin() {
    return newest(
      /** @param {Viewport} view @param {number} pixels */
      (view, pixels) => this.#compute(view, pixels),
      this.#fail,
    );
  }

  /**
   * @param {object} map
   * @param {number} map.n
   * @param {(region: Region) => Promise<Cells & { ms: number }>} map.ask
   * @param {Omit<How, 'map'>} map.how
   */
  use({ n, ask, how }) {
    this.#n = n;
    this.#ask = ask;
    this.#how = how;
    this.#shown++;
    this.#want = this.#begin();
    // The old pictures stay until there are new ones, unless they are of another size.
    if (this.#whole && this.#whole.queries[1] !== n) this.#whole = undefined;
    this.#part = undefined;
    this.#isOld = true;
  }

  #isOld = true;

  /** @param {Omit<How, 'map'>} how */
  colour(how) {
    this.#how = how;
    for (const layer of this.layers) {
      layer.picture = pictureOf(layer, { ...how, map: this.largest });
    }
    this.#changed();
  }

  /** From the coarse to the fine. */
  get layers() {
    return [this.#whole, this.#part].filter((layer) => layer !== undefined);
  }

  /** The whole map's largest weight, or distance from zero. */
  get largest() {
    return this.#whole ? largestOf(this.#whole.values) : 0;
  }

  /** The finest layer that has all of a view. @param {Viewport} view */
  #layerOf(view) {
    const covers = (/** @type {[number, number]} */ [first, end], /** @type {number} */ start) =>
      first <= start && end >= Math.min(this.#n, start + view.span);
    return this.layers.findLast(
      ({ queries, keys }) => covers(queries, view.query) && covers(keys, view.key),
    );
  }

  /** What a view holds, as far as it is known. @param {Viewport} view */
  seenIn(view) {
    const layer = this.#layerOf(view);
    return layer && seenIn(layer, view, { ...this.#how, map: this.largest });
  }

  /**
   * The cell of a view that says most.
   *
   * @param {Viewport} view
   * @param {{ query: number, key: number }} chosen a token that is fixed; −1: the best
   */
  tellingIn(view, chosen) {
    const { causal } = this.#how;
    return tellingCell(this.#layerOf(view), view, { n: this.#n, causal }, chosen);
  }

  /**
   * Computes what a view lacks, if anything.
   *
   * @param {Viewport} view
   * @param {number} pixels along a side of it
   * @returns {Promise<void>}
   */
  async want(view, pixels) {
    if (pixels < 1 || this.#n === 0) return;
    if (!this.#isOld && this.#isEnough(view, pixels)) return;
    await this.#want(view, pixels);
  }

  /** @param {Viewport} view @param {number} pixels */
  #isEnough(view, pixels) {
    return this.layers.some((layer) => suffices(layer, view, this.#n, pixels));
  }

  /** @param {Viewport} view @param {number} pixels */
  async #compute(view, pixels) {
    const shown = this.#shown;
    if (this.#isOld) {
      const whole = await this.#cells(regionOf(wholeOf(this.#n), this.#n, pixels));
      if (shown !== this.#shown) return;
      this.#isOld = false;
      this.#whole = this.#layer(whole, largestOf(whole.values));
      this.#changed();
    }
    if (!this.#isEnough(view, pixels)) {
      const part = await this.#cells(regionOf(view, this.#n, pixels));
      if (shown !== this.#shown) return;
      this.#part = this.#layer(part, this.largest);
      this.#changed();
    }
  }

  /** @param {Region} region */
  async #cells(region) {
    this.computed++;
    const cells = await this.#ask(region);
    this.ms = cells.ms;
    return { ...cells, ...region };
  }

  /** @param {Cells & Region} cells @param {number} map the whole map's largest weight @returns {Layer} */
  #layer(cells, map) {
    return { ...cells, picture: pictureOf(cells, { ...this.#how, map }) };
  }
}
