/**
 * All that was seen of a run, within a bound: where there is more, about every other snapshot goes, again and again.
 *
 * @import { Snapshot } from './trainer.js'
 *
 * @typedef {Snapshot & { loss: number }} Seen loss: of the steps up to it, smoothed; NaN: there were none
 */

/** The most bytes of maps that are kept. */
const MOST_BYTES = 6 * 2 ** 20;
const MOST_SNAPSHOTS = 600;
/** Each step's rows shake its loss: how much a step counts. */
const SHARE = 0.05;

export class History {
  /** By their steps. @type {Seen[]} */
  seen = [];
  #stride = 1;
  #loss = NaN;

  get bytes() {
    return this.seen.reduce((sum, one) => sum + bytesOf(one), 0);
  }

  get last() {
    return this.seen.at(-1);
  }

  /** @param {Snapshot} snapshot of a later step, or of the last one anew @param {Float32Array} losses since the last one */
  add(snapshot, losses) {
    for (const loss of losses) {
      this.#loss = Number.isNaN(this.#loss) ? loss : this.#loss + SHARE * (loss - this.#loss);
    }
    if (this.last?.step === snapshot.step) this.seen.pop();
    this.seen.push({ ...snapshot, loss: this.#loss });
    const most = Math.min(MOST_SNAPSHOTS, Math.floor(MOST_BYTES / bytesOf(snapshot)));
    if (this.seen.length > most) this.#thin(most);
  }

  /** Leaves half of the most at most, evenly: the first of each stretch of steps, and the last of all. @param {number} most */
  #thin(most) {
    const { last } = this;
    const stretchOf = (/** @type {Seen | undefined} */ one) =>
      Math.floor((one?.step ?? -1) / this.#stride);
    while (this.seen.length > most / 2) {
      this.seen = this.seen.filter(
        (one, i, all) => stretchOf(one) !== stretchOf(all[i - 1]) || one === last,
      );
      if (this.seen.length > most / 2) this.#stride *= 2;
    }
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
 * character before.
 *
 * @param {readonly Seen[]} seen
 * @param {{ isText: boolean, scores: number }} about scores: how many a head has, the first is of the token before
 * @returns {number | undefined} a step
 */
export function changeOf(seen, { isText, scores }) {
  const looksBack = (/** @type {Seen} */ one) =>
    one.scores.some((score, i) => i % scores === 0 && score >= FORMED_IN_TEXT);
  const isIt = isText ? looksBack : (/** @type {Seen} */ one) => one.accuracy >= 0.5;
  const first = seen.findIndex(isIt);
  return first > 0 ? seen[first].step : undefined;
}
