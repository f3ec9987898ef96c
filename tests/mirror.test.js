// The address follows what is chosen, also in a browser that takes only so many new addresses at a time.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { goToRoom, inPlace, mirrorInAddress } from '../web/page/mirror.js';
import { DEFAULTS, Store } from '../web/page/state.js';

/** As Safari counts them. */
const MOST = 100;

/** @type {EventTarget} */
let target;
let taken = 0;
let entries = 0;

beforeEach(() => {
  target = new EventTarget();
  taken = 0;
  entries = 0;
  const change = (
    /** @type {unknown} */ _,
    /** @type {string} */ __,
    /** @type {string} */ hash,
  ) => {
    if (taken === MOST) throw new DOMException('too many', 'SecurityError');
    taken++;
    globalThis.location.hash = hash;
  };
  mock.timers.enable({ apis: ['setTimeout'] });
  Object.assign(globalThis, {
    location: { hash: '#compare' },
    history: {
      replaceState: change,
      pushState(/** @type {Parameters<typeof change>} */ ...args) {
        change(...args);
        entries++;
      },
    },
    scrollY: 0,
    addEventListener: target.addEventListener.bind(target),
  });
});

afterEach(() => {
  mock.timers.reset();
  for (const name of ['location', 'history', 'scrollY', 'addEventListener'])
    Reflect.deleteProperty(globalThis, name);
});

/** A store whose address is kept, and what a view has heard of it. */
function mirrored() {
  const store = new Store(DEFAULTS);
  mirrorInAddress(store);
  /** @type {{ seed: number, room: string }[]} */
  const heard = [];
  store.subscribe(({ seed, room }) => heard.push({ seed, room }));
  return { store, heard };
}

test('a refused address is written later, and every view hears of each choice', () => {
  const { store, heard } = mirrored();
  for (let seed = 0; seed < 130; seed++) store.set({ seed });
  assert.equal(heard.length, 130);
  goToRoom(store, 'train');
  assert.deepEqual(heard.at(-1), { seed: 129, room: 'train' });
  assert.match(globalThis.location.hash, /^#compare\?seed=/);
  mock.timers.tick(1000);
  assert.match(globalThis.location.hash, /^#compare/, 'still refused');
  taken = 0;
  mock.timers.tick(1000);
  assert.match(globalThis.location.hash, /^#train/);
  assert.equal(taken, 1);
});

test('what a link has just asked for is not lost when something is chosen before its event comes', () => {
  const { store } = mirrored();
  globalThis.location.hash = '#train?task=sorting';
  store.set({ seed: 7 });
  assert.equal(globalThis.location.hash, '#train?task=sorting');
  target.dispatchEvent(new Event('hashchange'));
  const { room, train, seed } = store.get();
  assert.deepEqual([room, train.settings.task, seed], ['train', 'sorting', 7]);
});

test('the room that is shown is no other entry, and what changes nothing is told to nobody', () => {
  const { store, heard } = mirrored();
  goToRoom(store, 'compare');
  store.set({ seed: DEFAULTS.seed, room: 'compare' });
  assert.deepEqual([entries, taken, heard], [0, 0, []]);
});

test('the skip link leaves the address of what is shown', () => {
  const { store, heard } = mirrored();
  store.set({ seed: 7 });
  globalThis.location.hash = '#main';
  target.dispatchEvent(new Event('hashchange'));
  assert.equal(globalThis.location.hash, '#compare?seed=7');
  assert.equal(heard.length, 1);
});

test('another model or mode of Explore is a step of its own, unless it follows from one', () => {
  const { store } = mirrored();
  const choose = (/** @type {Partial<typeof DEFAULTS.explore>} */ part) =>
    store.set({ explore: { ...store.get().explore, ...part } });
  goToRoom(store, 'explore');
  assert.equal(entries, 1);
  choose({ model: 'names' });
  assert.equal(entries, 2);
  choose({ mode: 'why' });
  assert.equal(entries, 3);
  choose({ head: 3 });
  inPlace(() => choose({ model: 'induction' }));
  assert.equal(entries, 3);
  assert.match(globalThis.location.hash, /model=induction/);
  // What is opened in a room that was left is not seen.
  goToRoom(store, 'train');
  choose({ model: 'names' });
  assert.deepEqual([entries, globalThis.location.hash], [4, '#train']);
});
