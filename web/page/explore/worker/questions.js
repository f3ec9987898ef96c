/**
 * The questions about a run: what the model predicts, and why. Heads that are muted are so in all answers.
 *
 * @import { HeadName } from '../../shared/head-names.js'
 * @import { Token } from '../../types.js'
 * @import { Heads } from './heads.js'
 */

import { PageError } from '../../shared/errors.js';
import { attributionOf, keysOf } from './attribution.js';
import { effectsOf, lossesOf, targetOf } from './effects.js';
import { lensOf } from './lens.js';
import { headMaskOf, idsOf } from './model.js';
import { opened, openedDecoder, otherRunOf, readingOf } from './opened.js';
import { patchingOf } from './patching.js';
import { likeliest, softmaxOf } from './predict.js';
import { qkScoreOf } from './qk-score.js';
import { take } from './slots.js';

/** How many of the likeliest next tokens are told. */
const LIKELIEST = 10;

/**
 * @typedef {object} About a prediction
 * @property {number} at the token after which it is, or which an encoder is to guess
 * @property {number | null} target id of the token that is asked about; null: the text's own, or the likeliest
 * @property {number | null} against id of another one
 */

/** What a target is compared with: not with itself, as it may be asked about without having been chosen. @param {number | null} target @param {About} about */
const comparedWith = (target, { against }) => (against === target ? null : against);

/**
 * @param {ReturnType<typeof readingOf>} reading
 * @param {About} about
 * @throws {PageError} no token can be asked about
 */
function askedOf({ now, heard }, about) {
  const target = targetOf(now, heard, about.at, about.target);
  if (target !== null) return { at: about.at, target, against: comparedWith(target, about) };
  throw new PageError('ERR_NAN', 'The model’s logits are NaN here: it predicts nothing.');
}

/**
 * What the model predicts: the likeliest tokens, and those that are asked about.
 *
 * @param {number} asked
 * @param {About} about
 * @param {string} by who asks, once at a time
 */
export async function predict(asked, about, by) {
  const { at } = about;
  const { now, heard } = readingOf(asked);
  const { text } = opened();
  await take(`predict ${by}`)();
  const after = softmaxOf(now.logits(at));
  const before = now === heard ? after : softmaxOf(heard.logits(at));
  const target = targetOf(now, heard, at, about.target);
  const against = comparedWith(target, about);
  const actual = now.actual(at) ?? null;
  const ids = likeliest(before, after, LIKELIEST);
  const others = [actual, target, against].filter((id) => id !== null && !ids.includes(id));
  const predictions = [...ids, ...new Set(/** @type {number[]} */ (others))].map((id) => ({
    token: text.token(id),
    before: before[id],
    after: after[id],
  }));
  return { at, target, actual, against, predictions };
}

/**
 * What every head does for a prediction.
 *
 * @param {number} asked
 * @param {About} about
 * @param {import('./effects.js').Method} method
 */
export async function* effects(asked, about, method) {
  const reading = readingOf(asked);
  const question = { ...askedOf(reading, about), method };
  yield* effectsOf(opened(), reading.now, question, take('effects'));
}

/**
 * The parts of the logit of a prediction.
 *
 * @param {number} asked
 * @param {About & { directions: boolean }} about
 * @param {string} by who asks, once at a time
 */
export async function attribution(asked, about, by) {
  const reading = readingOf(asked);
  await take(`attribution ${by}`)();
  const question = { ...askedOf(reading, about), directions: about.directions };
  return attributionOf(openedDecoder(), reading.now, question);
}

/** Another text, as the model reads it. @param {string} text @param {readonly number[]} added ids after the text's */
export function tokensOf(text, added) {
  const from = opened();
  return idsOf(from, text, added).map(from.text.token);
}

/**
 * What of a text brings its prediction back in another text of the same length.
 *
 * @param {number} asked
 * @param {About} about
 * @param {readonly number[]} other ids of the other one
 */
export async function* patching(asked, about, other) {
  const reading = readingOf(asked);
  const { now } = reading;
  const { at, ...scored } = askedOf(reading, about);
  const [ids, others] = [now.ids, other].map((all) => all.slice(0, at + 1));
  const model = openedDecoder();
  const headMask = headMaskOf(model.decoder, now.muted);
  const question = { ids, others, ...scored, headMask };
  yield* patchingOf(model, question, take('patching'));
}

/**
 * A head's weights in the text and in another one.
 *
 * @param {number} asked
 * @param {HeadName} name
 * @param {number[]} ids of the other one
 */
export function pairMaps(asked, { layer, head }, ids) {
  const { now } = readingOf(asked);
  const other = otherRunOf(ids, now.muted);
  const rowsIn = (/** @type {Heads} */ { n, rows: read }) => read(layer, head, 0, n);
  return { clean: rowsIn(now.source), other: rowsIn(other.source) };
}

/**
 * What the model would predict after each layer.
 *
 * @param {number} asked
 * @param {{ from: number, to: number, target: number }} where tokens from one up to but not including another
 * @param {string} by who asks, once at a time
 */
export async function* lens(asked, where, by) {
  const { now } = readingOf(asked);
  yield* lensOf(openedDecoder(), now, where, take(`lens ${by}`));
}

/**
 * What a head reads at each key for a prediction.
 *
 * @param {number} asked
 * @param {Parameters<typeof keysOf>[1]} head
 */
export async function headKeys(asked, head) {
  const { now } = readingOf(asked);
  await take('headKeys')();
  return keysOf(now, head);
}

/**
 * Why a head looks from one token at another.
 *
 * @param {number} asked
 * @param {import('./qk-score.js').Looked} looked
 * @param {string} by who asks, once at a time
 */
export async function qkScore(asked, looked, by) {
  const { now } = readingOf(asked);
  await take(`qkScore ${by}`)();
  return qkScoreOf(openedDecoder(), now, looked);
}

/**
 * How badly the text was predicted; nothing where it has too many logits.
 *
 * @param {number} asked
 * @returns {Promise<{ losses: Float32Array, mean: number, before: number } | null>}
 */
export async function losses(asked) {
  const { now, heard } = readingOf(asked);
  if (!now.hasLogits || now.ids.length < 2) return null;
  const pause = take('losses');
  const mean = (/** @type {Float32Array} */ all) =>
    all.reduce((sum, loss) => sum + loss, 0) / all.length;
  const [own, before] = [await lossesOf(now, pause), await lossesOf(heard, pause)];
  return { losses: own, mean: mean(own), before: mean(before) };
}

/**
 * The first token of some words, as the text would go on with them.
 *
 * @param {string} words
 * @returns {{ token: Token, isWhole: boolean }} isWhole: whether it is all of them
 */
export function tokenOf(words) {
  const { text } = opened();
  const ids = text.encode(words);
  if (ids.length === 0) throw new PageError('ERR_EMPTY', 'Type some text.');
  return { token: text.token(ids[0]), isWhole: ids.length === 1 };
}

/**
 * Writes tokens after the run's.
 *
 * @param {number} asked
 * @param {number} count
 * @param {{ temperature: number, topK?: number, seed?: number }} how
 */
export async function* write(asked, count, how) {
  const { ids, muted } = readingOf(asked).now;
  const { decoder, text } = openedDecoder();
  const left = decoder.config.contextLength - ids.length;
  if (left < 1) {
    throw new PageError('ERR_TOO_LONG', 'The text is as long as this model can read.');
  }
  const maxTokens = Math.min(count, left);
  const headMask = headMaskOf(decoder, muted);
  for (const id of decoder.generate(ids, { maxTokens, headMask, ...how })) {
    yield { ...text.token(id), id };
  }
}
