/**
 * One store of what the visitor has chosen. The address mirrors it
 * (`#compare?mode=fused&head=H3`), so that a link shows the same view.
 *
 * @import { ExploreState } from './explore/address.js'
 * @import { TrainState } from './train/settings.js'
 * @import { Mode, Room, Scale, Settings, Source } from './types.js'
 *
 * @typedef {object} State
 * @property {Room} room
 * @property {string} lesson the Lessons room's; '': the list of them
 * @property {string} lessonStep the element of it to go to; '': none
 * @property {string} lessonCode changed code that the address brings, packed; '': none
 * @property {Source} source
 * @property {string} text
 * @property {string} kept name of a text that the address has and this browser has not; '': none
 * @property {Mode} mode
 * @property {Scale} scale
 * @property {number} width
 * @property {number} heads
 * @property {boolean} causal
 * @property {number} seed NaN while what is typed is no number; only what can be one is in the address
 * @property {number} head the large map's head, from 0
 * @property {number} row the row that is read out; -1: the last one
 * @property {ExploreState} explore the Explore room's
 * @property {TrainState} train the Train room's
 */

import { EXPLORE_DEFAULTS, formatExplore, parseExplore } from './explore/address.js';
import { addEntry } from './places.js';
import { keptText } from './shared/kept-texts.js';
import { isLinkable, keyOf } from './shared/linkable.js';
import { isSeed, MAX_SEED } from './shared/seeds.js';
import { formatTrain, parseTrain, TRAIN_DEFAULTS } from './train/settings.js';

/** @type {readonly Room[]} */
export const ROOMS = ['compare', 'explore', 'train', 'lessons', 'bench'];
export const WIDTHS = [8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 768];
const MAX_HEADS = 16;

/** @type {Readonly<State>} */
export const DEFAULTS = Object.freeze({
  room: 'compare',
  lesson: '',
  lessonStep: '',
  lessonCode: '',
  source: 'example',
  text: 'The cat sat on the mat because it was tired',
  kept: '',
  mode: 'wrapper',
  scale: 'unit',
  width: 64,
  heads: 4,
  causal: true,
  seed: 123,
  head: 0,
  row: -1,
  explore: EXPLORE_DEFAULTS,
  train: TRAIN_DEFAULTS,
});

/**
 * The numbers of heads that a width can be split into.
 *
 * @param {number} width
 */
export function headChoices(width) {
  const choices = [];
  for (let heads = 1; heads <= MAX_HEADS; heads++) {
    if (width % heads === 0) choices.push(heads);
  }
  return choices;
}

/**
 * A state from an address; what it does not say, or says wrongly, is default. What belongs to another room than the
 * address's stays as it was.
 *
 * @param {string} hash with or without the `#`
 * @param {State} [before]
 * @returns {State}
 */
