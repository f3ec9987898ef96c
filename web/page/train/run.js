/**
 * The page's side of one run: what its Worker told, and what to ask it for.
 *
 * @import { Connected } from '../shared/connect.js'
 * @import { HeadName } from '../shared/head-names.js'
 * @import { Signal } from '../shared/signals.js'
 * @import { Settings } from './settings.js'
 * @import { Saved, Snapshot } from './trainer.js'
 * @import { Told, TrainWorker } from './worker/train-worker.js'
 *
 * @typedef {Awaited<ReturnType<Connected<TrainWorker>['remote']['start']>>} About
 * @typedef {{ losses: readonly number[], snapshot: Snapshot }} Seen losses: since the snapshot before
 */

import { connect } from '../shared/connect.js';
import { PageError } from '../shared/errors.js';
import { isSameHead } from '../shared/head-names.js';
import { signal } from '../shared/signals.js';
import { changeOf, History } from './history.js';
import { SCORES } from './scores.js';
import { isText } from './words.js';

/** The most that one call may take, so that the maps move: it is asked for fewer steps. */
const CALL_MS = 40;

/** @param {readonly HeadName[]} heads @param {HeadName} head */
const has = (heads, head) => heads.some((one) => isSameHead(one, head));

export class Run {
  #connected;
  #msPerStep = CALL_MS;
  /** What is not shown yet, in the order of its steps. @type {Seen[]} */ #unseen = [];
  history = new History();
  /** Of the model, once it is there. @type {Signal<About | undefined>} */ about =
    signal(undefined);
  /** Counts what was added to the history. */ version = signal(0);
  /** Heads that are muted now. @type {Signal<readonly HeadName[]>} */ muted = signal([]);
  /** The step of the phase change. @type {number | undefined} */ change;
  isEnded = false;
  /** Whether its Worker is gone, and with it the model. */ isLost = false;

  /** @param {Settings} settings */
  constructor(settings) {
    this.settings = settings;
    /** @type {Connected<TrainWorker>} */
    this.#connected = connect(
      () => new Worker(new URL('./worker/train-worker.js', import.meta.url), { type: 'module' }),
      { lost: () => (this.isLost = true) },
    );
  }

  /** Done, and seen. */
  get step() {
    return this.history.last?.step ?? 0;
  }

  /** What the Worker told last, seen or not. */
  get #last() {
    return this.#unseen.at(-1)?.snapshot ?? this.history.last;
  }

  /** Done, seen or not. */
  get done() {
    return this.#last?.step ?? 0;
  }

  /** Whether a head is muted or was, of which the address tells nothing. */
  get wasMuted() {
    return this.muted.value.length > 0 || (this.history.last?.wasMuted ?? false);
  }

  /** As many steps as a call may take. */
  get most() {
    return Math.max(1, Math.floor(CALL_MS / this.#msPerStep));
  }

  /** @param {Saved} [saved] what it goes on from */
  async start(saved) {
    const about = await this.#connected.remote.start(this.settings, saved);
    this.#unseen.push({ losses: [], snapshot: about.first });
    this.show();
    this.muted.value = about.muted;
    this.about.value = about;
  }

  /** Does steps, to be shown with `show`. @param {number} steps */
  async advance(steps) {
    const before = performance.now();
    const seen = await this.#connected.remote.advance(steps);
    // Some clocks are coarse: 0 would ask for any number of steps.
    this.#msPerStep = Math.max(1, performance.now() - before) / steps;
    if (!this.isEnded) this.#unseen.push(...seen);
  }

  /** Shows all that was done. */
  show() {
    if (this.#unseen.length === 0) return;
    const how = { isText: isText(this.settings), scores: SCORES.length };
    for (const { losses, snapshot } of this.#unseen.splice(0)) {
      this.history.add(snapshot, losses);
      this.change ??= changeOf(this.history.seen, how);
    }
    this.version.value++;
  }

  /** Mutes a head, or unmutes it. @param {HeadName} head */
  async mute(head) {
    if (this.isEnded) return; // it is seen until another has begun
    const isMuted = !has(this.muted.peek(), head);
    this.#mark(head, isMuted);
    const snapshot = await this.#connected.remote.mute(head, isMuted).catch((error) => {
      this.#mark(head, has(this.#last?.muted ?? [], head)); // as the model still has it
      throw error;
    });
    if (this.isEnded) return;
    this.#unseen.push({ losses: [], snapshot });
    this.show();
  }

  /** @param {HeadName} head @param {boolean} isMuted */
  #mark(head, isMuted) {
    const others = this.muted.peek().filter((one) => !isSameHead(one, head));
    this.muted.value = isMuted ? [...others, head] : others;
  }

  /** What the run was at a step, or is now, to go on from. @param {number} [step] @param {Told} [told] */
  save(step, told) {
    return this.#connected.remote.save(step, told);
  }

  /** Its folder, with its name. @param {number} [step] default: now @param {Told} [told] */
  files(step, told) {
    return this.#connected.remote.files(step, this.settings, told);
  }

  end() {
    this.isEnded = true;
    this.#connected.end(new PageError('ERR_STALE', 'This run has ended.'));
  }
}
