/**
 * What the visitor can choose: each changes what the address holds, and nothing else.
 *
 * @import { HeadName } from '../shared/head-names.js'
 * @import { ExploreState, Pin } from './address.js'
 * @import { Explorer } from './explorer.js'
 * @import { TourStep } from './tours.js'
 */

import { headAt, isSameHead } from '../shared/head-names.js';
import { EXPLORE_DEFAULTS as DEFAULTS, isOfHead } from './address.js';
import { firstHead, firstPins } from './models.js';
import { stepOf } from './tours.js';

/** What belongs to a text, and ends with it. */
const OF_TEXT = {
  ...{ added: DEFAULTS.added, pins: /** @type {readonly Pin[]} */ ([]), view: DEFAULTS.view },
  ...{
    kept: DEFAULTS.kept,
    target: DEFAULTS.target,
    against: DEFAULTS.against,
    key: DEFAULTS.key,
    corrupted: DEFAULTS.corrupted,
    keptOther: DEFAULTS.keptOther,
    tour: DEFAULTS.tour,
  },
};

/** What belongs to a model. */
const OF_MODEL = {
  ...OF_TEXT,
  ...{ text: null, other: null, before: false, muted: DEFAULTS.muted, overlay: DEFAULTS.overlay },
};

/** @param {Pin} a @param {Pin} b */
const isSamePin = (a, b) => a.side === b.side && a.token === b.token;

/** @param {number} value @param {number} count */
const around = (value, count) => (value + count) % count;

/** A list with a head, or without it if it was there. @param {readonly HeadName[]} list @param {HeadName} head */
function toggled(list, head) {
  const others = list.filter((name) => !isSameHead(name, head));
  return others.length < list.length ? others : [...list, head];
}

/** Which tokens are pinned. @param {Explorer} room */
function pinChoices(room) {
  const { shown } = room;
  const pinsBut = (/** @type {Pin} */ pin) =>
    shown.peek().pins.filter((other) => !isSamePin(other, pin));

  return {
    /** Pins a token in place of others, or besides them; what is pinned already is unpinned. @param {Pin} pin @param {boolean} [isAdded] */
    pin(pin, isAdded = false) {
      const others = pinsBut(pin);
      const { pins } = shown.peek();
      const wasPinned = others.length < pins.length;
      const one = wasPinned && others.length === 0 ? [] : [pin];
      const several = wasPinned ? others : [...pins, pin];
      room.set({ pins: isAdded ? several : one, key: null });
    },

    /** Lets one go. @param {Pin} pin */
    unpin: (pin) => room.set({ pins: pinsBut(pin), key: null }),

    /** Shows a token's other side, pinned. @param {Pin} pin */
    turn(pin) {
      /** @type {Pin} */
      const turned = { token: pin.token, side: pin.side === 'query' ? 'key' : 'query' };
      const others = pinsBut(turned);
      const at = others.findIndex((other) => isSamePin(other, pin));
      room.set({ pins: at < 0 ? [...others, turned] : others.with(at, turned), key: null });
    },

    unpinAll: () => room.set({ pins: [], key: null }),

    /** Asks why the head looks at a token. @param {number} key */
    look: (key) => room.set({ key }),
  };
}

/** Which head is looked at, muted, compared and drawn beside others. @param {Explorer} room */
function headChoices(room) {
  const { order, run, shown } = room;
  const chosen = () => {
    const { layer, head } = shown.peek();
    return { layer, head };
  };
  const choose = (/** @type {HeadName} */ { layer, head }) => {
    const { of } = shown.peek();
    room.set({ layer, head, of: isOfHead(of) ? of : 'head', key: null });
  };

  return {
    choose,

    /** The next head in the grid, or the one before. @param {number} by */
    turnHead(by) {
      const { heads = 1 } = run.peek() ?? {};
      const { layer, head } = shown.peek();
      const all = order.peek();
      const next = around(all.indexOf(layer * heads + head) + by, all.length);
      choose(headAt(all[next], heads));
    },

    /** @param {number} by */
    turnLayer: (by) =>
      room.set({ layer: around(shown.peek().layer + by, run.peek()?.layers ?? 1), key: null }),

    /** Mutes the chosen head, or unmutes it. */
    mute: () => room.set({ muted: toggled(shown.peek().muted, chosen()) }),

    unmuteAll: () => room.set({ muted: [], before: false }),

    /** Keeps the chosen head to be compared with others, or compares no more. */
    compare: () => room.set({ other: room.state.peek().other ? null : chosen(), before: false }),

    /** Draws a head's lines beside others', or no more. @param {HeadName} [head] default: the chosen one's */
    overlay: (head = chosen()) => room.set({ overlay: toggled(room.state.peek().overlay, head) }),
  };
}

/** How the grid of heads is coloured and ordered. @param {Explorer} room */
function measureChoices(room) {
  return {
    /** What the heads are coloured by. @param {ExploreState['by']} by */
    measure(by) {
      const isSorted = room.shown.peek().sort !== 'place' && by !== 'none';
      room.set({ by, sort: isSorted ? by : 'place' });
    },

    /** @param {boolean} isSorted */
    sort(isSorted) {
      const measure = room.measure.peek();
      room.set({ by: measure, sort: isSorted && measure !== 'none' ? measure : 'place' });
    },
  };
}

/** What is read, and what is asked of it. @param {Explorer} room */
function textChoices(room) {
  return {
    /** Another model, as it begins. @param {string} model */
    open: (model) => room.set({ ...OF_MODEL, model, ...firstHead(model), pins: firstPins(model) }),

    /** @param {string | null} text null: the model's own sample */
    read: (text) =>
      room.set({
        ...OF_TEXT,
        text,
        pins: text === null ? firstPins(room.state.peek().model) : OF_TEXT.pins,
      }),

    /** Sets another text against the one that is read, or none. @param {string | null} corrupted */
    setOther: (corrupted) => room.set({ corrupted, keptOther: null }),

    /** Asks what makes up the prediction, or goes back to the maps. @param {boolean} isAsked */
    why: (isAsked) => room.set({ mode: isAsked ? 'why' : 'maps' }),

    /**
     * Sets two texts against each other.
     *
     * @param {Pick<ExploreState, 'target' | 'against' | 'corrupted'> & { text: string }} asked
     */
    compareTexts({ text, ...asked }) {
      const isSample = text === room.sample.peek();
      const pins = isSample ? firstPins(room.state.peek().model) : OF_TEXT.pins;
      room.set({ ...OF_TEXT, text: isSample ? null : text, pins, ...asked, mode: 'why' });
    },

    /** Goes to a step of a tour. @param {TourStep} tour */
    tour: (tour) => room.set({ ...DEFAULTS, ...OF_MODEL, ...stepOf(tour), tour }),

    /** Ends the tour. @param {ExploreState} [before] what is seen then; undefined: what its step shows */
    endTour: (before) => room.set({ ...before, tour: null }),
  };
}

/** @param {Explorer} room */
export const createChoices = (room) => ({
  ...textChoices(room),
  ...headChoices(room),
  ...measureChoices(room),
  ...pinChoices(room),
});
