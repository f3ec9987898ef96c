/**
 * What every head does for a prediction: each is muted in turn.
 *
 * @import { Model, Run } from './model.js'
 *
 * @typedef {'zero' | 'mean' | 'resample'} Method what takes the place of a head's output: nothing, its mean over the text so far, or
 *   what it gives where the text's tokens stand in another order
 * @typedef {{ at: number, target: number, against: number | null, method?: Method }} Asked at: which prediction; method: 'zero'
 *   if it is left out
 *
 * @typedef {object} Effects
 * @property {Float64Array} effects of every head, layer after layer: the change of the score when it is muted; NaN: not
 *   yet known
 * @property {number} done heads
 * @property {number} target id of the token
 */

import { ablation } from '../../../headwise/understanding.js';
import { breathe } from '../../shared/breathe.js';
import { headAt } from '../../shared/head-names.js';
import { headMaskOf, logitsAt, networkOf } from './model.js';
import { scoreOf } from './predict.js';
import { shuffles } from './shuffles.js';
import { told } from './told.js';

/**
 * The token that is asked about: the chosen one, else the text's own, else the likeliest while all heads are heard.
 * Where a logit is NaN, no token has a probability, and none can be asked about.
 *
 * @param {Run} run
 * @param {Run} base the same text's run with all heads heard
 * @param {number} at
 * @param {number | null} chosen
 * @returns {number | null}
 */
export function targetOf({ actual }, base, at, chosen) {
  const logits = base.logits(at);
  const most = logits.reduce((largest, logit) => Math.max(largest, logit));
  return Number.isFinite(most) ? (chosen ?? actual(at) ?? logits.indexOf(most)) : null;
}

/**
 * What a head's muting changes, told as soon as it is known.
 *
 * @callback Tell
 * @param {number} head layer after layer
 * @param {number} effect
 */

/**
 * A decoder's layers below a muted head are computed once.
 *
 * @param {import('../../../headwise/models.js').Decoder} decoder
 * @param {Run} run
 * @param {Asked} about
 * @param {AbortSignal} signal
 * @param {Tell} tell
 */
async function sweepDecoder(decoder, run, { at, target, against, method = 'zero' }, signal, tell) {
  const { numHeads } = decoder.config;
  await ablation(decoder, run.ids, {
    ...{ position: at, target, signal, method },
    ...(method === 'resample' && { texts: shuffles(run.ids) }),
    ...(against !== null && { against }),
    headMask: headMaskOf(decoder, run.muted),
    onProgress: ({ layer, head, effect }) => tell(layer * numHeads + head, effect),
  });
}

/**
 * An encoder is run whole for each head.
 *
 * @param {Model} model
 * @param {Run} run
 * @param {{ at: number, target: number, against: number | null }} about
 * @param {AbortSignal} signal
 * @param {Tell} tell
 */
async function sweepEncoder(model, run, { at, target, against }, signal, tell) {
  const network = networkOf(model);
  const { numLayers, numHeads } = network.config;
  const before = scoreOf(run.logits(at), target, against);
  for (let i = 0; i < numLayers * numHeads; i++) {
    const headMask = headMaskOf(network, [...run.muted, headAt(i, numHeads)]);
    tell(i, scoreOf(logitsAt(model, run.ids, at, headMask), target, against) - before);
    await breathe(signal);
  }
}

/**
 * @param {Model} model
 * @param {Run} run some of whose heads may be muted already: the others are muted besides
 * @param {Asked} about
 * @param {() => Promise<void>} check called between reports; what it throws ends the sweep
 * @returns {AsyncGenerator<Effects, void, void>} as far as they are known
 */
export async function* effectsOf(model, run, about, check) {
  const { numLayers, numHeads } = networkOf(model).config;
  const count = numLayers * numHeads;
  const effects = new Float64Array(count).fill(NaN);
  const { target } = about;
  let done = 0;
  const tell = (/** @type {number} */ i, /** @type {number} */ effect) => {
    effects[i] = effect;
    done++;
  };
  const sweep = (/** @type {AbortSignal} */ signal) =>
    'decoder' in model
      ? sweepDecoder(model.decoder, run, about, signal, tell)
      : sweepEncoder(model, run, about, signal, tell);
  yield* told(sweep, () => ({ effects: effects.slice(), done, target }), check);
}

/**
 * How badly each token of the text was predicted.
 *
 * @param {Run} run that has its logits
 * @param {() => Promise<void>} pause called between tokens
 * @returns {Promise<Float32Array>} of every token but the first, in nats
 */
export async function lossesOf(run, pause) {
  const losses = new Float32Array(run.ids.length - 1);
  for (let at = 0; at < losses.length; at++) {
    losses[at] = -logProbabilityOf(run, at);
    if (at % PAUSE === PAUSE - 1) await pause();
  }
  return losses;
}

/** Tokens between two pauses. */
const PAUSE = 64;

/** @param {Run} run @param {number} at */
const logProbabilityOf = (run, at) => scoreOf(run.logits(at), run.ids[at + 1], null);
