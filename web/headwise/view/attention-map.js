import { misfit } from '../checks/error.js';
import { el } from './element.js';
import { Frame } from './frame.js';
import { listenTo } from './gestures.js';
import { listenToKeys } from './keys.js';
import { Layers } from './layers.js';
import { onceAFrame } from './once-a-frame.js';
import { onPixelRatio } from './pixel-ratio.js';
import { checkPins, checkPlace, checkToken, nowhere, orNone } from './place.js';
import { cellAt, placeTip, wordsOf } from './readout.js';
import { readView } from './read-view.js';
import { isPromise } from './source.js';
import { stepOf } from './steps.js';
import { StyledElement, takeOwn } from './styled-element.js';
import { tellingCell } from './telling-cell.js';
import {
  cellOfPoint,
  checkView,
  clamp,
  fit,
  isSeen,
  nearestCell,
  pointOf,
  reveal,
  spansOf,
  wholeOf,
  zoom,
} from './viewport.js';

/** @typedef {import('./paint.js').KnownCells} KnownCells */
/** @typedef {import('./place.js').Pin} Pin */
/** @typedef {import('./place.js').Place} Place */
/** @typedef {import('./read-view.js').Given} Given */
/** @typedef {import('./read-view.js').View} View */
/** @typedef {import('./viewport.js').Viewport} Viewport */

/** What may be set before the element is defined. */
const SETTABLE = /** @type {const} */ (['pinned', 'pins', 'place', 'view', 'zoomable']);

/**
 * `<attention-map>`: one head's weights with token labels on both axes. Hovering or the arrow keys read a cell. A click or
 * Enter chooses its row; with Shift, its column: an event says so, and the page can pin it.
 *
 * The attribute `zoomable` turns zooming on, down to exact weights. Ctrl with the wheel, two fingers, a double click, plus and
 * minus zoom. A drag and the arrow keys move. 0 shows the whole map.
 *
 * The element dispatches the events of AttentionMapEvents.
 */
