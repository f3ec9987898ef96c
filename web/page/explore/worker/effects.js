/**
 * What every head does for a prediction: each is muted in turn.
 *
 * @import { Model, Run } from './model.js'
 *
 * @typedef {object} Effects
 * @property {Float64Array} effects of every head, layer after layer: the change of the score when it is muted; NaN: not
 *   yet known
 * @property {number} done heads
 * @property {number} target id of the token
 */

import { headAt } from '../address.js';
import { headMaskOf, logitsAt, networkOf } from './model.js';
import { scoreOf } from './predict.js';

/**
 * The token that is asked about: the chosen one, else the text's own, else the likeliest while all heads are heard.
 *
 * @param {Run} run
 * @param {Run} base the same text's run with all heads heard
 * @param {number} at
 * @param {number | null} chosen
 */
export function targetOf({ actual }, base, at, chosen) {
  const known = chosen ?? actual(at);
  if (known !== undefined) return known;
  const logits = base.logits(at);
  return logits.indexOf(logits.reduce((most, logit) => Math.max(most, logit)));
}

/**
 * @param {Model} model
 * @param {Run} run some of whose heads may be muted already: the others are muted besides
 * @param {{ at: number, target: number, against: number | null }} asked at: which prediction
 * @param {() => Promise<void>} breathe called between heads
 * @returns {AsyncGenerator<Effects, void, void>} as far as they are known
 */
export async function* effectsOf(model, run, { at, target, against }, breathe) {
  const network = networkOf(model);
  const { numLayers, numHeads } = network.config;
  const count = numLayers * numHeads;
  const before = scoreOf(run.logits(at), target, against);
  const effects = new Float64Array(count).fill(NaN);
  let told = performance.now();
  for (let i = 0; i < count; i++) {
    const headMask = headMaskOf(network, [...run.muted, headAt(i, numHeads)]);
    effects[i] = scoreOf(logitsAt(model, run.ids, at, headMask), target, against) - before;
    await breathe();
    if (performance.now() - told > TELL_MS && i + 1 < count) {
      told = performance.now();
      yield { effects: effects.slice(), done: i + 1, target };
    }
  }
  yield { effects, done: count, target };
}

/** Between two reports. */
const TELL_MS = 100;

/**
 * How badly each token of the text was foreseen.
 *
 * @param {Run} run that has its logits
 * @param {() => Promise<void>} breathe called between tokens
 * @returns {Promise<Float32Array>} of every token but the first, in nats
 */
export async function lossesOf(run, breathe) {
  const losses = new Float32Array(run.ids.length - 1);
  for (let at = 0; at < losses.length; at++) {
    losses[at] = -logProbabilityOf(run, at);
    if (at % PAUSE === PAUSE - 1) await breathe();
  }
  return losses;
}

/** Tokens between two pauses. */
const PAUSE = 64;

/** @param {Run} run @param {number} at */
const logProbabilityOf = (run, at) => scoreOf(run.logits(at), run.ids[at + 1], null);
