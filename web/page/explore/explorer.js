/**
 * Keeps the room's views together: what the store says is computed and drawn, and only what changed.
 *
 * @import { ExploreState, HeadName, Pin } from './address.js'
 * @import { ExploreStore } from './slice.js'
 */

import { byId } from '../dom.js';
import { formatBytes, formatTime, plural } from '../format.js';
import { isSameHead } from './address.js';
import { createControls, titleOf } from './controls.js';
import { Focus } from './focus.js';
import { HeadGrid } from './grid.js';
import { createHelp, listenToKeys } from './keyboard.js';
import { showMapLegend } from './legend.js';
import { LinesView } from './lines.js';
import { Maps, whatOf } from './maps.js';
import { filesOf } from './models.js';
import { newest } from './newest.js';
import { showNextTokens } from './next-token.js';
import { createPins } from './pins.js';
import { Session } from './session.js';
import { showTable, TABLE_TOKENS } from './table-view.js';
import { connectText, textOf } from './text-controls.js';
import { TextView } from './text-view.js';

/** Errors that only say that something newer is under way. */
const SUPERSEDED = ['ERR_STALE', 'ERR_DISPOSED', 'ERR_CANCELLED'];

const CLOSER = 0.5;

/** @param {Pin} a @param {Pin} b */
const isSamePin = (a, b) => a.side === b.side && a.token === b.token;

/** @param {number} value @param {number} count */
const around = (value, count) => (value + count) % count;

export class Explorer {
  #room;
  #store;
  #session = new Session();
  #focus = new Focus();
  #message = byId('explore-message', HTMLElement);
  #details = byId('explore-table', HTMLDetailsElement);
  #sort = byId('explore-sort', HTMLSelectElement);
  #text;
  #textControls;
  #grid;
  #maps;
  #lines;
  #pins;
  #controls;
  #read;
  #drawLine;
  #drawNext;