export function parseHash(hash, before = DEFAULTS) {
  const [name, query = ''] = hash.replace(/^#/, '').split('?');
  const params = new URLSearchParams(query);
  const room = ROOMS.find((known) => known === name) ?? DEFAULTS.room;
  switch (room) {
    case 'compare': {
      const { lesson, explore, train } = before;
      return { ...parseCompare(params), room, lesson, explore, train };
    }
    case 'explore':
      return { ...before, room, explore: parseExplore(params) };
    case 'train':
      return { ...before, room, train: parseTrain(params) };
    case 'lessons':
      return {
        ...before,
        room,
        lesson: params.get('lesson') ?? '',
        lessonStep: params.get('to') ?? '',
        lessonCode: params.get('code') ?? '',
      };
    case 'bench':
      return { ...before, room };
  }
}

/**
 * What changes with another address. A long text is not in it: an address of what is chosen already changes the room alone,
 * and Explore's mode.
 *
 * @param {string} hash
 * @param {State} before
 * @returns {Partial<State>}
 */
export function goTo(hash, before) {
  const after = parseHash(hash, before);
  const { room } = after;
  const { mode } = after.explore;
  const isOther = mode !== before.explore.mode;
  const part = isOther ? { room, explore: { ...before.explore, mode } } : { room };
  return formatHash({ ...before, ...part }) === hash ? part : after;
}

/** @param {URLSearchParams} params */
function parseCompare(params) {
  const state = { ...DEFAULTS };
  /** @param {string} name @param {number} min @param {number} max @param {number} otherwise */
  const whole = (name, min, max, otherwise) => {
    const text = params.get(name) ?? '';
    const value = Number(text);
    const ok = /^\d+$/.test(text) && value >= min && value <= max;
    return ok ? value : otherwise;
  };
  if (params.get('source') === 'own') state.source = 'own';
  const kept = params.get('kept') ?? '';
  const text = params.get('text') ?? keptText(kept);
  if (text === undefined) state.kept = kept;
  else state.text = text;
  const mode = params.get('mode');
  if (mode === 'fused' || mode === 'difference') state.mode = mode;
  const scale = params.get('scale');
  if (scale === 'head' || scale === 'row') state.scale = scale;
  const width = whole('width', 1, 768, state.width);
  if (WIDTHS.includes(width)) state.width = width;
  const heads = whole('heads', 1, MAX_HEADS, state.heads);
  state.heads = nearestHeads(state.width, heads);
  state.causal = params.get('causal') !== '0';
  state.seed = whole('seed', 0, MAX_SEED, state.seed);
  state.head = Math.min(headOf(params.get('head') ?? ''), settingsOf(state).heads - 1);
  state.row = whole('row', 1, 1024, 0) - 1;
  return state;
}

/**
 * A head by its name, `H2`; older addresses count from 1 and say `3`.
 *
 * @param {string} text
 */
function headOf(text) {
  const [, letter, number] = /^(H?)(\d{1,2})$/.exec(text) ?? [];
  const head = Number(number) - (letter ? 0 : 1);
  return head >= 0 && head < MAX_HEADS ? head : DEFAULTS.head;
}

/**
 * The address of a state: only what differs from the default.
 *
 * @param {State} state
 */
export function formatHash(state) {
  if (state.room === 'lessons') {
    const { lesson, lessonCode: code } = state;
    return lesson
      ? withQuery('lessons', new URLSearchParams({ lesson, ...(code && { code }) }))
      : '#lessons';
  }
  if (state.room === 'bench') return '#bench';
  if (state.room === 'train') return withQuery('train', formatTrain(state.train));
  if (state.room === 'explore') return withQuery('explore', formatExplore(state.explore));
  const params = new URLSearchParams();
  if (state.source === 'own') {
    params.set('source', 'own');
    const { text, width, heads } = state;
    if (!isLinkable(text)) params.set('kept', keyOf(text));
    else if (state.kept) params.set('kept', state.kept);
    else if (text !== DEFAULTS.text) params.set('text', text);
    if (width !== DEFAULTS.width) params.set('width', String(width));
    if (heads !== DEFAULTS.heads) params.set('heads', String(heads));
  }
  if (state.mode !== DEFAULTS.mode) params.set('mode', state.mode);
  if (state.scale !== DEFAULTS.scale) params.set('scale', state.scale);
  if (!state.causal) params.set('causal', '0');
  const { seed } = state;
  if (isSeed(seed) && seed !== DEFAULTS.seed) params.set('seed', String(seed));
  if (state.head !== DEFAULTS.head) params.set('head', `H${state.head}`);
  if (state.row !== DEFAULTS.row) params.set('row', String(state.row + 1));
  return withQuery('compare', params);
}

/** @param {Room} room @param {URLSearchParams} params */
function withQuery(room, params) {
  const query = params.toString();
  return `#${room}${query ? `?${query}` : ''}`;
}

/**
 * The largest number of heads up to the wish that divides the width.
 *
 * @param {number} width
 * @param {number} wish
 */
export function nearestHeads(width, wish) {
  const fitting = headChoices(width).filter((heads) => heads <= wish);
  return fitting[fitting.length - 1] ?? 1;
}

/**
 * What the worker has to run for a state. The example is always the
 * notebooks': six words of three numbers, two heads.
 *
 * @param {State} state
 * @returns {Settings}
 */
export function settingsOf({ source, text, width, heads, causal, seed }) {
  return source === 'example'
    ? { source, text: '', width: 3, heads: 2, causal, seed }
    : { source, text, width, heads, causal, seed };
}

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

/**
 * Safari takes a hundred new addresses in 30 seconds and refuses more.
 *
 * @param {string} hash
 * @returns {boolean} whether it was taken
 */
function changeAddress(hash) {
  try {
    history.replaceState(history.state, '', hash);
    return true;
  } catch {
    return false;
  }
}

/** In ms: what was refused is tried again. */
const LATER = 1000;

/**
 * Goes to a room as it was left; Back leads here again.
 *
 * @param {Store} store
 * @param {Room} room
 */
export function goToRoom(store, room) {
  // Not left to a link: an address says less than the store where the visitor's text is long.
  addEntry(formatHash({ ...store.get(), room }));
  store.set({ room });
}

/**
 * Keeps address and store the same.
 *
 * @param {Store} store
 * @returns {() => void} to be called when a room is open, and keeps what its address says: then the address says what is shown
 */
export function mirrorInAddress(store) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let later;
  const write = () => {
    clearTimeout(later);
    const hash = formatHash(store.get());
    if (hash !== location.hash && !changeAddress(hash)) later = setTimeout(write, LATER);
  };
  /** Whether the store follows the address. */
  let isLed = false;
  store.subscribe((after, before) => {
    // Almost all that is seen changes: Back leads to what was.
    const isOther = after.room === before.room && after.explore.mode !== before.explore.mode;
    if (isOther && !isLed) addEntry(formatHash(after));
    write();
  });
  addEventListener('hashchange', () => {
    // The skip link's is no state, and has done its work.
    if (location.hash === '#main') write();
    else {
      isLed = true;
      try {
        store.set(goTo(location.hash, store.get()));
      } finally {
        isLed = false;
      }
      write();
    }
  });
  return () => {
    if (location.hash !== '') write();
  };
}
