/** Starts the page: the store, its address, and the rooms. */

import { parseHash } from './address.js';
import { openCompare } from './compare/compare.js';
import { mirrorInAddress } from './mirror.js';
import { keepAll } from './offline/keep.js';
import { keepPlaces } from './places.js';
import { connectRooms } from './rooms.js';
import { ignoreDrops } from './shared/drops.js';
import { Store } from './state.js';

const explore = () => import('./explore/room.js');
const train = () => import('./train/room.js');
const lessons = () => import('./lessons/lessons.js');
const bench = () => import('./bench/room.js');

const store = new Store(parseHash(location.hash));
keepPlaces();
const settle = mirrorInAddress(store);
ignoreDrops();
const rooms = {
  compare: () => openCompare(store),
  explore: async () => (await explore()).openExplore(store),
  train: async () => (await train()).openTrain(store),
  lessons: async () => (await lessons()).openLessons(store),
  bench: async () => (await bench()).openBench(store),
};
connectRooms(store, rooms, settle);
keepAll([explore, train, lessons, bench]);
