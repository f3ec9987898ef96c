/**
 * All that was seen of a run, within a bound: where there is more, about every other snapshot goes, again and again.
 *
 * @import { Snapshot } from './trainer.js'
 *
 * @typedef {{ x: number, y: number }} Point a value after step x
 */

import { isMeasuredAt } from './scores.js';

/** The most bytes of maps that are kept. */
const MOST_BYTES = 6 * 2 ** 20;
const MOST_SNAPSHOTS = 600;
/** The most points of a curve. */
const MOST_POINTS = 4000;

/**
 * Of what was seen at some steps about so many: the first in each stretch of steps, and the last of all. By steps, not by
 * places in the list: the beginning of a long run would become sparser each time. While a list grows, the same ones stay.
 *
 * @template T
 * @param {T[]} list by steps
 * @param {number} most
 * @param {(one: T) => number} stepOf
 */
function thinned(list, most, stepOf) {
  if (list.length <= most) return list;
  const last = list.length - 1;
  const steps = stepOf(list[last]) - stepOf(list[0]) + 1;
  const stride = 2 ** Math.ceil(Math.log2(steps / most));
  const stretchOf = (/** @type {T} */ one) => Math.floor(stepOf(one) / stride);
  return list.filter(
    (one, i) => i === 0 || i === last || stretchOf(one) !== stretchOf(list[i - 1]),
  );
}

/** @param {Point[]} points @param {number} most */
export const thinnedPoints = (points, most) => thinned(points, most, ({ x }) => x);

/** @param {Snapshot[]} seen @param {number} most */
export const thinnedSnapshots = (seen, most) => thinned(seen, most, ({ step }) => step);

/** With one point more; of too many about half stay. @param {Point[]} points @param {Point} point */
function withPoint(points, point) {
  points.push(point);
  return points.length > MOST_POINTS ? thinnedPoints(points, MOST_POINTS / 2) : points;
}

export class History {
  /** By their steps. @type {Snapshot[]} */
  seen = [];
  /** After each step, smoothed. @type {Point[]} */
  loss = [];
  highestLoss = 0;
  /** Wherever it was measured. @type {Point[]} */
  accuracy = [];

  get bytes() {
    return this.seen.reduce((sum, one) => sum + bytesOf(one), 0);
  }

  get last() {
    return this.seen.at(-1);
  }

  /** @param {Snapshot} snapshot of a later step, or of the last one anew @param {readonly number[]} losses since the last one, smoothed */
  add(snapshot, losses) {
    const { step, accuracy } = snapshot;
    losses.forEach((y, i) => {
      this.highestLoss = Math.max(this.highestLoss, y);
      this.loss = withPoint(this.loss, { x: step - losses.length + 1 + i, y });
    });
    if (this.accuracy.at(-1)?.x === step) this.accuracy.pop();
    if (!Number.isNaN(accuracy)) this.accuracy = withPoint(this.accuracy, { x: step, y: accuracy });
    if (this.last?.step === step) this.seen.pop();
    this.seen.push(snapshot);
    const most = Math.min(MOST_SNAPSHOTS, Math.floor(MOST_BYTES / bytesOf(snapshot)));
    if (this.seen.length > most) this.seen = thinnedSnapshots(this.seen, most / 2);
  }

  /** The snapshot of a step, or the last one before it. @param {number} step */
  at(step) {
    return this.seen.findLast((one) => one.step <= step) ?? this.seen[0];
  }
}

/** @param {Snapshot} snapshot */
const bytesOf = ({ maps, scores, says }) => maps.byteLength + scores.byteLength + says.byteLength;

/** A head does something that is plain to see from this score on. */
export const FORMED = 0.5;
/** Of the text's heads, which look back a little at several characters. */
const FORMED_IN_TEXT = 0.3;

/**
 * The moment of the change: from when on half of what is asked is said rightly; in a text, when a head looks at the
 * character before. Only steps count at which accuracy is measured at every speed.
 *
 * @param {readonly Snapshot[]} seen
 * @param {{ isText: boolean, scores: number }} about scores: how many a head has, the first is of the token before
 * @returns {number | undefined} a step
 */
export function changeOf(seen, { isText, scores }) {
  const looksBack = (/** @type {Snapshot} */ one) =>
    one.scores.some((score, i) => i % scores === 0 && score >= FORMED_IN_TEXT);
  const isIt = isText ? looksBack : (/** @type {Snapshot} */ one) => one.accuracy >= 0.5;
  const measured = seen.filter(({ step }) => isMeasuredAt(step));
  const first = measured.findIndex(isIt);
  return first > 0 ? measured[first].step : undefined;
}
