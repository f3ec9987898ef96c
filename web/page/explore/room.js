/**
 * The Explore room: a trained model's heads, layer by layer.
 *
 * @import { Store } from '../state.js'
 */

import { byId } from '../dom.js';
import { Explorer } from './explorer.js';
import markup from './room.html?raw';
import { ExploreStore } from './slice.js';

/** @param {Store} store */
export function openExplore(store) {
  const room = byId('explore-room', HTMLElement);
  room.innerHTML = markup;
  return new Explorer(room, new ExploreStore(store)).start();
}
