// Slots: what is asked for anew in the same slot stops what was asked for before.
import { breathe } from '../../shared/breathe.js';
import { PageError } from '../../shared/errors.js';

/** @type {Map<string, symbol>} the latest call of each slot */
const latest = new Map();

export const stale = () => new PageError('ERR_STALE', 'Replaced by a newer request.');

/**
 * Takes a slot.
 *
 * @param {string} slot
 * @param {AbortSignal} [signal]
 * @returns {() => Promise<void>} lets messages in; rejects when the slot was taken again, and when the signal is aborted
 */
export function take(slot, signal) {
  const mine = Symbol(slot);
  latest.set(slot, mine);
  return async () => {
    await breathe(signal);
    if (latest.get(slot) !== mine) throw stale();
  };
}

/** The slots of rollouts: two runs that are compared, before and after muting, have one each. */
export const ROLLOUTS = { now: 'rollout', before: 'rollout before' };

export function stopRollouts() {
  for (const slot of Object.values(ROLLOUTS)) latest.delete(slot);
}
