/**
 * What the visitor can choose: each changes what the address holds, and nothing else.
 *
 * @import { HeadName, Pin } from './address.js'
 * @import { Explorer } from './explorer.js'
 */

import { EXPLORE_DEFAULTS as DEFAULTS, headAt, isSameHead } from './address.js';
import { firstHead } from './models.js';

/** What belongs to a text, and ends with it. */
const OF_TEXT = { added: DEFAULTS.added, pins: DEFAULTS.pins, view: DEFAULTS.view };

/** What belongs to a model. */
const OF_MODEL = { ...OF_TEXT, text: null, other: null, muted: DEFAULTS.muted };

/** @param {Pin} a @param {Pin} b */
const isSamePin = (a, b) => a.side === b.side && a.token === b.token;

/** @param {number} value @param {number} count */
const around = (value, count) => (value + count) % count;

/** @param {Explorer} room */
export function createChoices(room) {
  const { order, run, shown } = room;
  const pinsBut = (/** @type {Pin} */ pin) =>
    shown.peek().pins.filter((other) => !isSamePin(other, pin));
  const choose = (/** @type {HeadName} */ { layer, head }) => room.set({ layer, head, of: 'head' });

  return {
    /** Another model, as it begins. @param {string} model */
    open: (model) => room.set({ ...OF_MODEL, model, ...firstHead(model) }),

    /** @param {string | null} text null: the model's own sample */
    read: (text) => room.set({ ...OF_TEXT, text }),

    choose,

    /** Pins, or lets go. @param {Pin} pin */
    pin(pin) {
      const others = pinsBut(pin);
      const { pins } = shown.peek();
      room.set({ pins: others.length < pins.length ? others : [...pins, pin] });
    },

    /** Shows a token's other side, pinned. @param {Pin} pin */
    turn(pin) {
      /** @type {Pin} */
      const turned = { token: pin.token, side: pin.side === 'query' ? 'key' : 'query' };
      const others = pinsBut(turned);
      const at = others.findIndex((other) => isSamePin(other, pin));
      room.set({ pins: at < 0 ? [...others, turned] : others.with(at, turned) });
    },

    unpin: () => room.set({ pins: [] }),

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
      room.set({ layer: around(shown.peek().layer + by, run.peek()?.layers ?? 1) }),

    /** Mutes the chosen head, or lets it be heard again. */
    mute() {
      const { muted, layer, head } = shown.peek();
      const others = muted.filter((name) => !isSameHead(name, { layer, head }));
      room.set({ muted: others.length < muted.length ? others : [...muted, { layer, head }] });
    },
  };
}
