/**
 * A text that was read: with all heads heard, and with those muted that are muted now. Muting a head changes only what is
 * above it: maps and scores of its own layer, and of those below, are computed once.
 *
 * @import { HeadName } from '../../shared/head-names.js'
 * @import { HeadScores } from '../../shared/head-scores.js'
 * @import { Heads } from './heads.js'
 * @import { Run } from './model.js'
 * @import { Rollouts } from './rollout.js'
 *
 * @typedef {object} Known of a run
 * @property {Rollouts} rollouts
 * @property {Map<string, Float32Array[]>} thumbs small maps, by layer and size
 * @property {Map<number, HeadScores[]>} scores by layer
 * @typedef {Run & { known: Known }} KnownRun
 */

export class Reading {
  #read;
  /** @type {KnownRun | undefined} */ #heard;
  /** @type {KnownRun} */ now;

  /**
   * @param {string} name what tells it from other texts
   * @param {(muted: readonly HeadName[], heard?: Run) => Run} read heard: the run with all heads heard, if there is one
   * @param {readonly HeadName[]} muted
   * @param {(source: Heads) => Rollouts} rolloutsOf
   */
  constructor(name, read, muted, rolloutsOf) {
    this.name = name;
    this.#read = (/** @type {readonly HeadName[]} */ heads) => {
      const run = read(heads, this.#heard);
      const known = { rollouts: rolloutsOf(run.source), thumbs: new Map(), scores: new Map() };
      return { ...run, known };
    };
    this.now = this.#run(muted);
  }

  /** @param {readonly HeadName[]} muted @returns {KnownRun} */
  #run(muted) {
    if (muted.length > 0) return this.#read(muted);
    this.#heard ??= this.#read(muted);
    return this.#heard;
  }

  /** Mutes others. @param {readonly HeadName[]} muted */
  mute(muted) {
    const before = this.now;
    this.now = this.#run(muted);
    if (before !== this.#heard) before.dispose();
  }

  /** The run with all heads heard. */
  get heard() {
    return this.#run([]);
  }

  /** Bytes that are kept for muting. */
  get residualBytes() {
    return this.#heard?.residuals?.data.byteLength ?? 0;
  }

  /** The run that knows a layer's maps. @param {number} layer */
  runOf(layer) {
    const isAsHeard = this.#heard && this.now.muted.every((head) => head.layer >= layer);
    return isAsHeard ? this.heard : this.now;
  }

  dispose() {
    this.#heard?.dispose();
    if (this.now !== this.#heard) this.now.dispose();
  }
}
