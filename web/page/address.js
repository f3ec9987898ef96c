/**
 * The address of the page: a room, and what its own address.js or settings.js says of it.
 *
 * @import { State } from './state.js'
 */

import { formatCompare, parseCompare } from './compare/address.js';
import { formatExplore, parseExplore } from './explore/address.js';
import { formatLessons, parseLessons } from './lessons/address.js';
import { noteBrought } from './shared/kept-texts.js';
import { DEFAULTS, ROOMS } from './state.js';
import { formatTrain, parseTrain } from './train/settings.js';

/**
 * A state from an address; what it does not say, or says wrongly, is default. What belongs to another room than the
 * address's stays as it was. A room is known by its letters, in small or large ones: what follows a link in a sentence may
 * have come with it.
 *
 * @param {string} hash with or without the `#`
 * @param {State} [before]
 * @returns {State}
 */
export function parseHash(hash, before = DEFAULTS) {
  const [, name = '', query = ''] = /^#?\/?([a-z]*)[^?]*\??(.*)/is.exec(hash) ?? [];
  const params = new URLSearchParams(query);
  noteBrought(params.get('text'));
  noteBrought(params.get('corrupted'));
  const room = ROOMS.find((known) => known === name.toLowerCase()) ?? DEFAULTS.room;
  switch (room) {
    case 'compare':
      return { ...before, ...parseCompare(params), room };
    case 'explore':
      return { ...before, room, explore: parseExplore(params) };
    case 'train':
      return { ...before, room, train: parseTrain(params) };
    case 'lessons':
      return { ...before, ...parseLessons(params), room };
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

/** @param {State} state */
function queryOf(state) {
  switch (state.room) {
    case 'compare':
      return formatCompare(state);
    case 'explore':
      return formatExplore(state.explore);
    case 'train':
      return formatTrain(state.train);
    case 'lessons':
      return formatLessons(state);
    case 'bench':
      return '';
  }
}

/**
 * The address of a state: only what differs from the default.
 *
 * @param {State} state
 */
export function formatHash(state) {
  const query = String(queryOf(state));
  return `#${state.room}${query && `?${query}`}`;
}
