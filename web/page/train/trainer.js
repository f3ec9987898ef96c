/**
 * A run: a model that learns a task, step by step, and what is seen of it. Free of the page: Workers and Node run it.
 *
 * @import { Headwise, Tensor } from '../../headwise/index.js'
 * @import { HeadName } from '../shared/head-names.js'
 * @import { Row, Task } from './tasks/task.js'
 * @import { Settings } from './settings.js'
 *
 * @typedef {object} Snapshot what is seen after a step
 * @property {number} step steps done
 * @property {number} accuracy share of what held-out rows ask that the model says; NaN: not measured at this step
 * @property {Uint8Array} maps of the example: [layers, heads, tokens, tokens], 255 is a weight of 1
 * @property {Float32Array} scores [layers, heads, SCORES]
 * @property {Uint8Array} says for each of the example's tokens, what comes next according to the model
 * @property {string} written what the model writes from the task's prompt; '': not asked for
 * @property {HeadName[]} muted
 * @property {boolean} wasMuted whether a head is muted or was while it learned: the settings alone do not make such a run
 *
 * @typedef {object} Saved all that a run goes on from, to the bit
 * @property {number} step
 * @property {Record<string, SavedTensor>} weights
 * @property {Record<string, SavedTensor>} optimizer
 * @property {Muted[]} [muted]
 * @property {boolean} [wasMuted]
 * @property {number} [loss] smoothed, as the curve has it
 *
 * @typedef {{ data: Float32Array, shape: readonly number[] }} SavedTensor
 * @typedef {{ head: HeadName, rows: Float32Array }} Muted rows: what the head's output projection was
 */

import { Gpt2 } from '../../headwise/gpt2.js';
import { tensor } from '../../headwise/index.js';
import { HeadScorer } from '../shared/head-scores.js';
import { drawWeights, groupsOf, optionsOf } from './model.js';
import { isMeasuredAt, SCORES } from './scores.js';
import { batchOf, BETAS, takeStep } from './step.js';
import { randomBelow } from './tasks/random.js';
import { IGNORED, times } from './tasks/task.js';

const WARM_UP = 50;
/** Tokens of the rows that accuracy is measured on. */
const HELD_OUT_TOKENS = 1024;
/** Apart from every step's number. */
const [HELD_OUT, EXAMPLE] = [2 ** 31, 2 ** 31 + 2];
const TEMPERATURE = 0.6;
/** Each step's rows shake its loss: how much a step counts. */
const LOSS_SHARE = 0.05;

/** @param {Float32Array} values @param {number} start @param {number} count @returns {number} the largest one's place */
function largestIn(values, start, count) {
  let best = 0;
  for (let i = 1; i < count; i++) if (values[start + i] > values[start + best]) best = i;
  return best;
}

/** What a row's weights spread over evenly would have as entropy, in bits. @param {number} tokens */
const mostEntropy = (tokens) =>
  times(tokens - 1, (i) => Math.log2(i + 2)).reduce((sum, bits) => sum + bits, 0) / (tokens - 1);

/** @param {Record<string, Tensor>} dict @returns {Record<string, SavedTensor>} */
const plain = (dict) =>
  Object.fromEntries(
    Object.entries(dict).map(([name, { data, shape }]) => [
      name,
      { data: /** @type {Float32Array} */ (data), shape: [...shape] },
    ]),
  );

/** @param {Record<string, SavedTensor>} dict */
const tensors = (dict) =>
  Object.fromEntries(
    Object.entries(dict).map(([name, { data, shape }]) => [name, tensor(data, shape)]),
  );

/** @param {HeadName} head */
const keyOf = ({ layer, head }) => `${layer} ${head}`;

export class Trainer {
  #hw;
  #task;
  #settings;
  #groups;
  #heldOut;
  /** The rows of output projections that muted heads had. @type {Map<string, Muted>} */
  #muted = new Map();
  /** Whether a step was done with a muted head. */
  #learntMuted = false;
  /** Steps done. */
  step = 0;
  /** After the last step, smoothed. @type {number | undefined} */
  loss;
  /** What maps are drawn of. @type {Row} */
  example;

