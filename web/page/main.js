/** Starts the page: the store, its address, and the room. */

import { openCompare } from './compare/compare.js';
import { mirrorInAddress, parseHash, Store } from './state.js';

const store = new Store(parseHash(location.hash));
mirrorInAddress(store);
openCompare(store);
