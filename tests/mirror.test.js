// The address follows what is chosen, also in a browser that takes only so many new addresses at a time.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { goToRoom, mirrorInAddress } from '../web/page/mirror.js';
import { DEFAULTS, Store } from '../web/page/state.js';

/** As Safari counts them. */
const MOST = 100;

/** @type {EventTarget} */
let target;
let taken = 0;

beforeEach(() => {
  target = new EventTarget();
  taken = 0;
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
    history: { pushState: change, replaceState: change },
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

test('the skip link leaves the address of what is shown', () => {
  const { store, heard } = mirrored();
  store.set({ seed: 7 });
  globalThis.location.hash = '#main';
  target.dispatchEvent(new Event('hashchange'));
  assert.equal(globalThis.location.hash, '#compare?seed=7');
  assert.equal(heard.length, 1);
});