  /** @param {Headwise} hw @param {Task} task @param {Settings} settings */
  constructor(hw, task, settings) {
    this.#hw = hw;
    this.#task = task;
    this.#settings = settings;
    this.characters = [...task.characters];
    this.model = new Gpt2(hw, optionsOf(task, settings), false);
    drawWeights(hw, this.model, settings);
    this.#groups = groupsOf(this.model, settings);
    this.optimizer = new hw.AdamW(this.#groups, { lr: settings.lr, betas: BETAS });
    // The example and the rows of accuracy are the same for every seed, so that runs can be compared.
    this.example = task.row(randomBelow(EXAMPLE), true);
    const random = randomBelow(HELD_OUT);
    this.#heldOut = times(Math.ceil(HELD_OUT_TOKENS / task.tokens), () => task.row(random, true));
  }

  /** A step on rows of its own: forward, backward, clipping, AdamW. @returns {number} its loss */
  train() {
    const { seed, lr } = this.#settings;
    const random = randomBelow(seed, this.step);
    const rows = times(this.#task.batch, () => this.#task.row(random));
    const run = { hw: this.#hw, model: this.model, optimizer: this.optimizer };
    const params = this.#groups.flatMap((group) => group.params);
    const value = takeStep({ ...run, params }, rows, lr * Math.min(1, (this.step + 1) / WARM_UP));
    for (const { head } of this.#muted.values()) this.#silence(head);
    this.#learntMuted ||= this.#muted.size > 0;
    this.step++;
    this.loss = this.loss === undefined ? value : this.loss + LOSS_SHARE * (value - this.loss);
    return value;
  }

  /** @param {boolean} [measures] accuracy too, which takes almost as long as a step @returns {Snapshot} */
  snapshot(measures = isMeasuredAt(this.step)) {
    const { ids } = this.example;
    const { weights, logits } = this.model.forward(ids, { needWeights: true, logits: 'all' });
    const { vocabSize } = this.model.options;
    const all = /** @type {Float32Array} */ (logits.data);
    const says = Uint8Array.from(ids, (_, i) => largestIn(all, i * vocabSize, vocabSize));
    const written = this.#task.prompt ? this.#write() : '';
    const seen = this.#look(weights);
    const { step, muted, wasMuted } = this;
    const accuracy = measures ? this.#accuracy() : NaN;
    return { step, accuracy, ...seen, says, written, muted, wasMuted };
  }

  /** @param {Tensor[]} weights of the example, layer after layer */
  #look(weights) {
    const { ids, answers } = this.example;
    const { numHeads } = this.model.options;
    const n = ids.length;
    const cells = n * n;
    const most = mostEntropy(n);
    const maps = new Uint8Array(weights.length * numHeads * cells);
    const scores = new Float32Array(weights.length * numHeads * SCORES.length);
    for (let i = 0; i < weights.length * numHeads; i++) {
      const start = (i % numHeads) * cells;
      const { data } = weights[Math.floor(i / numHeads)];
      const own = /** @type {Float32Array} */ (data).subarray(start, start + cells);
      own.forEach((weight, at) => (maps[i * cells + at] = Math.round(255 * weight)));
      const scorer = new HeadScorer(n, answers);
      scorer.add(own, 0);
      const { previous, induction, entropy } = scorer.scores;
      scores.set([previous, induction, entropy / most], i * SCORES.length);
    }
    return { maps, scores };
  }

  #accuracy() {
    const rows = this.#heldOut;
    const { vocabSize } = this.model.options;
    const { logits } = this.model.forward(batchOf(rows, 'ids'), { logits: 'all' });
    const all = /** @type {Float32Array} */ (logits.data);
    const targets = rows.flatMap((row) => row.targets);
    let [asked, right] = [0, 0];
    targets.forEach((target, i) => {
      if (target === IGNORED) return;
      asked++;
      right += Number(largestIn(all, i * vocabSize, vocabSize) === target);
    });
    return right / asked;
  }

  #write() {
    const { prompt, tokens } = this.#task;
    const known = this.characters;
    const ids = [...prompt].map((character) => known.indexOf(character));
    const how = { maxTokens: tokens - ids.length, temperature: TEMPERATURE, seed: 1 };
    return [...this.model.generate(ids, how)].map((id) => known[id]).join('');
  }

  /** A head's rows of its layer's output projection. @param {HeadName} head */
  #projectionOf({ layer, head }) {
    const name = `h.${layer}.attn.c_proj.weight`;
    const parameter = this.model.namedParameters().find((one) => one.name === name);
    if (!parameter) throw new Error(`there is no ${name}`);
    const { dModel, numHeads } = this.model.options;
    const size = (dModel / numHeads) * dModel;
    return { parameter, start: head * size, size };
  }

  /** Writes a head's rows; default: zeros. @param {HeadName} head @param {Float32Array} [rows] */
  #silence(head, rows) {
    const { parameter, start, size } = this.#projectionOf(head);
    const { data, shape } = parameter.data;
    data.set(rows ?? new Float32Array(size), start);
    parameter.data = tensor(data, shape);
  }

  /**
   * Mutes a head from the next step on, or unmutes it with what it wrote before.
   *
   * @param {HeadName} head
   * @param {boolean} isMuted
   */
  mute(head, isMuted) {
    const key = keyOf(head);
    const kept = this.#muted.get(key);
    if (Boolean(kept) === isMuted) return;
    if (kept) {
      this.#muted.delete(key);
      this.#silence(head, kept.rows);
      return;
    }
    const { parameter, start, size } = this.#projectionOf(head);
    const rows = /** @type {Float32Array} */ (parameter.data.data).slice(start, start + size);
    this.#muted.set(key, { head, rows });
    this.#silence(head);
  }

  /** @returns {Saved} */
  save() {
    const [weights, optimizer] = [this.model.stateDict(), this.optimizer.stateDict()];
    const { step, mutedRows: muted, wasMuted, loss } = this;
    return { step, weights: plain(weights), optimizer: plain(optimizer), muted, wasMuted, loss };
  }

  /** Goes on from a run of the same settings. @param {Saved} saved */
  restore({ step, weights, optimizer, muted = [], wasMuted = false, loss }) {
    // Runs of attention alone used to have feed-forward parts of zeros.
    const own = new Set(this.model.parameters().map(({ name }) => name));
    const known = Object.entries(weights).filter(
      ([name]) => own.has(name) || !/\.(mlp|ln_2)\./.test(name),
    );
    this.model.loadStateDict(tensors(Object.fromEntries(known)));
    this.optimizer.loadStateDict(tensors(optimizer));
    this.#muted = new Map(muted.map((one) => [keyOf(one.head), one]));
    this.#learntMuted = wasMuted;
    this.step = step;
    this.loss = loss;
  }

  /** Muted heads, each with the rows that it is to have again. */
  get mutedRows() {
    return [...this.#muted.values()];
  }

  get muted() {
    return this.mutedRows.map(({ head }) => head);
  }

  get wasMuted() {
    return this.#learntMuted || this.#muted.size > 0;
  }

  dispose() {
    this.optimizer.dispose();
    this.model.dispose();
  }
}
