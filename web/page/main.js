/** Starts the page: the store, its address, and the rooms. */

import { openCompare } from './compare/compare.js';
import { connectRooms } from './rooms.js';
import { mirrorInAddress, parseHash, Store } from './state.js';

const store = new Store(parseHash(location.hash));
mirrorInAddress(store);
connectRooms(store, {
  compare: () => openCompare(store),
  explore: async () => (await import('./explore/room.js')).openExplore(store),
  bench: async () => (await import('./bench/room.js')).openBench(store),
  lessons: async () => (await import('./lessons/lessons.js')).openLessons(store),
});
