/**
 * In which order the grid has the heads: by their places, or by a measure as soon as it is there.
 *
 * @import { ReadonlySignal } from '../shared/signals.js'
 * @import { Explorer } from './explorer.js'
 */

import { computed, derived } from '../shared/signals.js';
import { isAblation } from './address.js';
import { areScoresToCome } from './waiting.js';

/** Whether the heads' measure is still to come. @param {Explorer} room */
function isToCome(room) {
  const { measure, effectsHaveFailed, summing, patching } = room;
  if (isAblation(measure.value)) return !effectsHaveFailed.value;
  if (measure.value === 'attribution') return !summing.hasFailed.value && !summing.isSkipped.value;
  if (measure.value === 'patching') {
    const { value: question } = patching.question;
    return question.others !== null && patching.cancelled.value !== question;
  }
  return areScoresToCome(room);
}

/**
 * The measure of every head; while another is to come of the same heads, as when one of them is muted, that of before: the
 * heads stay where they are.
 *
 * @param {Explorer} room
 * @returns {ReadonlySignal<ArrayLike<number> | undefined>}
 */
function latestValues(room) {
  const { values, measure, model } = room;
  /** @type {{ measure: string, model: object | undefined, values: ArrayLike<number> } | undefined} */
  let latest;
  return computed(() => {
    const now = { measure: measure.value, model: model.value };
    if (values.value) latest = { ...now, values: values.value };
    const isOfNow = latest?.measure === now.measure && latest.model === now.model;
    return isOfNow && (values.value || isToCome(room)) ? latest?.values : undefined;
  });
}

/** @param {Explorer} room */
export function createOrdering(room) {
  const { shown, run, isSigned } = room;
  const latest = latestValues(room);

  /** What the heads are in order of. */
  const by = computed(() => (latest.value ? shown.value.sort : 'place'));

  /** All heads in that order, by their places in the model: what changes most is first. */
  const order = derived(() => {
    const { layers = 0, heads = 0 } = run.value ?? {};
    const values = by.value === 'place' ? undefined : latest.value;
    const sizeOf = (/** @type {number} */ i) => {
      const value = values?.[i] ?? 0;
      return Number.isNaN(value) ? -Infinity : isSigned.value ? Math.abs(value) : value;
    };
    const all = Array.from({ length: layers * heads }, (_, i) => i);
    return all.sort((a, b) => sizeOf(b) - sizeOf(a) || a - b);
  });

  return { by, order };
}
