import { isDark, largestOf, pictureOf } from './paint.js';
import { isPromise } from './source.js';
import { covers, regionOf, suffices, wholeOf } from './viewport.js';

/** @typedef {import('./draw-weights.js').How} How */
/** @typedef {import('./paint.js').KnownCells} KnownCells */
/** @typedef {import('./pool.js').Region} Region */
/** @typedef {import('./source.js').Source} Source */
/** @typedef {import('./viewport.js').Sides} Sides */
/** @typedef {import('./viewport.js').Viewport} Viewport */
/** @typedef {KnownCells & { picture: HTMLCanvasElement }} Layer */

/** @param {{ values: ArrayLike<number>, height: number, width: number }} cells */
const largestOfRows = ({ values, height, width }) =>
  Float32Array.from({ length: height }, (_, row) =>
    largestOf(Array.prototype.slice.call(values, row * width, (row + 1) * width)),
  );

/**
 * What a source throws, its answer rejects with.
 * @param {Source} source
 * @param {Region} region
 */
function answerOf(source, region) {
  try {
    return source.ask(region);
  } catch (error) {
    return Promise.reject(error);
  }
}

/**
 * The computed cells of one map: the whole, pooled to the pixels there are, and the part that is looked at, closer. Both
 * stay until something else is looked at, so that moving and zooming only draws.
 */
export class Layers {
  #canvas;
  #changed;
  /** @type {Source | undefined} */ #source;
  /** @type {How} */ #how = { causal: false, max: 1, scale: 'linear', signed: false };
  /** @type {Layer | undefined} */ #whole;
  /** @type {Layer | undefined} */ #part;
  /** Whether the whole is still that of the source before. */
  #isOld = true;
  /** @type {Promise<void> | undefined} */ #reading;
  /** Whether the pictures are for a dark page. */
  #dark = false;
  /** The visible part. @type {Viewport} */ #view = { query: 0, key: 0, span: 0 };
  /** @type {Sides} */ #pixels = { queries: 1, keys: 1 };

  /**
   * @param {HTMLCanvasElement} canvas where they are drawn: its colours are theirs
   * @param {() => void} changed called when there is something new to draw
   */
  constructor(canvas, changed) {
    this.#canvas = canvas;
    this.#changed = changed;
  }

  /** Shows something else, or the same in other colours. @param {Source} source @param {How} how */
  use(source, how) {
    this.#how = how;
    const { size, key } = this.#source ?? {};
    const isAsLarge = size?.queries === source.size.queries && size.keys === source.size.keys;
    if (isAsLarge && key !== undefined && key === source.key) {
      this.#colour();
      return;
    }
    // The old picture stays until there is a new one, unless it is of another size.
    if (!isAsLarge) this.#whole = undefined;
    this.#source = source;
    this.#reading = undefined;
    this.#part = undefined;
    this.#isOld = true;
  }

  #colour() {
    for (const layer of this.all) layer.picture = this.#pictureOf(layer);
  }

  /** Colours it anew if the page around it has become dark, or light: what is not in a page knows no colours. */
  follow() {
    if (this.#how.signed && isDark(this.#canvas) !== this.#dark) this.#colour();
  }

  /** Whether cells are on their way. */
  get isReading() {
    return this.#reading !== undefined;
  }

  /** From the coarse to the fine. */
  get all() {
    return [this.#whole, this.#part].filter((layer) => layer !== undefined);
  }

  /** The whole map's largest weight, or distance from zero. */
  get largest() {
    return this.#whole ? largestOf(this.#whole.values) : 0;
  }

  /** The finest layer that has all of a view. @param {Viewport} view */
  of(view) {
    const size = this.#source?.size;
    return size && this.all.findLast((layer) => covers(layer, view, size));
  }

  /**
   * Computes what a view lacks, if anything: at once where the source has it at hand.
   *
   * @param {Viewport} view
   * @param {Sides} pixels along its sides
   * @returns {Promise<void> | undefined}
   */
  want(view, pixels) {
    this.#view = view;
    this.#pixels = pixels;
    this.#reading ??= this.#read();
    return this.#reading;
  }

  /** @returns {Promise<void> | undefined} */
  #read() {
    const source = this.#source;
    for (let region = this.#missing(); source && region; region = this.#missing()) {
      const asked = region;
      const cells = answerOf(source, region);
      if (isPromise(cells)) return this.#wait(source, asked, cells);
      this.#take({ ...asked, ...cells });
    }
    return undefined;
  }

  /**
   * @param {Source} source
   * @param {Region} region
   * @param {PromiseLike<import('./source.js').Answer>} answer
   */
  async #wait(source, region, answer) {
    try {
      const cells = await answer;
      if (source === this.#source) this.#take({ ...region, ...cells });
    } catch (error) {
      // Ignore errors of a source that is no longer shown.
      if (source !== this.#source) return;
      if (this.#isOld) this.#whole = undefined; // of another source
      throw error;
    } finally {
      if (source === this.#source) this.#reading = undefined;
    }
    if (source === this.#source) await this.want(this.#view, this.#pixels);
  }

  /** The region to compute next. @returns {Region | undefined} */
  #missing() {
    const source = this.#source;
    if (!source || source.size.queries * source.size.keys === 0) return undefined;
    const { size } = source;
    if (this.#isOld) return regionOf(wholeOf(size), size, this.#pixels);
    const isEnough =
      source.isFixed || this.all.some((layer) => suffices(layer, this.#view, size, this.#pixels));
    return isEnough ? undefined : regionOf(this.#view, size, this.#pixels);
  }

  /** @param {Region & import('./source.js').Answer} cells */
  #take(cells) {
    const known = { ...cells, largest: cells.largest ?? largestOfRows(cells) };
    const layer = { ...known, picture: this.#canvas };
    const { size } = /** @type {Source} */ (this.#source);
    const isWhole = this.#isOld || covers(cells, wholeOf(size), size);
    if (isWhole) this.#whole = layer;
    this.#part = isWhole ? undefined : layer;
    this.#isOld = false;
    layer.picture = this.#pictureOf(layer);
    this.#changed();
  }

  /** @param {KnownCells} cells */
  #pictureOf(cells) {
    const size = this.#source?.size ?? { queries: 0, keys: 0 };
    const dark = this.#how.signed && isDark(this.#canvas);
    this.#dark = dark;
    return pictureOf(cells, this.#how, { size, largest: this.largest, dark });
  }
}
