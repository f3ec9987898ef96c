/**
 * A model and its latest run, as the page knows them; what it is asked for is computed in the Worker.
 *
 * @import { Connected } from '../shared/connect.js'
 * @import { HeadName } from '../shared/head-names.js'
 * @import { HeadScores } from '../shared/head-scores.js'
 * @import { Token } from '../types.js'
 * @import { ExploreState } from './address.js'
 * @import { HostedModel, ModelFiles } from './model-files.js'
 * @import { TensorFiles } from './open/sort-files.js'
 * @import { Tensors } from './open/tensors.js'
 * @import { ExploreWorker } from './worker/explore-worker.js'
 * @import { About } from './worker/questions.js'
 * @import { Method } from './worker/effects.js'
 * @import { Cells, Region } from './worker/pool.js'
 * @import { What } from './worker/rows.js'
 *
 * @typedef {object} Opening
 * @property {(fraction: number) => void} onProgress
 * @property {AbortSignal} [signal]
 *
 * @typedef {'view' | 'report'} Asker who asks: each ends its own questions alone
 *
 * @typedef {object} RunSummary
 * @property {number} run its number
 * @property {number} n tokens
 * @property {number} written how many of them, at its end, the model wrote
 * @property {number} layers
 * @property {number} heads
 * @property {boolean} causal
 * @property {boolean} hasNorms whether maps can be weighted by what is written
 * @property {number[]} ids
 * @property {Token[]} tokens
 * @property {import('./worker/tokens.js').Unknown} [unknown] what of the text the vocabulary does not have
 * @property {readonly HeadName[]} muted
 * @property {number} ms of the forward
 * @property {number} bytes held for all maps
 * @property {number} residualBytes held so that a run with muted heads begins at the lowest of their layers
 *
 * @typedef {object} ModelSummary
 * @property {'model' | Tensors['kind']} kind
 * @property {string} note what is odd about what was opened; empty: nothing
 * @property {'next' | 'masked' | 'nothing'} predicts the next token, or one that is hidden
 * @property {string} [why] a model predicts nothing
 * @property {boolean} [hasScores] whether it looks like scores before the softmax
 * @property {{ contextLength: number, vocabSize: number, numLayers: number, numHeads: number, dModel: number, dFf: number }} [config] of a model
 * @property {string} [sample] of a model without a tokenizer, whose text is token ids: some to begin with
 * @property {'relaxed' | 'simd128'} simd
 * @property {number} threads
 */

import { connect, orEnd, PATIENCE_MS } from '../shared/connect.js';
import { PageError } from '../shared/errors.js';

/**
 * The token that is asked about before one is chosen: the last one; where every token sees all, the last that is hidden, else
 * the last of the text's own.
 *
 * @param {{ n: number, causal: boolean, tokens: Token[] }} run
 */
export function lastToken({ n, causal, tokens }) {
  if (causal) return n - 1;
  const hidden = tokens.findLastIndex(({ isMask }) => isMask);
  const own = tokens.findLastIndex(({ isSpecial }) => !isSpecial);
  return [hidden, own, n - 1].find((at) => at >= 0) ?? 0;
}

/** Told to all who wait for a Worker that was ended. */
const STOPPED = new PageError('ERR_STALE', 'Cancelled.');

/** Rows that are kept, in weights. */
const KEPT = 2 ** 20;

const startExploreWorker = () =>
  new Worker(new URL('./worker/explore-worker.js', import.meta.url), { type: 'module' });

export class Session {
  #remote;
  #end;
  #lost;
  #runs = 0;
  /** Whether the Worker is there: one that starts takes its time. */
  #hasAnswered = false;
  /** @type {Map<string, Promise<Float32Array>>} */ #kept = new Map();
  /** @type {ModelSummary | undefined} */ model;
  /** @type {RunSummary | undefined} */ run;
  /** What is open. @type {ModelFiles | HostedModel | TensorFiles | undefined} */ files;
  /** Of queries and keys that were opened: whether later keys are masked. */
  causal = true;
  /** Of scores that were opened: whether they are made weights. */
  softmax = false;
  /** Whether a Worker ended, and nothing has been opened in another one. */
  isLost = false;

