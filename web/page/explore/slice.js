/**
 * The Explore room's part of the store, with the same methods.
 *
 * @import { Store } from '../state.js'
 * @import { ExploreState } from './address.js'
 */

export class ExploreStore {
  #store;

  /** @param {Store} store */
  constructor(store) {
    this.#store = store;
  }

  get() {
    return this.#store.get().explore;
  }

  /** @param {Partial<ExploreState>} part */
  set(part) {
    const before = this.get();
    const keys = /** @type {(keyof ExploreState)[]} */ (Object.keys(part));
    if (keys.every((key) => Object.is(part[key], before[key]))) return;
    this.#store.set({ explore: { ...before, ...part } });
  }

  /** @param {(after: ExploreState, before: ExploreState) => void} listener */
  subscribe(listener) {
    this.#store.subscribe((after, before) => {
      if (after.explore !== before.explore) listener(after.explore, before.explore);
    });
  }

  /** @param {() => void} listener called when the room is shown again */
  onShown(listener) {
    this.#store.subscribe((after, before) => {
      if (after.room === 'explore' && before.room !== 'explore') listener();
    });
  }
}
