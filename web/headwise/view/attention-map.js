import { checkOptions } from '../checks/check.js';
import { HeadwiseError } from '../checks/error.js';
import { cellOf, tokensOf } from './cells.js';
import { drawOptions, isMasked, paint, pictureOf } from './draw-weights.js';
import { el } from './element.js';
import { formatWeight } from './format.js';
import { showLabels } from './labels.js';
import { checkSource, readTrace } from './source.js';
import { style } from './style.js';

/** @typedef {import('./draw-weights.js').Weights} Weights */
/** @typedef {import('./draw-weights.js').DrawOptions} DrawOptions */
/** @typedef {import('./draw-weights.js').Picture} Picture */
/** @typedef {import('./source.js').TraceLike} TraceLike */

/**
 * What is to be seen, `weights` or a `trace`, and its names.
 * @typedef {object} ViewSource
 * @property {Weights} [weights] one head's, a Tensor [Lq, Lkv]
 * @property {TraceLike} [trace] what `forward(x, { trace: true })` returns, here or in a Worker; pooled where it has more
 *   weights than the element has pixels
 * @property {number} [batch] of the trace; default 0
 * @property {number} [head] of the trace; default 0
 * @property {readonly string[]} [tokens] labels of the keys, and of the queries, which are the last of them; default:
 *   numbers
 * @property {readonly string[]} [queryTokens] labels of the queries, if they are others
 * @property {string} [name] for those who do not see it; default 'Attention weights'
 * @property {string} [noun] what a value is called; default 'weight'
 */

/**
 * What the element draws, and how.
 * @typedef {ViewSource & DrawOptions} View
 */

const viewOptions = /** @type {const} */ ([
  ...['weights', 'trace', 'batch', 'head', 'tokens', 'queryTokens', 'name', 'noun'],
  ...drawOptions,
]);

const PAGE = 10;

/**
 * The element's own events.
 * @typedef {object} AttentionMapEvents
 * @property {CustomEvent<number>} pin a row was clicked, or Enter pressed: `detail` is its token
 * @property {CustomEvent<-1 | 1>} head `[` or `]` was pressed: `detail` says which way
 */
/**
 * How to listen to them.
 * @typedef {<Name extends keyof AttentionMapEvents>(type: Name, listener: (event: AttentionMapEvents[Name]) => unknown,
 *   options?: boolean | AddEventListenerOptions) => void} Listening
 */
/**
 * What an element has beside what every one has.
 * @typedef {object} HasEvents
 * @property {Listening} addEventListener listens to `pin` or `head`, or to any element's event
 * @property {Listening} removeEventListener listens no more
 */

/** On a server there are no elements; the class is there all the same. */
const Base = /** @type {new () => HasEvents & HTMLElement} */ (globalThis.HTMLElement ?? class {});

/**
 * `<attention-map>`: one head's weights with token labels on both axes. A cell is read by hovering or by arrow keys; a
 * click or Enter pins its row.
 *
 * Events: `pin`, with `detail` the row (a token), and `head`, with `detail` −1 or 1 for the `[` and `]` keys.
 */
