/**
 * What the visitor can choose: each changes the store, and nothing else.
 *
 * @import { ExploreState, HeadName, Pin } from './address.js'
 * @import { Session } from './session.js'
 * @import { ExploreStore } from './slice.js'
 */

import { isSameHead } from './address.js';

/** @param {Pin} a @param {Pin} b */
const isSamePin = (a, b) => a.side === b.side && a.token === b.token;

/** @param {number} value @param {number} count */
const around = (value, count) => (value + count) % count;

export class Choices {
  #store;
  #session;

  /**
   * @param {ExploreStore} store
   * @param {Session} session
   */
  constructor(store, session) {
    this.#store = store;
    this.#session = session;
  }

  /**
   * The state as far as the run has it: a layer, a head or a token that is not there is none.
   *
   * @returns {ExploreState}
   */
  get state() {
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

  /** Pins, or lets go. @param {Pin} pin */
  pin(pin) {
    const { pins } = this.state;
    const others = pins.filter((other) => !isSamePin(other, pin));
    this.#store.set({ pins: others.length < pins.length ? others : [...pins, pin] });
  }

  /** Shows a token's other side, pinned. @param {Pin} pin */
  turn(pin) {
    const { pins } = this.state;
    /** @type {Pin} */
    const turned = { token: pin.token, side: pin.side === 'query' ? 'key' : 'query' };
    const others = pins.filter((other) => !isSamePin(other, turned));
    const at = others.findIndex((other) => isSamePin(other, pin));
    this.#store.set({
      pins: at < 0 ? [...others, turned] : others.map((other, i) => (i === at ? turned : other)),
    });
  }

  unpin() {
    this.#store.set({ pins: [] });
  }

  /** @param {number} by @param {HeadName[]} order of all heads */
  turnHead(by, order) {
    const at = order.findIndex((name) => isSameHead(name, this.state));
    if (order.length > 0) {
      this.#store.set({ ...order[around(at + by, order.length)], of: 'head' });
    }
  }

  /** @param {number} by */
  turnLayer(by) {
    const { layers = 1 } = this.#session.run ?? {};
    this.#store.set({ layer: around(this.state.layer + by, layers) });
  }

  /** Mutes the chosen head, or lets it be heard again. */
  mute() {
    const { muted, layer, head } = this.state;
    const others = muted.filter((name) => !isSameHead(name, { layer, head }));
    this.#store.set({
      muted: others.length < muted.length ? others : [...muted, { layer, head }],
    });
  }
}