  /**
   * @param {object} [options]
   * @param {(error: Error) => void} [options.lost] called when what was open went with its Worker
   * @param {() => Worker} [options.startWorker] for tests
   */
  constructor({ lost = () => {}, startWorker = startExploreWorker } = {}) {
    /** @type {Connected<ExploreWorker>} */
    const { remote, end } = connect(startWorker, { lost: (error) => this.#lose(error) });
    this.#remote = remote;
    this.#end = end;
    this.#lost = lost;
  }

  /** Ends the Worker, and with it what was open: a text that is being read cannot be left otherwise. */
  stop() {
    this.#end(STOPPED);
    this.#lose(STOPPED);
  }

  /** @param {Error} error */
  #lose(error) {
    const wasOpen = this.#forget();
    if (wasOpen) this.#lost(error);
  }

  /** What went with the Worker. @returns whether something was open */
  #forget() {
    const wasOpen = this.files !== undefined;
    this.files = undefined;
    this.run = undefined;
    this.isLost = true;
    this.#hasAnswered = false;
    return wasOpen;
  }

  /**
   * @param {ModelFiles | HostedModel | TensorFiles} files
   * @param {Opening} options
   */
  async open(files, options) {
    if (files === this.files) return;
    this.model = await this.#opened(files, options);
    this.#hasAnswered = true;
    this.files = files;
    this.isLost = false;
    this.run = undefined; // the Worker let go of it
  }

