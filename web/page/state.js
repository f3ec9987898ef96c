/**
 * One store of what the visitor has chosen.
 *
 * @import { CompareState } from './compare/address.js'
 * @import { ExploreState } from './explore/address.js'
 * @import { LessonsState } from './lessons/address.js'
 * @import { TrainState } from './train/settings.js'
 * @import { Room } from './types.js'
 *
 * @typedef {{ room: Room, explore: ExploreState, train: TrainState } & CompareState & LessonsState} State
 */

import { COMPARE_DEFAULTS } from './compare/address.js';
import { EXPLORE_DEFAULTS } from './explore/address.js';
import { LESSONS_DEFAULTS } from './lessons/address.js';
import { TRAIN_DEFAULTS } from './train/settings.js';

/** @type {readonly Room[]} */
export const ROOMS = ['compare', 'explore', 'train', 'lessons', 'bench'];

/** @type {Readonly<State>} */
export const DEFAULTS = Object.freeze({
  room: 'compare',
  ...COMPARE_DEFAULTS,
  ...LESSONS_DEFAULTS,
  explore: EXPLORE_DEFAULTS,
  train: TRAIN_DEFAULTS,
});

/** The store: `get`, `set` a part of it, and listeners. */
export class Store {
  /** @type {State} */ #state;
  /** @type {Set<(state: State, before: State) => void>} */ #listeners = new Set();

  /** @param {State} state */
  constructor(state) {
    this.#state = state;
  }

  get() {
    return this.#state;
  }

  /** @param {Partial<State>} part */
  set(part) {
    const before = this.#state;
    const after = { ...before, ...part };
    const keys = /** @type {(keyof State)[]} */ (Object.keys(after));
    if (keys.every((key) => Object.is(after[key], before[key]))) return;
    this.#state = after;
    for (const listener of this.#listeners) listener(after, before);
  }

  /** @param {(state: State, before: State) => void} listener */
  subscribe(listener) {
    this.#listeners.add(listener);
  }
}