export class AttentionMap extends Base {
  /** @type {View} */ #view = {};
  /** @type {Picture | undefined} */ #picture;
  /** @type {readonly string[]} */ #rowNames = [];
  /** @type {readonly string[]} */ #columnNames = [];
  #row = 0;
  #column = 0;
  #pinned = -1;
  /** The latest read of a trace; earlier ones are dropped. */
  #reading = 0;
  #resolution = 0;
  #canvas = el('canvas', { part: 'canvas' });
  #rowLabels = el('div', { class: 'labels rows', 'aria-hidden': 'true' });
  #columnLabels = el('div', { class: 'labels columns', 'aria-hidden': 'true' });
  #cursor = el('div', { class: 'cell-cursor', hidden: true });
  #pin = el('div', { class: 'row-pin', hidden: true });
  #tip = el('div', { class: 'map-tip', part: 'tip', role: 'status' });
  #field = el(
    'div',
    {
      class: 'map-field',
      part: 'field',
      role: 'application',
      tabindex: 0,
      'aria-roledescription': 'attention map',
    },
    this.#canvas,
    this.#pin,
    this.#cursor,
  );
  #watch = new ResizeObserver(() => this.#resized());

  constructor() {
    super();
    const hide = { 'aria-hidden': 'true' };
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    const shadow = this.attachShadow({ mode: 'open' });
    shadow.adoptedStyleSheets = [sheet];
    shadow.append(
      el('div', { class: 'axis key-axis', ...hide }, 'key (attended to)'),
      this.#columnLabels,
      el('div', { class: 'axis query-axis', ...hide }, 'query (attends from)'),
      this.#rowLabels,
      this.#field,
      this.#tip,
    );
    this.#listen();
  }

  /** @internal */
  connectedCallback() {
    this.#watch.observe(this.#field);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', this.#repaint);
  }

  /** @internal */
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

  /**
   * Draws weights at once, a trace when it was read.
   *
   * @param {View} view
   * @returns {Promise<void>} when it is drawn
   * @throws {HeadwiseError} ERR_VALUE: neither weights nor a trace, or both, an unknown option, or a bad max or scale; ERR_SHAPE: weights are no matrix. What
   *   reading a trace throws rejects
   */
  show(view) {
    const given = checkOptions(view, viewOptions, 'show', 'view');
    checkSource(given);
    this.#view = given;
    this.#reading++;
    if (given.trace) return this.#read(given.trace);
    this.#take(pictureOf(/** @type {Weights} */ (given.weights), given));
    return Promise.resolve();
  }

  /**
   * The token whose row is marked, −1 for none.
   * @param {number} row
   */
  set pinned(row) {
    this.#pinned = row;
    this.#placePin();
  }

  /** The token whose row is marked, −1 for none. */
  get pinned() {
    return this.#pinned;
  }

  /** @param {TraceLike} trace */
  async #read(trace) {
    const view = this.#view;
    const reading = this.#reading;
    this.#resolution = this.resolution;
    const { weights, queries, keys } = await readTrace(trace, view, this.#resolution);
    if (reading === this.#reading) this.#take(pictureOf(weights, { ...view, queries, keys }));
  }

  /** @param {Picture} picture */
  #take(picture) {
    this.#picture = picture;
    this.#nameTokens(picture);
    this.#row = Math.min(this.#row, picture.rows - 1);
    this.#column = Math.min(this.#column, picture.columns - 1);
    const { name = 'Attention weights' } = this.#view;
    this.#field.setAttribute(
      'aria-label',
      `${name}. Arrow keys move the cell, Enter pins its row.`,
    );
    this.#field.style.setProperty('--aspect', String(aspectOf(picture)));
    this.#repaint();
    if (!this.#cursor.hidden) this.#place(this.#row, this.#column);
  }

  /** @param {Picture} picture */
  #nameTokens({ queries, keys }) {
    const numbers = Array.from({ length: Math.max(queries, keys) }, (_, i) => String(i + 1));
    const { tokens = numbers } = this.#view;
    const { queryTokens = tokens.slice(Math.max(0, keys - queries)) } = this.#view;
    for (const [what, names, count] of /** @type {const} */ ([
      ['tokens', tokens, keys],
      ['queryTokens', queryTokens, queries],
    ])) {
      if (names.length < count) {
        const found = `${what} has ${names.length} labels`;
        throw new HeadwiseError('ERR_SHAPE', `${found}; expected one for each of ${count} tokens`);
      }
    }
    if (names(this.#columnNames) !== names(tokens)) {
      this.#row = 0;
      this.#column = 0;
      this.#cursor.hidden = true;
      this.#tip.textContent = '';
    }
    this.#rowNames = queryTokens;
    this.#columnNames = tokens;
  }

  #resized() {
    const { trace } = this.#view;
    // What another element's size cannot show is not read again, nor what is as large as before.
    if (trace && this.resolution !== this.#resolution && this.#field.clientWidth > 0) {
      this.#read(trace).catch(() => {});
    }
    this.#repaint();
  }

  #repaint = () => {
    const { clientWidth: width, clientHeight: height } = this.#field;
    if (!this.#picture || width === 0) return;
    const { rows, queries, keys } = this.#picture;
    paint(this.#canvas, this.#picture);
    this.#canvas.dataset.size = String(rows);
    const room = showLabels(
      { element: this.#columnLabels, names: this.#columnNames.slice(0, keys), length: width },
      { element: this.#rowLabels, names: this.#rowNames.slice(0, queries), length: height },
    );
    this.style.setProperty('--label-ch', String(room));
    this.#placePin();
  };

  #placePin() {
    const n = this.#picture?.queries ?? 0;
    this.#pin.hidden = this.#pinned < 0 || this.#pinned >= n;
    this.#pin.style.top = `${(100 * this.#pinned) / n}%`;
    this.#pin.style.height = `${100 / n}%`;
  }

  /**
   * Reads a cell out.
   *
   * @param {number} row
   * @param {number} column
   */
  #place(row, column) {
    if (!this.#picture) return;
    const { rows, columns } = this.#picture;
    this.#row = Math.max(0, Math.min(rows - 1, row));
    this.#column = Math.max(0, Math.min(columns - 1, column));
    this.#cursor.hidden = false;
    this.#cursor.style.top = `${(100 * this.#row) / rows}%`;
    this.#cursor.style.left = `${(100 * this.#column) / columns}%`;
    this.#cursor.style.width = `${100 / columns}%`;
    this.#cursor.style.height = `${100 / rows}%`;
    this.#tip.textContent = this.#words(this.#picture);
  }

  /** @param {Picture} picture */
  #words(picture) {
    const { rows, columns, queries, keys, values } = picture;
    const { noun = 'weight' } = this.#view;
    /** @param {[number, number]} tokens @param {readonly string[]} labels */
    const name = ([start, end], labels) =>
      end - start === 1 ? `“${labels[start]}” (${start + 1})` : `tokens ${start + 1} to ${end}`;
    const query = name(tokensOf(queries, rows, this.#row), this.#rowNames);
    const key = name(tokensOf(keys, columns, this.#column), this.#columnNames);
    const number = formatWeight(values[this.#row * columns + this.#column]);
    const pooled = rows < queries || columns < keys;
    const what = isMasked(picture, this.#row, this.#column)
      ? 'masked: a later token'
      : `${pooled ? `largest ${noun} ` : noun === 'weight' ? '' : `${noun} `}${number}`;
    return `${query} → ${key}: ${what}`;
  }

  #listen() {
    const field = this.#field;
    /**
     * @param {PointerEvent | MouseEvent} event
     * @returns {[number, number]}
     */
    const cellAt = (event) => {
      const box = field.getBoundingClientRect();
      const { rows, columns } = this.#picture ?? { rows: 0, columns: 0 };
      return [
        Math.floor(((event.clientY - box.top) / box.height) * rows),
        Math.floor(((event.clientX - box.left) / box.width) * columns),
      ];
    };
    field.addEventListener('pointermove', (event) => this.#place(...cellAt(event)));
    field.addEventListener('pointerleave', () => {
      if (this.shadowRoot?.activeElement !== field) this.#cursor.hidden = true;
    });
    field.addEventListener('click', (event) => {
      this.#place(...cellAt(event));
      this.#pinHere();
    });
    field.addEventListener('focus', () => {
      if (!field.matches(':focus-visible') || !this.#picture) return;
      if (this.#cursor.hidden && this.#pinned >= 0) {
        this.#row = cellOf(this.#picture.queries, this.#picture.rows, this.#pinned);
      }
      this.#place(this.#row, this.#column);
    });
    field.addEventListener('blur', () => {
      this.#cursor.hidden = true;
    });
    field.addEventListener('keydown', (event) => this.#key(event));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (!this.#picture || event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.#picture.columns - 1;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowUp: () => this.#place(this.#row - 1, this.#column),
      ArrowDown: () => this.#place(this.#row + 1, this.#column),
      ArrowLeft: () => this.#place(this.#row, this.#column - 1),
      ArrowRight: () => this.#place(this.#row, this.#column + 1),
      PageUp: () => this.#place(this.#row - PAGE, this.#column),
      PageDown: () => this.#place(this.#row + PAGE, this.#column),
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
    if (!this.#picture) return;
    const [row] = tokensOf(this.#picture.queries, this.#picture.rows, this.#row);
    this.dispatchEvent(new CustomEvent('pin', { detail: row }));
  }
}

/** @param {readonly string[]} labels */
const names = (labels) => labels.join('\0');

/**
 * Width by height: square cells, unless that would be a thread.
 *
 * @param {Picture} picture
 */
const aspectOf = ({ queries, keys }) => Math.max(0.5, Math.min(8, keys / queries));
