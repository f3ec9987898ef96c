/**
 * What of the address means something in a run.
 *
 * @import { HeadName } from '../shared/head-names.js'
 * @import { ExploreState } from './address.js'
 * @import { ModelSummary, RunSummary } from './session.js'
 */

import { isSameHead } from '../shared/head-names.js';
import { EXPLORE_DEFAULTS, isOfHead } from './address.js';

/** A list without what is not there; the same, where all is. @template T @param {readonly T[]} list @param {(one: T) => boolean} has */
const onlyThere = (list, has) => (list.every(has) ? list : list.filter(has));

/** Whether a run has a head. @param {Partial<RunSummary>} run @returns {(name: HeadName) => boolean} */
export const hasHead =
  ({ layers = 1, heads = 1 }) =>
  ({ layer, head }) =>
    layer < layers && head < heads;

/**
 * The state without layers, heads and tokens that a run does not have.
 *
 * @param {ExploreState} state
 * @param {Partial<RunSummary>} run
 * @param {Partial<ModelSummary>} model
 * @returns {ExploreState}
 */
export function existingState(state, run, { config }) {
  const { layers = 1, heads = 1, n = 0 } = run;
  const { vocabSize = Infinity } = config ?? {};
  const has = hasHead(run);
  const idOf = (/** @type {number | null} */ id) => (id !== null && id < vocabSize ? id : null);
  return {
    ...state,
    layer: Math.min(state.layer, layers - 1),
    head: Math.min(state.head, heads - 1),
    other: state.other && has(state.other) ? state.other : null,
    muted: onlyThere(state.muted, has),
    overlay: onlyThere(state.overlay, has),
    pins: onlyThere(state.pins, ({ token }) => token < n),
    key: state.key !== null && state.key < n ? state.key : null,
    target: idOf(state.target),
    against: idOf(state.against),
  };
}

/**
 * The state as far as it means something in a run.
 *
 * @param {ExploreState} wanted
 * @param {Partial<RunSummary>} run
 * @param {Partial<ModelSummary>} model
 * @returns {ExploreState}
 */
export function possibleState(wanted, run, model) {
  const state = existingState(wanted, run, model);
  const isOther = (/** @type {HeadName} */ name) => !isOfHead(state.of) || !isSameHead(name, state);
  return {
    ...state,
    of: state.of === 'norms' && !run.hasNorms ? 'head' : state.of,
    tint: model.predicts === 'next' ? state.tint : EXPLORE_DEFAULTS.tint,
    other: state.other && isOther(state.other) ? state.other : null,
    before: state.before && !state.other && (run.muted ?? []).length > 0,
    overlay: state.overlay.filter(isOther),
    against: state.against === state.target ? null : state.against,
  };
}
