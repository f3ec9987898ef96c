/**
 * The large maps: one, or two heads side by side and their difference, all showing the same part.
 *
 * @import { Cells, Region, Viewport } from '../../headwise/view.js'
 * @import { ExploreState, Pin } from './address.js'
 * @import { Focus } from './focus.js'
 * @import { RunSummary, Session } from './session.js'
 * @import { What } from './worker/rows.js'
 *
 * @typedef {object} MapEvents
 * @property {(pin: Pin, isAdded: boolean) => void} pin isAdded: besides others
 * @property {(by: -1 | 1) => void} turn to another head
 * @property {(view: Viewport | null) => void} view null: the whole; called when it has settled
 * @property {(seen: Seen) => void} moved what is seen, on every move
 * @property {(error: unknown) => void} fail
 * @property {(isSlow: boolean) => void} slow whether a map takes long
 *
 * @typedef {{ queries: [number, number], keys: [number, number], isPooled: boolean, ms: number }} Seen tokens
 *   [first, past the last]; ms: that the cells took
 *
 * @typedef {object} Shown a map, and what it shows
 * @property {HTMLElement} room
 * @property {HTMLElement} title
 * @property {AttentionMap} map
 * @property {string} key of its weights
 * @property {((region: Region) => Promise<Cells & { ms: number }>) | undefined} cells
 */

import { AttentionMap } from '../../headwise/view.js';
import { el } from '../shared/dom.js';
import { shortName } from '../shared/head-names.js';
import { isOfHead } from './address.js';
import { SCALES } from './colours.js';
import { nounOf, titleOf } from './titles.js';
import { seenIn } from './seen-weights.js';

/** A view that still changes is not yet written into the address. */
const SETTLE_MS = 250;

/** A map that is not there by then is said to be on its way. */
const SLOW_MS = 300;

/** @param {ExploreState} state @returns {What} the first map */
export const whatOf = ({ of, over, layer, head, hideFirst }) => ({
  of,
  over,
  layer,
  head,
  hideFirst,
});

/** The maps whose lines are drawn: the first, and those of heads that are kept. @param {ExploreState} state @returns {What[]} */
export function linedMaps(state) {
  const first = whatOf(state);
  const of = isOfHead(first.of) ? first.of : 'head';
  return [first, ...state.overlay.map((head) => ({ ...first, ...head, of }))];
}

/** What is different of the map that is compared; undefined: none is. @param {ExploreState} state @returns {Partial<What> | undefined} */
export function otherOf({ of, other, before }) {
  if (other) return { ...other, of: isOfHead(of) ? of : 'head' };
  return before ? { isBefore: true } : undefined;
}

/** The first of two maps that are compared, as short as it can be named. @param {ExploreState} state */
export const firstName = (state) =>
  state.before ? 'after' : isOfHead(state.of) ? shortName(state) : titleOf(state);

/** The second one. @param {ExploreState} state */
export const secondName = ({ other }) => (other ? shortName(other) : 'before');

/**
 * The maps that are drawn: one, or two and their difference.
 *
 * @param {ExploreState} state
 * @returns {{ what: What, title: string, isSigned: boolean }[]}
 */
export function mapsOf(state) {
  const { other, before } = state;
  const first = { what: whatOf(state), title: titleOf(state), isSigned: false };
  const minus = otherOf(state);
  if (!minus) return [first];
  return [
    before ? { ...first, title: `${first.title}, after muting` } : first,
    {
      what: { ...first.what, ...minus },
      title: other ? titleOf({ ...state, ...minus }) : `${first.title}, before muting`,
      isSigned: false,
    },
    {
      what: { ...first.what, minus },
      title: `Difference, ${firstName(state)} − ${secondName(state)}`,
      isSigned: true,
    },
  ];
}

export class Maps {
  #room;
  #heading;
  #session;
  #focus;
  #on;
  /** @type {Shown[]} */ #maps = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #settling;
  /** @type {RunSummary | undefined} */ #run;
  /** @type {ExploreState | undefined} what is shown */ #state;
  /** @type {readonly Pin[]} */ #pins = [];
  #shows = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #slow;