  /**
   * What the Worker says of files that it has opened. If it does not hear of them, as it reads a text without end, another one
   * opens them; if it does not hear that they are not wanted, as it reads them without end, it is ended.
   *
   * @param {ModelFiles | HostedModel | TensorFiles} files
   * @param {Opening} options
   * @returns {Promise<ModelSummary>}
   */
  async #opened(files, { onProgress, signal = new AbortController().signal }) {
    let isHeard = !this.#hasAnswered;
    const asked = this.#remote.open(
      files,
      (/** @type {number} */ fraction) => {
        isHeard = true;
        this.#hasAnswered = true;
        onProgress(fraction);
      },
      signal,
    );
    const hearing = setTimeout(() => {
      if (isHeard || signal.aborted) return;
      this.#end(STOPPED);
      this.#forget();
    }, PATIENCE_MS);
    try {
      return await orEnd({ end: () => this.stop() }, asked, signal);
    } catch (error) {
      if (error !== STOPPED || signal.aborted) throw error;
    } finally {
      clearTimeout(hearing);
    }
    return this.#opened(files, { onProgress, signal });
  }

  /** Whether there is a model that reads texts, not only its tensors. */
  get hasModel() {
    return this.model?.kind === 'model';
  }

  /** Whether tokens are words or numbers of their own, and no parts of a text. */
  get isApart() {
    return !this.hasModel || this.model?.sample !== undefined;
  }

  /**
   * @param {string} text
   * @param {Pick<ExploreState, 'text' | 'added' | 'muted'>} state its text is null if `text` is a sample
   * @returns {Promise<RunSummary>}
   */
  async read(text, { text: own, added, muted }) {
    const isSample = own === null;
    const { causal, softmax } = this;
    const reading = { text, isSample, added, muted, causal, softmax };
    const run = await this.#remote.run(++this.#runs, reading);
    this.#kept.clear();
    this.run = run;
    return run;
  }

  /** The number of the run that is asked about. */
  get #number() {
    return this.run?.run ?? 0;
  }

  /** @param {number} layer @param {number} size @returns {Promise<{ size: number, maps: Float32Array[] }>} */
  thumbs(layer, size) {
    return this.#remote.thumbs(this.#number, { layer, size });
  }

  /** @param {string} slot @param {What} what @param {Region} region @returns {Promise<Cells & { ms: number }>} */
  region(slot, what, region) {
    return this.#remote.region(this.#number, { slot, what, region });
  }

  /** @param {number} layer @returns {Promise<HeadScores[]>} of its heads */
  scores(layer) {
    return this.#remote.scores(this.#number, layer);
  }

  /** What the model says after a token. @param {About} about @param {Asker} [by] */
  predict(about, by = 'view') {
    return this.#remote.predict(this.#number, about, by);
  }

  /** What every head does for a prediction, until the loop is left. @param {About} about @param {Method} method */
  effects(about, method) {
    return this.#remote.effects(this.#number, about, method);
  }

  /** The parts of a logit. @param {About} about @param {boolean} [directions] of the heads too @param {Asker} [by] */
  attribution(about, directions = false, by = 'view') {
    return this.#remote.attribution(this.#number, { ...about, directions }, by);
  }

  /** What would be predicted after each layer, until the loop is left. @param {Parameters<ExploreWorker['lens']>[1]} where @param {Asker} [by] */
  lens(where, by = 'view') {
    return this.#remote.lens(this.#number, where, by);
  }

  /** @param {string} text another one @param {readonly number[]} added ids after the text's @returns {Promise<Token[]>} as the model reads it */
  tokensOf(text, added) {
    return this.#remote.tokensOf(text, added);
  }

  /** What of the text brings its prediction back in another text, until the loop is left. @param {About} about @param {number[]} ids of the other text */
  patching(about, ids) {
    return this.#remote.patching(this.#number, about, ids);
  }

  /** A head's weights in the text and in another one. @param {HeadName} head @param {number[]} ids of the other text */
  pairMaps(head, ids) {
    return this.#remote.pairMaps(this.#number, head, ids);
  }

  /** What a head reads at each key for a prediction. @param {Parameters<ExploreWorker['headKeys']>[1]} head */
  headKeys(head) {
    return this.#remote.headKeys(this.#number, head);
  }

  /** Why a head looks from one token at another. @param {Parameters<ExploreWorker['qkScore']>[1]} looked @param {Asker} [by] */
  qkScore(looked, by = 'view') {
    return this.#remote.qkScore(this.#number, looked, by);
  }

  /** How badly each token was predicted; null: nobody knows. */
  losses() {
    return this.#remote.losses(this.#number);
  }

  /** @param {string} words */
  tokenOf(words) {
    return this.#remote.tokenOf(words);
  }

  /**
   * Lets the model write on, until the loop over its tokens is left.
   *
   * @param {Pick<ExploreState, 'decoding' | 'temperature' | 'topK' | 'seed' | 'count'>} how
   */
  write({ decoding, temperature, topK, seed, count }) {
    const how =
      decoding === 'greedy'
        ? { temperature: 0 }
        : { temperature, topK: topK === 0 ? undefined : topK, seed };
    return this.#remote.write(this.#number, count, how);
  }

  /** @param {What} what @param {number} start @param {number} end @returns {Promise<Float32Array>} not kept */
  rows(what, start, end) {
    return this.#remote.rows(this.#number, { what, start, end });
  }

  /** @param {What} what @param {number} query @returns {Promise<Float32Array>} */
  row(what, query) {
    return this.#keep(`row ${JSON.stringify(what)} ${query}`, () =>
      this.rows(what, query, query + 1),
    );
  }

  /** @param {What} what @param {number} key @returns {Promise<Float32Array>} */
  column(what, key) {
    const slot = `column ${JSON.stringify(what)} ${key}`;
    return this.#keep(slot, () => this.#remote.column(this.#number, { slot, what, key }));
  }

  /** @param {What} what @param {{ side: 'query' | 'key', token: number }} pin */
  line(what, { side, token }) {
    return side === 'query' ? this.row(what, token) : this.column(what, token);
  }

  /** @param {string} name @param {() => Promise<Float32Array>} ask */
  #keep(name, ask) {
    const kept = this.#kept.get(name);
    if (kept) return kept;
    while (this.#kept.size > KEPT / (this.run?.n ?? 1)) {
      const [oldest] = this.#kept.keys();
      this.#kept.delete(oldest);
    }
    const asked = ask();
    this.#kept.set(name, asked);
    asked.catch(() => {
      // A later run may have asked under the same name meanwhile.
      if (this.#kept.get(name) === asked) this.#kept.delete(name);
    });
    return asked;
  }
}
