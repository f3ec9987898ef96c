/**
 * The large maps: one, or two heads side by side and their difference, all showing the same part.
 *
 * @import { ExploreState, Pin, Viewport } from './address.js'
 * @import { Focus } from './focus.js'
 * @import { RunSummary, Session } from './session.js'
 * @import { What } from './worker/rows.js'
 */

import { longName, shortName } from './address.js';
import { titleOf } from './titles.js';
import { ZoomMap } from './map/zoom-map.js';

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

/** The first of two maps that are compared, as short as it can be named. @param {ExploreState} state */
export const firstName = (state) => (state.of === 'head' ? shortName(state) : titleOf(state));

/**
 * The maps that are drawn: one, or two and their difference.
 *
 * @param {ExploreState} state
 * @returns {{ what: What, title: string, isSigned: boolean }[]}
 */
export function mapsOf(state) {
  const { other } = state;
  const first = { what: whatOf(state), title: titleOf(state), isSigned: false };
  if (!other) return [first];
  const second = { ...first.what, ...other, of: /** @type {const} */ ('head') };
  return [
    first,
    { what: second, title: longName(other), isSigned: false },
    {
      what: { ...first.what, minus: other },
      title: `Difference, ${firstName(state)} − ${shortName(other)}`,
      isSigned: true,
    },
  ];
}

export class Maps {
  #room;
  #session;
  #focus;
  #on;
  /** @type {ZoomMap[]} */ #maps = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #settling;
  /** @type {RunSummary | undefined} */ #run;
  #shown = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #slow;

  /**
   * @param {HTMLElement} room
   * @param {Session} session
   * @param {Focus} focus
   * @param {import('./map/zoom-map.js').MapEvents} on view: called when it has settled
   */
  constructor(room, session, focus, on) {
    this.#room = room;
    this.#session = session;
    this.#focus = focus;
    this.#on = on;
  }

  /**
   * @param {RunSummary} run
   * @param {ExploreState} state
   */
  async show(run, state) {
    if (run !== this.#run) clearTimeout(this.#settling);
    this.#run = run;
    const wanted = mapsOf(state);
    this.#take(wanted.length, state);
    const shown = ++this.#shown;
    clearTimeout(this.#slow);
    this.#slow = setTimeout(() => this.#room.setAttribute('aria-busy', 'true'), SLOW_MS);
    await Promise.all(
      wanted.map(({ what, title, isSigned }, i) =>
        this.#maps[i].show({
          title: isSigned || !this.#isMuted(what, state) ? title : `${title}, muted`,
          key: `${run.run} ${JSON.stringify(what)}`,
          names: run.tokens.map(({ text }) => text),
          causal: run.causal,
          isSigned,
          scale: state.scale,
          ask: (region) => this.#session.region(`map ${i}`, what, region),
        }),
      ),
    );
    if (shown !== this.#shown) return;
    clearTimeout(this.#slow);
    this.#room.removeAttribute('aria-busy');
  }

  /** @param {What} what @param {ExploreState} state */
  #isMuted({ of, layer, head }, { muted }) {
    return of === 'head' && muted.some((name) => name.layer === layer && name.head === head);
  }

  /** The first map's largest weight. */
  get largest() {
    return this.#maps[0]?.largest ?? 0;
  }

  /** What is seen of the weights: of one map, or of both that are compared. */
  get weightsSeen() {
    const count = this.#room.childElementCount;
    return this.#maps
      .slice(0, count > 1 ? 2 : count)
      .map((map) => map.weightsSeen)
      .filter((seen) => seen !== undefined);
  }

  /** @param {Viewport | null} view */
  set view(view) {
    for (const map of this.#maps) map.view = view;
  }

  /** @param {readonly Pin[]} pins */
  set pins(pins) {
    for (const map of this.#maps) map.pins = pins;
  }

  /** @param {number} factor below 1: closer */
  zoomBy(factor) {
    this.#maps[0]?.zoomBy(factor);
  }

  /** @param {number} count @param {ExploreState} state */
  #take(count, { view, pins }) {
    if (this.#room.childElementCount === count) return;
    while (this.#maps.length < count) {
      this.#maps.push(
        new ZoomMap(this.#focus, {
          ...this.#on,
          view: (next) => {
            this.view = next;
            clearTimeout(this.#settling);
            this.#settling = setTimeout(() => this.#on.view(next), SETTLE_MS);
          },
        }),
      );
    }
    // Maps that are not shown are kept for another time.
    this.#room.replaceChildren(...this.#maps.slice(0, count).map(({ element }) => element));
    this.view = view;
    this.pins = pins;
  }
}