  /**
   * @param {HTMLElement} room
   * @param {HTMLElement} heading where the name of a single map stands
   * @param {Session} session
   * @param {Focus} focus
   * @param {MapEvents} on
   */
  constructor(room, heading, session, focus, on) {
    this.#room = room;
    this.#heading = heading;
    this.#session = session;
    this.#focus = focus;
    this.#on = on;
    focus.subscribe(() => {
      for (const { map } of this.#maps) map.place = focus.place;
    });
  }

  /**
   * @param {RunSummary} run
   * @param {ExploreState} state
   */
  async show(run, state) {
    if (run !== this.#run) clearTimeout(this.#settling);
    this.#run = run;
    this.#state = state;
    const wanted = mapsOf(state);
    this.#take(wanted.length, state);
    const shows = ++this.#shows;
    clearTimeout(this.#slow);
    this.#slow = setTimeout(() => this.#wait(true), SLOW_MS);
    await Promise.all(
      wanted.map((one, i) => this.#draw(i, one, run, state).catch((error) => this.#on.fail(error))),
    );
    if (shows !== this.#shows) return;
    clearTimeout(this.#slow);
    this.#wait(false);
  }

  /** @param {boolean} isSlow */
  #wait(isSlow) {
    if (isSlow) this.#room.setAttribute('aria-busy', 'true');
    else this.#room.removeAttribute('aria-busy');
    this.#on.slow(isSlow);
  }

  /**
   * @param {number} i which map
   * @param {ReturnType<typeof mapsOf>[number]} wanted
   * @param {RunSummary} run
   * @param {ExploreState} state
   */
  async #draw(i, { what, title: name, isSigned }, run, state) {
    const shown = this.#maps[i];
    const { map, title, room } = shown;
    const key = `${run.run} ${JSON.stringify(what)}`;
    if (key !== shown.key) {
      shown.key = key;
      shown.cells = (region) => this.#session.region(`map ${i}`, what, region);
    }
    const isMuted = !isSigned && this.#isMuted(what, state);
    title.replaceChildren(name, ...(isMuted ? [el('span', {}, ', muted')] : []));
    const drawn = map.show({
      cells: shown.cells,
      tokens: run.tokens.map(({ text }) => text),
      causal: run.causal,
      signed: isSigned,
      ...SCALES[state.scale],
      name: `${isSigned ? '' : 'Attention weights: '}${title.textContent}`,
      noun: isSigned ? 'difference' : nounOf(what),
    });
    map.place = this.#focus.place;
    await drawn;
    if (key === shown.key) room.dataset.drawn = key;
  }

  /** @param {What} what @param {ExploreState} state */
  #isMuted({ of, layer, head, isBefore }, { muted }) {
    if (isBefore) return false;
    return isOfHead(of) && muted.some((name) => name.layer === layer && name.head === head);
  }

  /** The first map's largest weight. */
  get largest() {
    return this.#maps[0]?.map.largest ?? 0;
  }

  /** What is seen of the weights: of one map, or of both that are compared. */
  get weightsSeen() {
    const count = this.#room.childElementCount;
    const { scale } = this.#state ?? { scale: 'unit' };
    return this.#maps.slice(0, count > 1 ? 2 : count).flatMap(({ map }) => {
      const { causal, n } = this.#run ?? { causal: true, n: 0 };
      const view = map.view ?? { query: 0, key: 0, span: n };
      return map.cells ? [seenIn(map.cells, view, { scale, map: map.largest, causal })] : [];
    });
  }

  /** @param {Viewport | null} view */
  set view(view) {
    for (const { map } of this.#maps) map.view = view;
    this.#moved();
  }

  /** @param {readonly Pin[]} pins */
  set pins(pins) {
    this.#pins = pins;
    for (const { map } of this.#maps) map.pins = pins;
  }

  /** Shows the whole maps. */
  showWhole() {
    // A view that is still settling is not wanted any more.
    clearTimeout(this.#settling);
    this.view = null;
  }

  /** @param {number} factor below 1: closer */
  zoomBy(factor) {
    this.#maps[0]?.map.zoomBy(factor);
  }

  /** Says what is seen, which is the same in all of them. */
  #moved() {
    const [first] = this.#maps;
    if (!first) return;
    const { map } = first;
    const n = this.#run?.n ?? 0;
    const { query, key, span } = map.view ?? { query: 0, key: 0, span: n };
    /** @param {number} start @returns {[number, number]} */
    const side = (start) => [Math.floor(start), Math.min(n, Math.ceil(start + span))];
    const { ms = 0 } = /** @type {{ ms?: number }} */ (map.cells ?? {});
    const isPooled = span > map.resolution;
    this.#on.moved({ queries: side(query), keys: side(key), isPooled, ms });
  }

  /** @param {number} count @param {ExploreState} state */
  #take(count, { view }) {
    const { childElementCount: shown } = this.#room;
    if (shown === count) return;
    while (this.#maps.length < count) this.#maps.push(this.#make());
    // Maps that are not shown are kept for another time. Those that stay are not touched: one of them may have the focus.
    const leaving = this.#maps.slice(count, shown);
    const hadFocus = leaving.some(({ map }) => map === document.activeElement);
    for (const { room } of leaving) room.remove();
    this.#room.append(...this.#maps.slice(shown, count).map(({ room }) => room));
    // A single map's name stands before the tools, which belong to it.
    const [{ room, title, map }] = this.#maps;
    if (count === 1) this.#heading.append(title);
    else room.prepend(title);
    if (hadFocus) map.focus();
    this.view = view;
    this.pins = this.#pins;
  }

  /** @returns {Shown} */
  #make() {
    const title = el('h3', { class: 'map-title' });
    const map = new AttentionMap();
    map.zoomable = true;
    map.addEventListener('point', ({ detail }) => {
      if (detail) this.#focus.set(detail, map);
      else this.#focus.clear(map);
      map.place = this.#focus.place;
    });
    let isAdded = false;
    for (const type of /** @type {const} */ (['click', 'keydown'])) {
      const look = (/** @type {MouseEvent | KeyboardEvent} */ event) =>
        (isAdded = event.ctrlKey || event.metaKey);
      map.addEventListener(type, look, { capture: true });
    }
    const pin = (/** @type {Pin['side']} */ side) => (/** @type {CustomEvent<number>} */ event) =>
      this.#on.pin({ side, token: event.detail }, isAdded);
    map.addEventListener('pin', pin('query'));
    map.addEventListener('pin-key', pin('key'));
    map.addEventListener('head', ({ detail }) => this.#on.turn(detail));
    map.addEventListener('view', ({ detail }) => {
      this.view = detail;
      clearTimeout(this.#settling);
      this.#settling = setTimeout(() => this.#on.view(detail), SETTLE_MS);
    });
    map.addEventListener('drawn', () => this.#moved());
    map.addEventListener('error', ({ error }) => this.#on.fail(error));
    const room = el('div', { class: 'zoom-map' }, title, map);
    return { room, title, map, key: '', cells: undefined };
  }
}