export class AttentionMap extends StyledElement {
  /** @internal */ static observedAttributes = ['zoomable'];
  /** The view that is shown. */
  #given = /** @type {Given} */ (readView({ weights: { shape: [0, 0], data: [] } }));
  /** The latest read of a trace; earlier ones are dropped. */
  #reading = 0;
  /** What was asked for, which a shorter text may not have; null: the whole. @type {Viewport | null} */
  #wish = null;
  /** The part that is seen. */ #view = wholeOf(this.#size);
  /** The marked place. @type {Readonly<Place>} */ #place = nowhere;
  /** The cell that is read out. @type {Readonly<Place>} */ #said = nowhere;
  /** The cell that keys were at last. @type {Readonly<Place>} */ #kept = nowhere;
  #pinned = -1;
  /** @type {readonly Pin[]} */ #pins = [];
  #tip = el('div', { class: 'map-tip away', part: 'tip', role: 'status', translate: 'no' });
  #frame = new Frame();
  #layers = new Layers(this.#frame.canvas, () => this.#arrived());
  /** Whether cells were wanted while it was hidden. */
  #isPutOff = false;
  #schedule = onceAFrame(() => {
    this.#draw();
    // Shown again before an observer could see that it was hidden.
    if (this.#isPutOff) this.#want();
  });
  /** @type {ResizeObserver | undefined} */ #watch;
  #unwatch = () => {};

  constructor() {
    super();
    /** @type {ShadowRoot} */ (this.shadowRoot).append(this.#frame.element);
    this.#frame.field.append(this.#tip);
    this.#frame.ruler.addEventListener('transitionend', () => this.#recolour());
    this.#frame.name(this.#given.name, false);
    this.#listen();
    takeOwn(this, SETTABLE);
  }

  /** @internal */
  connectedCallback() {
    // Of its own window: in a frame that is removed, another window's observer would fail again and again.
    const { ResizeObserver: Observer } = this.ownerDocument.defaultView ?? {};
    this.#watch = Observer && new Observer(() => this.#resize());
    this.#watch?.observe(this.#frame.ruler);
    this.#unwatch = onPixelRatio(() => this.#resize());
  }

  /** @internal */
  attributeChangedCallback() {
    this.#measure();
    this.#draw();
  }

  /** @internal */
  disconnectedCallback() {
    this.#watch?.disconnect();
    this.#unwatch();
  }

  /**
   * Focuses the cells, which keys move through.
   * @override
   * @param {FocusOptions} [options]
   */
  focus(options) {
    this.#frame.field.focus(options);
  }

  /** The number of cells along a side with one pixel each. */
  get resolution() {
    return this.#frame.resolution;
  }

  /** The canvas, for example for export. */
  get canvas() {
    return this.#frame.canvas;
  }

  /** The largest weight or distance from zero known of the whole map: the end of the scale with `max: 'map'`. */
  get largest() {
    return this.#layers.largest;
  }

  /** The finest cells known for the whole visible part. @returns {KnownCells | undefined} */
  get cells() {
    return this.#layers.of(this.#view);
  }

  /** The attribute `zoomable`: whether pointers and keys zoom. */
  get zoomable() {
    return this.hasAttribute('zoomable');
  }

  /** Sets the attribute. */ set zoomable(can) {
    this.toggleAttribute('zoomable', Boolean(can));
  }

  /** The visible part; null: the whole map. @returns {Viewport | null} */
  get view() {
    return this.#wish && this.#view;
  }

  /** Sets the visible part. @throws {HeadwiseError} ERR_VALUE: not null and not of finite numbers; the view stays */
  set view(view) {
    const wish = orNone(view);
    if (wish !== null) checkView(wish);
    this.#wish = wish;
    this.#view = fit(wish, this.#size);
    this.#frame.field.classList.toggle('closer', wish !== null);
    this.#say();
    this.#schedule();
    this.#want();
  }

  /**
   * The cell whose row and column are marked, or only one of them. Pointer and keyboard set it. You may set it too: then
   * assistive technology is not told.
   * @returns {Place}
   */
  get place() {
    return this.#place;
  }

  /** Sets the marked cell; null: none. @param {Place | null} place @throws {HeadwiseError} ERR_VALUE: not of two integers; it stays */
  set place(place) {
    const to = checkPlace(orNone(place) ?? nowhere);
    if (!this.#isAt(to)) this.#mark(to, 'off');
  }

  /** @param {Place} place */
  #isAt({ query, key }) {
    return query === this.#place.query && key === this.#place.key;
  }

  /** @param {Place} place @param {'polite' | 'off'} live whether the cell is read aloud */
  #mark({ query, key }, live) {
    this.#place = { query, key };
    if (query >= 0 && key >= 0) this.#said = this.#place;
    this.#tip.setAttribute('aria-live', live);
    this.#say();
    this.#schedule();
  }

  /** The token of the pinned row; −1: no row. */
  get pinned() {
    return this.#pinned;
  }

  /** Sets the pinned row; null: none. @param {number | null} row @throws {HeadwiseError} ERR_VALUE: no integer; it stays */
  set pinned(row) {
    this.#pinned = checkToken(orNone(row) ?? -1, 'pinned');
    this.#schedule();
  }

  /** Tokens whose rows or columns are also marked, in addition to `pinned`. @returns {readonly Pin[]} */
  get pins() {
    return this.#pins;
  }

  /** Sets these tokens; null: none. @param {readonly Pin[] | null} pins @throws {HeadwiseError} ERR_VALUE: no array of pins; they stay */
  set pins(pins) {
    this.#pins = checkPins(orNone(pins) ?? []);
    this.#schedule();
  }

  /**
   * Shows a view. It draws weights at once; it draws a trace or cells after reading them.
   *
   * @param {View} view
   * @returns {Promise<void>} resolves when the view is drawn
   * @throws {HeadwiseError} ERR_VALUE: not one of weights, trace and cells, an unknown option, or a bad max or scale;
   *   ERR_SHAPE: weights are not a matrix, or labels are missing. Errors of reading a trace or cells reject the promise
   */
  show(view) {
    const given = readView(view);
    const reading = ++this.#reading;
    if (!isPromise(given)) return this.#open(given);
    return given.then((read) => (reading === this.#reading ? this.#open(read) : undefined));
  }

  /** @param {Given} given */
  #open(given) {
    if (this.#hasCells && given.keyNames.join('\0') !== this.#given.keyNames.join('\0')) {
      this.#place = this.#said = this.#kept = nowhere;
    }
    this.#given = given;
    this.#view = fit(this.#wish, this.#size);
    this.#layers.use(given.source, given.how);
    this.#measure();
    const read = this.#layers.want(this.#view, this.#frame.pixels);
    const redraw = () => {
      this.#draw();
      this.#say();
    };
    redraw();
    return Promise.resolve(read).catch((error) => {
      redraw(); // without the picture of other tokens
      throw error;
    });
  }

  #arrived() {
    this.#draw();
    this.#say();
    this.dispatchEvent(new CustomEvent('drawn'));
  }

  /** Tokens along its sides. */
  get #size() {
    return this.#given.source.size;
  }

  get #map() {
    return { size: this.#size, causal: this.#given.how.causal };
  }

  get #hasCells() {
    return this.#size.queries * this.#size.keys > 0;
  }

  #want() {
    this.#isPutOff = this.#frame.ruler.clientWidth === 0; // hidden: it will be measured
    if (this.#isPutOff) return;
    const { isReading } = this.#layers; // who began to read is told of a failure
    const read = this.#layers.want(this.#view, this.#frame.pixels);
    if (isReading) return;
    read?.catch((error) => {
      const message = String(error);
      this.dispatchEvent(new ErrorEvent('error', { error, message }));
    });
  }

  /** When the colours around it have changed. */
  #recolour() {
    this.#layers.follow();
    this.#frame.recolour();
    this.#schedule();
  }

  /** When its size has changed, or the screen's. */
  #resize() {
    this.#measure();
    this.#layers.follow();
    this.#draw(); // at once: a canvas is empty when its size has changed, and would be seen so
    this.#want();
  }

  #measure() {
    this.#frame.name(this.#given.name, this.zoomable);
    if (this.#hasCells) {
      this.#frame.measure({ ...this.#given, size: this.#size }, this.zoomable);
    }
  }

  #draw() {
    const { queryNames, keyNames } = this.#given;
    this.#frame.draw({
      ...{ size: this.#size, queryNames, keyNames },
      ...{ layers: this.#layers.all, isWaiting: this.#layers.isReading },
      ...{ view: this.#view, place: this.#place, pins: this.#allPins },
    });
  }

  /** @returns {Pin[]} the latest at the end */
  get #allPins() {
    return [{ side: 'query', token: this.#pinned }, ...this.#pins];
  }

  /** @param {Place} place whether both of its tokens are in view */
  #sees({ query, key }) {
    const isIn = (/** @type {Pin} */ pin) => isSeen(this.#view, this.#size, pin);
    return isIn({ side: 'query', token: query }) && isIn({ side: 'key', token: key });
  }

  /** Reads a cell out. */
  #say() {
    const { query, key } = this.#said;
    const isThere = query >= 0 && query < this.#size.queries && key >= 0 && key < this.#size.keys;
    const cell = isThere ? cellAt(this.#layers.all, query, key) : undefined;
    const words = cell ? wordsOf(cell, this.#given) : isThere ? '…' : '';
    if (this.#tip.textContent !== words) this.#tip.textContent = words;
    const isShown = words && this.#place === this.#said && this.#sees(this.#said);
    this.#tip.classList.toggle('away', !isShown);
    if (words) placeTip(this.#tip, pointOf(this.#view, this.#size, this.#said));
  }

  /**
   * The cell that keys act on: the marked cell, else the last cell that keys moved to, else the cell of the latest pins, each
   * if in view; else the first cell or, if the map is zoomable, the most telling cell.
   *
   * @returns {Place}
   */
  get #cell() {
    const isKept = this.#sees(this.#kept);
    const pins = this.#allPins.filter((pin) => isSeen(this.#view, this.#size, pin));
    const chosen = (/** @type {Pin['side']} */ side) => {
      const pin = pins.findLast((one) => one.side === side)?.token ?? -1;
      return [this.#place[side], isKept ? this.#kept[side] : -1, pin].find((at) => at >= 0) ?? -1;
    };
    const cell = { query: chosen('query'), key: chosen('key') };
    if (!this.zoomable) return { query: Math.max(0, cell.query), key: Math.max(0, cell.key) };
    return tellingCell(this.cells, this.#view, this.#map, cell);
  }

  /**
   * Zooms in or out at the cell that keys act on.
   * @param {number} factor below 1: zoom in
   * @throws {HeadwiseError} ERR_VALUE: not a finite number above 0; the view stays
   */
  zoomBy(factor) {
    if (!(factor > 0 && factor < Infinity))
      throw misfit(factor, 'factor', 'a finite number above 0');
    const { x, y } = pointOf(this.#view, this.#size, this.#cell);
    const at = { x: clamp(x, 0, 1), y: clamp(y, 0, 1) };
    this.#move(zoom(this.#view, this.#size, factor, at));
  }

  /** @param {Viewport} view */
  #move(view) {
    this.view = view.span >= this.#size.keys ? null : view;
    this.dispatchEvent(new CustomEvent('view', { detail: this.view }));
  }

  /** @param {Place | null} place */
  #point(place) {
    if (this.#isAt(place ?? nowhere)) return;
    this.#mark(place ?? nowhere, 'polite');
    this.dispatchEvent(new CustomEvent('point', { detail: place }));
  }

  /** @param {Place} cell @param {boolean} [isKey] */
  #pin({ query, key }, isKey = false) {
    const [name, detail] = isKey ? ['pin-key', key] : ['pin', query];
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  #listen() {
    const { field } = this.#frame;
    /** @param {import('./gestures.js').Point} at */
    const cellAtPoint = (at) => cellOfPoint(this.#view, this.#size, at);
    const isKeyed = () => field.matches(':focus-visible');
    listenTo(field, {
      canZoom: () => this.zoomable,
      hover: (at) => this.#hasCells && this.#point(cellAtPoint(at)),
      leave: () => isKeyed() || this.#point(null),
      click: (at, hasShift) => {
        if (!this.#hasCells) return;
        this.#point(cellAtPoint(at));
        this.#pin(cellAtPoint(at), hasShift);
      },
      drag: ({ x, y }) => {
        const { query, key, span } = this.#view;
        const { queries, keys } = spansOf(this.#view, this.#size);
        const moved = { query: query - y * queries, key: key - x * keys, span };
        this.#move(fit(moved, this.#size));
      },
      zoom: (factor, at) => this.#move(zoom(this.#view, this.#size, factor, at)),
    });
    listenToKeys(field, {
      canAct: () => this.#hasCells,
      canZoom: () => this.zoomable,
      move: (key) => this.#step(key),
      pin: (isKey) => this.#pin(this.#cell, isKey),
      turn: (by) => this.dispatchEvent(new CustomEvent('head', { detail: by })),
      zoom: (factor) => this.zoomBy(factor),
      showAll: () => this.#move(wholeOf(this.#size)),
    });
    field.addEventListener('focus', () => {
      if (isKeyed() && this.#place.query < 0 && this.#hasCells) this.#go(this.#cell);
    });
    field.addEventListener('blur', () => this.#point(null));
  }

  /** Moves to the cell that a key leads to. @param {string} key @returns {boolean} whether it leads to one */
  #step(key) {
    const at = this.#cell;
    const to = stepOf(key, at, cellAt(this.#layers.all, at.query, at.key), this.#map);
    if (to) this.#go(to);
    return to !== undefined;
  }

  /** @param {Place} place */
  #go(place) {
    const cell = nearestCell(this.#size, place);
    const view = reveal(this.#view, this.#size, cell);
    if (view.query !== this.#view.query || view.key !== this.#view.key) this.#move(view);
    this.#kept = cell;
    this.#point(cell);
  }
}
