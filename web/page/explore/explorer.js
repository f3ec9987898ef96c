/**
 * Keeps the room's views together: what the store says is computed and drawn, and only what changed.
 *
 * @import { ExploreState, Pin } from './address.js'
 * @import { HeadScores } from './scores.js'
 * @import { ExploreStore } from './slice.js'
 */

import { byId } from '../dom.js';
import { longName } from './address.js';
import { Choices } from './choices.js';
import { connectContinue } from './continue.js';
import { connectExport } from './export/panel.js';
import { createControls, titleOf } from './controls.js';
import { showCost, showSeen } from './costs.js';
import { Focus } from './focus.js';
import { HeadGrid } from './grid.js';
import { createHelp, listenToKeys } from './keyboard.js';
import { createLegend } from './legend.js';
import { LinesView } from './lines.js';
import { Maps, whatOf } from './maps.js';
import { filesOf } from './model-files.js';
import { newest } from './newest.js';
import { connectOpen } from './open/panel.js';
import { showNextTokens } from './next-token.js';
import { createPins } from './pins.js';
import { showScores } from './score-list.js';
import { Session } from './session.js';
import { showTable, TABLE_TOKENS } from './table-view.js';
import { createTellingHeads } from './telling-heads.js';
import { connectText, textOf } from './text-controls.js';
import { TextView } from './text-view.js';

/** Errors that only say that something newer is under way. */
const SUPERSEDED = ['ERR_STALE', 'ERR_DISPOSED', 'ERR_CANCELLED'];

const CLOSER = 0.5;