  /**
   * @param {HTMLElement} room
   * @param {ExploreStore} store
   */
  constructor(room, store) {
    this.#room = room;
    this.#store = store;
    const focus = this.#focus;
    const session = this.#session;
    const pin = (/** @type {Pin} */ chosen) => this.#toggle(chosen);
    const fail = (/** @type {unknown} */ error) => this.#fail(error);
    const place = (/** @type {string} */ id) => byId(`explore-${id}`, HTMLElement);
    this.#textControls = connectText(store);
    this.#text = new TextView(place('text'), focus, pin);
    this.#grid = new HeadGrid(place('grid'), session, (name, hasShift) =>
      store.set(hasShift ? { other: name } : { ...name, of: 'head' }),
    );
    const view = (/** @type {ExploreState['view']} */ next) => store.set({ view: next });
    this.#maps = new Maps(place('maps'), session, focus, { pin, fail, view });
    this.#lines = new LinesView(place('lines'), focus, pin, fail);
    this.#pins = createPins(place('pins'), focus, { turn: (old) => this.#turn(old), unpin: pin });
    this.#controls = createControls(place('controls'), store, () => this.#mute());
    this.#read = newest(() => this.#readText(), fail);
    this.#drawLine = newest(() => this.#showLine(), fail);
    this.#drawNext = newest(() => this.#showNext(), fail);
    this.#listen();
  }

  /** @returns {Promise<void>} */
  async start() {
    this.#store.subscribe((after, before) => this.#changed(after, before));
    this.#store.onShown(() => this.#drawAll());
    await this.#open();
  }

  #listen() {
    this.#focus.subscribe(() => this.#drawLine());
    this.#sort.addEventListener('change', () =>
      this.#store.set({ sort: /** @type {ExploreState['sort']} */ (this.#sort.value) }),
    );
    this.#details.addEventListener('toggle', () => this.#drawLine());
    const zoom = (/** @type {string} */ id, /** @type {() => void} */ act) =>
      byId(`explore-${id}`, HTMLButtonElement).addEventListener('click', act);
    zoom('closer', () => this.#maps.zoomBy(CLOSER));
    zoom('farther', () => this.#maps.zoomBy(1 / CLOSER));
    zoom('whole', () => this.#store.set({ view: null }));
    const help = createHelp(this.#room);
    byId('explore-help', HTMLButtonElement).addEventListener('click', help);
    listenToKeys(this.#room, {
      '[': () => this.#turnHead(-1),
      ']': () => this.#turnHead(1),
      '{': () => this.#turnLayer(-1),
      '}': () => this.#turnLayer(1),
      p: () => this.#pinPlace('query'),
      k: () => this.#pinPlace('key'),
      x: () => this.#store.set({ pins: [] }),
      m: () => this.#mute(),
      '?': help,
    });
  }

  // What is chosen

  /** The state as far as the run has it: a layer, a head or a token that is not there is none. */
  #state() {
    const state = this.#store.get();
    const { layers = 1, heads = 1, n = 0 } = this.#session.run ?? {};
    const has = (/** @type {HeadName} */ name) => name.layer < layers && name.head < heads;
    return {
      ...state,
      layer: Math.min(state.layer, layers - 1),
      head: Math.min(state.head, heads - 1),
      other: state.other && has(state.other) ? state.other : null,
      muted: state.muted.filter(has),
      pins: state.pins.filter(({ token }) => token < n),
    };
  }

  /** What text and panel are about: what is pointed at, else the last pin, else the last token. @returns {Pin} */
  #subject() {
    const { query, key } = this.#focus.place;
    if (query >= 0) return { side: 'query', token: query };
    if (key >= 0) return { side: 'key', token: key };
    const { pins } = this.#state();
    const last = { side: /** @type {const} */ ('query'), token: (this.#session.run?.n ?? 1) - 1 };
    return pins[pins.length - 1] ?? last;
  }

  /** @param {Pin} pin */
  #toggle(pin) {
    const { pins } = this.#state();
    const others = pins.filter((other) => !isSamePin(other, pin));
    this.#store.set({ pins: others.length < pins.length ? others : [...pins, pin] });
  }

  /** @param {Pin} pin shows its other side */
  #turn(pin) {
    const { pins } = this.#state();
    const turned = {
      ...pin,
      side: /** @type {Pin['side']} */ (pin.side === 'query' ? 'key' : 'query'),
    };
    const others = pins.filter((other) => !isSamePin(other, turned));
    const at = others.findIndex((other) => isSamePin(other, pin));
    this.#store.set({
      pins: at < 0 ? [...others, turned] : others.map((other, i) => (i === at ? turned : other)),
    });
  }

  /** @param {Pin['side']} side */
  #pinPlace(side) {
    const token = this.#focus.place[side];
    if (token >= 0) this.#toggle({ side, token });
  }

  /** @param {number} by */
  #turnHead(by) {
    const order = this.#grid.order;
    const at = order.findIndex((name) => isSameHead(name, this.#state()));
    if (order.length > 0) {
      this.#store.set({ ...order[around(at + by, order.length)], of: 'head' });
    }
  }

  /** @param {number} by */
  #turnLayer(by) {
    const { layers = 1 } = this.#session.run ?? {};
    this.#store.set({ layer: around(this.#state().layer + by, layers) });
  }

  #mute() {
    const { muted, layer, head } = this.#state();
    const others = muted.filter((name) => !isSameHead(name, { layer, head }));
    this.#store.set({
      muted: others.length < muted.length ? others : [...muted, { layer, head }],
    });
  }

  // What is computed

  /** @param {ExploreState} after @param {ExploreState} before */
  #changed(after, before) {
    const differs = (/** @type {(keyof ExploreState)[]} */ ...keys) =>
      keys.some((key) => after[key] !== before[key]);
    this.#textControls.show(after);
    if (differs('model')) {
      this.#open();
      return;
    }
    if (differs('text', 'added', 'muted')) {
      this.#read();
      return;
    }
    if (!this.#session.run) return;
    const state = this.#state();
    if (differs('layer', 'head', 'other', 'sort')) this.#grid.mark(state);
    if (differs('scale')) this.#grid.colour(state.scale);
    if (differs('view')) this.#maps.view = state.view;
    if (differs('layer', 'head', 'of', 'over', 'other', 'scale', 'hideFirst')) this.#drawMaps();
    if (differs('pins')) this.#drawPins();
    if (differs('topP')) this.#drawLines();
  }

  async #open() {
    const { model } = this.#store.get();
    this.#textControls.show(this.#store.get());
    this.#room.setAttribute('aria-busy', 'true');
    try {
      const files = filesOf(model);
      if (!files) throw new Error(`There is no model "${model}" here.`);
      await this.#session.open(files, ({ fraction, label = 'Loading' }) =>
        this.#say(`${label} … ${Math.round(100 * fraction)} %`),
      );
      if (model !== this.#store.get().model) return;
      await this.#read();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#room.removeAttribute('aria-busy');
    }
  }

  async #readText() {
    const state = this.#store.get();
    await this.#session.read(textOf(state), state);
    this.#say('');
    await this.#drawAll();
  }

  // What is drawn

  async #drawAll() {
    const { run } = this.#session;
    if (!run || this.#room.hidden) return;
    const state = this.#state();
    this.#textControls.count(run, this.#session);
    this.#text.show(run.tokens, state.added.length);
    this.#showCost();
    await Promise.all([this.#drawMaps(), this.#drawPins(), this.#drawNext()]);
    await this.#grid.show(run, state);
    this.#room.dataset.run = String(run.run);
    this.#grid.showScores(await this.#session.scores(), this.#state());
    this.#room.dataset.scored = String(run.run);
  }

  #showCost() {
    const { run, model } = this.#session;
    if (!run || !model) return;
    const { n, layers, heads, ms, bytes } = run;
    byId('explore-cost', HTMLElement).textContent =
      `${plural(n, 'token')}, ${layers} × ${heads} heads: read in ${formatTime(ms)}; ` +
      `all maps from ${formatBytes(bytes)} (${formatBytes(4 * layers * heads * n * n)} as matrices)`;
  }

  async #drawMaps() {
    const { run } = this.#session;
    if (!run) return;
    const state = this.#state();
    this.#controls.show(state, run);
    this.#sort.value = state.sort;
    this.#room.classList.toggle('comparing', state.other !== null);
    await Promise.all([this.#maps.show(run, state), this.#drawLine(), this.#drawLines()]);
    showMapLegend(byId('explore-legend', HTMLElement), state, {
      largest: this.#maps.largest,
      causal: run.causal,
    });
  }

  async #drawLines() {
    const { run } = this.#session;
    if (!run) return;
    const state = this.#state();
    const what = whatOf(state);
    await this.#lines.show({
      tokens: run.tokens,
      topP: state.topP,
      row: (query) => this.#session.row(what, query),
      name: titleOf(state),
    });
  }

  async #drawPins() {
    const { pins } = this.#state();
    this.#maps.pins = pins;
    this.#text.pins = pins;
    this.#lines.pins = pins;
    const last = pins[pins.length - 1];
    if (last) this.#lines.reveal(last.token);
    await Promise.all([this.#drawLine(), this.#drawNext()]);
  }

  /** The text's tint, the pins' cards and the table. */
  async #showLine() {
    const { run } = this.#session;
    if (!run) return;
    const state = this.#state();
    const what = whatOf(state);
    const subject = this.#subject();
    const pins = state.pins.length > 0 ? state.pins : [subject];
    const [line, ...lines] = await Promise.all(
      [subject, ...pins].map((pin) => this.#session.line(what, pin)),
    );
    if (run !== this.#session.run) return;
    this.#text.tint(line, subject.token);
    const name = `“${run.tokens[subject.token].text}” (${subject.token + 1})`;
    byId('explore-text-note', HTMLElement).textContent =
      subject.side === 'query'
        ? `Tinted: what ${name} attends to. ${titleOf(state)}.`
        : `Tinted: who attends to ${name}. ${titleOf(state)}.`;
    this.#pins.show(
      run.tokens,
      pins.map((pin, i) => ({ pin, weights: lines[i], isPinned: state.pins.length > 0 })),
    );
    if (this.#details.open) await this.#showTable(subject, line);
  }

  /** @param {Pin} pin @param {Float32Array} line */
  async #showTable(pin, line) {
    const { run } = this.#session;
    if (!run) return;
    const state = this.#state();
    const { n } = run;
    /** @type {[number, number]} */
    const all = [0, n];
    const region = { queries: all, keys: all, height: n, width: n };
    const whole =
      n <= TABLE_TOKENS
        ? (await this.#session.region('table', whatOf(state), region)).values
        : undefined;
    const room = /** @type {HTMLElement} */ (this.#details.querySelector('.table-room'));
    showTable(room, run, { title: titleOf(state), whole, pin, line });
  }

  async #showNext() {
    const { run } = this.#session;
    if (!run) return;
    const { pins } = this.#state();
    const pinned = pins.filter(({ side }) => side === 'query').pop();
    const at = pinned?.token ?? run.n - 1;
    const predictions = await this.#session.predict(at);
    if (run !== this.#session.run) return;
    const room = byId('explore-next', HTMLElement);
    showNextTokens(room, { token: run.tokens[at], at, predictions, muted: run.muted });
  }

  // What is said

  /** @param {string} words @param {boolean} [isError] */
  #say(words, isError = false) {
    this.#message.textContent = words;
    this.#message.classList.toggle('error', isError);
  }

  /** @param {unknown} error */
  #fail(error) {
    const { code = '', message } = /** @type {{ code?: string, message: string }} */ (error);
    if (SUPERSEDED.includes(code)) return;
    const still = this.#session.run ? ' Below is still the last text that could be read.' : '';
    this.#say(message + still, true);
  }
}