export class Explorer {
  #room;
  #store;
  #session = new Session({ lost: (error) => this.#recover(error) });
  #focus = new Focus();
  #message = byId('explore-message', HTMLElement);
  #details = byId('explore-table', HTMLDetailsElement);
  #sort = byId('explore-sort', HTMLSelectElement);
  #share = byId('explore-topp', HTMLInputElement);
  #choices;
  #text;
  #textControls;
  #grid;
  #tellingHeads;
  #maps;
  #legend;
  #lines;
  #pins;
  #controls;
  #continue;
  #own;
  /** @type {HeadScores[] | undefined} of the run */ #scores;
  /** Whether what was open has been opened again since the visitor's last choice. */
  #isRecovered = false;
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
    const choices = new Choices(store, session);
    this.#choices = choices;
    const pin = (/** @type {Pin} */ chosen) => choices.pin(chosen);
    const fail = (/** @type {unknown} */ error) => this.#fail(error);
    const place = (/** @type {string} */ id) => byId(`explore-${id}`, HTMLElement);
    // Until something is open, and read, what is about it is hidden.
    room.classList.add('without-model', 'without-run');
    this.#textControls = connectText(store, session);
    this.#text = new TextView(place('text'), focus, pin);
    this.#grid = new HeadGrid(place('grid'), session, (name, hasShift) =>
      store.set(hasShift ? { other: name } : { ...name, of: 'head' }),
    );
    this.#tellingHeads = createTellingHeads(place('telling'), (name) =>
      store.set({ ...name, of: 'head' }),
    );
    const view = (/** @type {ExploreState['view']} */ next) => store.set({ view: next });
    this.#legend = createLegend(place('legend'), {
      seen: () => this.#maps.weightsSeen,
      choose: (scale) => {
        store.set({ scale });
        place('scale').focus(); // the button goes; here is the choice
      },
    });
    const moved = (/** @type {import('./map/zoom-map.js').Seen} */ seen) => {
      showSeen(seen);
      this.#legend.moved();
    };
    this.#maps = new Maps(place('maps'), session, focus, { pin, fail, view, moved });
    this.#lines = new LinesView(place('lines'), focus, pin, fail);
    this.#pins = createPins(place('pins'), focus, { turn: (old) => choices.turn(old), unpin: pin });
    this.#controls = createControls(place('controls'), store, () => choices.mute());
    this.#continue = connectContinue(byId('explore-continue', HTMLFormElement), store, session, {
      written: (token) => this.#text.append(token),
      fail,
    });
    this.#own = connectOpen(room, store, session, {
      opened: () => this.#open(),
      reread: () => this.#reread(),
    });
    connectExport(room, () => this.#seen());
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
    const choices = this.#choices;
    this.#focus.subscribe(() => this.#drawLine());
    this.#sort.addEventListener('change', () =>
      this.#store.set({ sort: /** @type {ExploreState['sort']} */ (this.#sort.value) }),
    );
    this.#share.addEventListener('input', () =>
      this.#store.set({ topP: Number(this.#share.value) }),
    );
    this.#details.addEventListener('toggle', () => this.#drawLine());
    const zoom = (/** @type {string} */ id, /** @type {() => void} */ act) =>
      byId(`explore-${id}`, HTMLButtonElement).addEventListener('click', act);
    zoom('closer', () => this.#maps.zoomBy(CLOSER));
    zoom('farther', () => this.#maps.zoomBy(1 / CLOSER));
    zoom('whole', () => {
      this.#maps.view = null;
      this.#store.set({ view: null });
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
      this.#grid.colour(choices.state.scale),
    );
    const help = createHelp(this.#room);
    byId('explore-help', HTMLButtonElement).addEventListener('click', help);
    const keys = {
      '[': () => choices.turnHead(-1, this.#grid.order),
      ']': () => choices.turnHead(1, this.#grid.order),
      '{': () => choices.turnLayer(-1),
      '}': () => choices.turnLayer(1),
      p: () => this.#pinPlace('query'),
      k: () => this.#pinPlace('key'),
      x: () => choices.unpin(),
      m: () => this.#session.hasModel && choices.mute(),
      '?': help,
    };
    listenToKeys(this.#room, () => (this.#session.run ? keys : { '?': help }));
  }

  /** What text and panel are about: what is pointed at, else the last pin, else the last token. @returns {Pin} */
  #subject() {
    const { query, key } = this.#focus.place;
    if (query >= 0) return { side: 'query', token: query };
    if (key >= 0) return { side: 'key', token: key };
    const { pins } = this.#choices.state;
    const last = { side: /** @type {const} */ ('query'), token: (this.#session.run?.n ?? 1) - 1 };
    return pins[pins.length - 1] ?? last;
  }

  /** @param {Pin['side']} side */
  #pinPlace(side) {
    const token = this.#focus.place[side];
    if (token >= 0) this.#choices.pin({ side, token });
  }

  // What is computed

  /** @param {ExploreState} after @param {ExploreState} before */
  #changed(after, before) {
    const differs = (/** @type {(keyof ExploreState)[]} */ ...keys) =>
      keys.some((key) => after[key] !== before[key]);
    this.#textControls.show(after);
    this.#continue.show(after);
    this.#isRecovered = false;
    if (differs('model')) {
      this.#open();
      return;
    }
    if (differs('text', 'added', 'muted')) {
      this.#reread();
      return;
    }
    if (!this.#session.run) return;
    const state = this.#choices.state;
    if (differs('layer', 'head', 'other', 'sort')) this.#grid.mark(state);
    if (differs('layer', 'head')) this.#drawScores();
    if (differs('scale')) this.#grid.colour(state.scale);
    if (differs('view')) this.#maps.view = state.view;
    if (differs('layer', 'head', 'of', 'over', 'other', 'scale', 'hideFirst')) this.#drawMaps();
    if (differs('pins')) this.#drawPins();
    if (differs('topP')) this.#drawLines();
  }

  /** Opens what a Worker lost in another one. Only once: what ended the one may end the other. @param {Error} error */
  #recover(error) {
    if (this.#isRecovered) {
      this.#fail(error);
      return;
    }
    this.#isRecovered = true;
    this.#open();
  }

  async #open() {
    const { model } = this.#store.get();
    this.#textControls.show(this.#store.get());
    this.#continue.show(this.#store.get());
    this.#room.setAttribute('aria-busy', 'true');
    try {
      const files = this.#own.filesOf(model) ?? filesOf(model);
      if (!files) {
        throw new Error(
          `There is no model "${model}" here. Choose one of the list, or open files.`,
        );
      }
      await this.#session.open(files, {
        onProgress: ({ fraction, label = 'Loading' }) =>
          this.#say(`${label} … ${Math.round(100 * fraction)} %`),
      });
      if (model !== this.#store.get().model) return;
      this.#own.show();
      this.#textControls.show(this.#store.get());
      await this.#read();
    } catch (error) {
      this.#fail(error);
    } finally {
      if (model === this.#store.get().model) this.#room.removeAttribute('aria-busy');
    }
  }

  #reread() {
    return this.#session.isLost ? this.#open() : this.#read();
  }

  async #readText() {
    const state = this.#store.get();
    await this.#session.read(textOf(state, this.#session), state);
    this.#say('');
    this.#room.classList.remove('without-run');
    await this.#drawAll();
  }

  // What is drawn

  async #drawAll() {
    const { run } = this.#session;
    if (!run || this.#room.hidden) return;
    const state = this.#choices.state;
    this.#textControls.count(run);
    this.#text.show(run.tokens, {
      written: state.added.length,
      isApart: this.#session.isApart,
    });
    showCost(run, this.#session);
    await Promise.all([this.#drawMaps(), this.#drawPins(), this.#drawNext()]);
    await this.#grid.show(run, state);
    this.#room.dataset.run = String(run.run);
    const scores = await this.#session.scores();
    if (run !== this.#session.run) return;
    this.#scores = scores;
    this.#grid.showScores(scores, this.#choices.state);
    this.#drawScores();
    this.#room.dataset.scored = String(run.run);
  }

  #drawScores() {
    const { run } = this.#session;
    const state = this.#choices.state;
    const scores = this.#scores?.[state.layer * (run?.heads ?? 0) + state.head];
    if (scores) showScores(byId('explore-scores', HTMLElement), longName(state), scores);
  }

  async #drawMaps() {
    const { run } = this.#session;
    if (!run) return;
    const state = this.#choices.state;
    this.#controls.show(state, run);
    this.#sort.value = state.sort;
    this.#tellingHeads(state);
    this.#room.classList.toggle('comparing', state.other !== null);
    await Promise.all([this.#maps.show(run, state), this.#drawLine(), this.#drawLines()]);
    this.#legend.show(state, { largest: this.#maps.largest, causal: run.causal });
  }

  async #drawLines() {
    const { run } = this.#session;
    if (!run) return;
    const state = this.#choices.state;
    const what = whatOf(state);
    this.#share.value = String(state.topP);
    const share = `at least ${Math.round(100 * state.topP)} %`;
    this.#share.setAttribute('aria-valuetext', share);
    byId('explore-topp-value', HTMLOutputElement).textContent = share;
    await this.#lines.show({
      tokens: run.tokens,
      topP: state.topP,
      row: (query) => this.#session.row(what, query),
      name: titleOf(state),
    });
  }

  async #drawPins() {
    const { pins } = this.#choices.state;
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
    const state = this.#choices.state;
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
    const state = this.#choices.state;
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
    const { run, hasModel } = this.#session;
    if (!run || !hasModel) return;
    const { pins } = this.#choices.state;
    const pinned = pins.filter(({ side }) => side === 'query').pop();
    const at = pinned?.token ?? run.n - 1;
    const predictions = await this.#session.predict(at);
    if (run !== this.#session.run) return;
    const room = byId('explore-next', HTMLElement);
    showNextTokens(room, { token: run.tokens[at], at, predictions, muted: run.muted });
  }

  /** What can be exported. */
  #seen() {
    const session = this.#session;
    const [model] = byId('explore-model', HTMLSelectElement).selectedOptions;
    return (
      session.run && {
        state: this.#choices.state,
        run: session.run,
        session,
        source: model?.text ?? '',
        order: this.#grid.order,
      }
    );
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
    this.#room.classList.toggle('without-run', !this.#session.run);
    const still = this.#session.run ? ' Below is still the last text that could be read.' : '';
    this.#say(message + still, true);
  }
}
