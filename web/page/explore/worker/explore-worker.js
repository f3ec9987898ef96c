/**
 * The Explore room's Worker: a model, its latest run, and all questions about the run's heads. What is asked for anew in
 * the same slot stops what was asked for before.
 *
 * @import { Token } from '../../types.js'
 * @import { HeadName } from '../address.js'
 * @import { HeadScores } from '../scores.js'
 * @import { HostedModel, ModelFiles } from '../model-files.js'
 * @import { TensorFiles } from '../open/sort-files.js'
 * @import { ModelSummary } from '../session.js'
 * @import { Tensors } from '../open/tensors.js'
 * @import { Heads } from './heads.js'
 * @import { DecoderModel, Model, Run } from './model.js'
 * @import { KnownRun } from './reading.js'
 * @import { Region } from './pool.js'
 * @import { What } from './rows.js'
 */

import { load } from '../../../headwise/index.js';
import { serve } from '../../../headwise/worker/serve.js';
import { breathe } from '../../shared/breathe.js';
import { PageError } from '../../shared/errors.js';
import { openTensors } from '../open/tensors.js';
import { attributionOf, keysOf } from './attribution.js';
import { effectsOf, lossesOf, targetOf } from './effects.js';
import { lensOf } from './lens.js';
import { headMaskOf, idsOf, networkOf, openModel, predictionOf, runModel } from './model.js';
import { patchingOf } from './patching.js';
import { columnOf, pooledCells, poolRegion } from './pool.js';
import { likeliest, softmaxOf } from './predict.js';
import { qkScoreOf } from './qk-score.js';
import { Reading } from './reading.js';
import { Rollouts, rollout } from './rollout.js';
import { minusRows, rowsOf } from './rows.js';
import { scoreLayer } from './score-heads.js';

/** How many of the likeliest next tokens are told. */
const LIKELIEST = 10;

/** The slot of the large map. */
const FIRST_MAP = 'map 0';

/** @type {ReturnType<typeof load> | undefined} */
let loading;
/** @type {Model | undefined} */
let model;
/** Opened instead of a model. @type {Tensors | undefined} */
let tensors;
/** What was read last. @type {Reading | undefined} */
let reading;
/** Another text's run, until another one is asked for. @type {{ text: string, run: Run } | undefined} */
let otherRun;
/** Of the latest run. */
let number = 0;
/** @type {Map<string, symbol>} the latest call of each slot */
const latest = new Map();

function engine() {
  loading ??= load({ threads: 'auto' }).catch((error) => {
    loading = undefined; // so that another try is possible
    throw error;
  });
  return loading;
}

const stale = () => new PageError('ERR_STALE', 'Something else was asked for since.');

/**
 * Takes a slot.
 *
 * @param {string} slot
 * @param {AbortSignal} [signal]
 * @returns {() => Promise<void>} lets messages in; rejects when the slot was taken again, and when the signal is aborted
 */
function take(slot, signal) {
  const mine = Symbol(slot);
  latest.set(slot, mine);
  return async () => {
    await breathe(signal);
    if (latest.get(slot) !== mine) throw stale();
  };
}

/** @param {number} asked a run's number @returns {Reading} */
function readingOf(asked) {
  if (!reading || asked !== number) throw stale();
  return reading;
}

/** @returns {Model} */
function opened() {
  if (model) return model;
  throw new PageError('ERR_LOAD', 'No model is open.');
}

/** @returns {DecoderModel} */
function openedDecoder() {
  const now = opened();
  if ('decoder' in now) return now;
  throw new PageError('ERR_VALUE', 'This model writes no text: it is an encoder.');
}

/** @param {import('../../../headwise/models.js').ModelConfig} config */
const sizesOf = ({ contextLength, vocabSize, numLayers, numHeads, dModel }) => ({
  ...{ contextLength, vocabSize, numLayers, numHeads, dModel },
});

/**
 * @param {ModelFiles | HostedModel | TensorFiles} files
 * @param {(progress: { fraction: number, label?: string }) => void} onProgress
 * @param {AbortSignal} [signal]
 * @returns {Promise<ModelSummary>}
 */
async function open(files, onProgress, signal) {
  const pause = take('open', signal);
  onProgress({ fraction: 0, label: 'Loading the engine' });
  const how = {
    signal,
    onProgress: (/** @type {number} */ fraction) => onProgress({ fraction, label: 'Loading' }),
  };
  const next =
    'tensors' in files
      ? { tensors: await openTensors(await engine(), files, how) }
      : { model: await openModel(engine(), files, how) };
  await pause().catch((error) => {
    if (next.model) networkOf(next.model).dispose();
    throw error;
  });
  reading?.dispose();
  reading = undefined;
  otherRun?.run.dispose();
  otherRun = undefined;
  if (model) networkOf(model).dispose();
  ({ model, tensors } = { model: undefined, tensors: undefined, ...next });
  const { kind, note, hasScores } = tensors ?? {
    kind: /** @type {const} */ ('model'),
    note: model?.note ?? '',
    hasScores: false,
  };
  return {
    kind,
    note,
    hasScores,
    ...(model ? predictionOf(model) : { predicts: /** @type {const} */ ('nothing') }),
    config: model && sizesOf(networkOf(model).config),
    sample: model?.text.sample,
    ...(await engine()).info,
  };
}

/**
 * @typedef {object} Wanted
 * @property {string} text
 * @property {boolean} isSample
 * @property {readonly number[]} added
 * @property {readonly HeadName[]} muted
 * @property {boolean} causal of queries and keys that were opened
 * @property {boolean} softmax whether scores that were opened are made weights
 *
 * @param {number} next number of the run, by which it is asked about
 * @param {Wanted} wanted
 */
function run(next, wanted) {
  const { name, read, muted } = tensors ? tensorsRun(tensors, wanted) : textRun(wanted);
  if (reading?.name === name) {
    reading.mute(muted);
  } else {
    const before = reading;
    reading = new Reading(
      name,
      read,
      muted,
      (source) =>
        new Rollouts(async (layer, pause) => rollout(await engine(), source, layer, pause)),
    );
    before?.dispose();
  }
  number = next;
  latest.delete('rollout');
  const { source, ids, tokens, ms, bytes } = reading.now;
  const { n, layers, heads, causal } = source;
  const { residualBytes } = reading;
  return {
    ...{ run: next, n, layers, heads, causal, hasNorms: source.norms !== undefined },
    ...{ ids, tokens, muted, ms, bytes, residualBytes },
  };
}

/** @param {Tensors} from @param {Wanted} wanted */
function tensorsRun(from, { causal, softmax }) {
  const read = () => from.run({ causal, softmax: softmax && from.hasScores });
  return { name: `tensors ${causal} ${softmax}`, read, muted: /** @type {HeadName[]} */ ([]) };
}

/** @param {Wanted} wanted */
function textRun({ text, isSample, added, muted }) {
  const from = opened();
  const ids = idsOf(from, text, added, isSample);
  const { numLayers, numHeads } = networkOf(from).config;
  /** @type {(heads: readonly HeadName[], heard?: Run) => Run} */
  const read = (heads, heard) => runModel(from, ids, heads, { heard, keepsResiduals: true });
  const has = (/** @type {HeadName} */ { layer, head }) => layer < numLayers && head < numHeads;
  return { name: ids.join(), read, muted: muted.filter(has) };
}

/**
 * One head's whole map, which the engine pools more quickly than rows could be.
 *
 * @param {Heads} source
 * @param {What} what
 * @param {Region} region
 */
function wholeHead({ n, map }, { of, layer, head, hideFirst, minus }, { queries, keys, height }) {
  const isWhole = queries[1] - queries[0] === n && keys[1] - keys[0] === n && height < n;
  if (!map || !isWhole || of !== 'head' || hideFirst || minus) return undefined;
  return pooledCells(map(layer, head, height), height);
}

/** The run that a map is of. @param {Reading} from @param {What} what */
const runFor = (from, { isBefore }) => (isBefore ? from.heard : from.now);

/**
 * The rows of any map of a run. A rollout that is under way is stopped by another one and by another map in its place.
 *
 * @param {Reading} from
 * @param {What} what
 * @returns {Promise<import('./heads.js').Rows>}
 */
async function mapRows(from, what) {
  const { minus, ...plain } = what;
  const { source, known } = runFor(from, what);
  const own = await rowsOf(source, plain, (layer) =>
    known.rollouts.upTo(layer, () => take('rollout')),
  );
  return minus ? minusRows(own, await mapRows(from, { ...plain, ...minus })) : own;
}

/**
 * @param {Reading} from
 * @param {What} what
 * @param {Region} part
 * @param {() => Promise<void>} pause
 */
const cellsOf = async (from, what, part, pause) =>
  wholeHead(runFor(from, what).source, what, part) ??
  poolRegion(await mapRows(from, what), from.now.source.n, part, pause);

/**
 * Small maps of a layer's heads.
 *
 * @param {number} asked
 * @param {{ layer: number, size: number }} wanted
 */
async function thumbs(asked, { layer, size }) {
  const from = readingOf(asked);
  const { source, known } = from.runOf(layer);
  const name = `${layer} ${size}`;
  const cells = Math.min(source.n, size);
  const maps = known.thumbs.get(name) ?? (await layerMaps(source, layer, cells));
  known.thumbs.set(name, maps);
  return { size: cells, maps };
}

/** @param {Heads} source @param {number} layer @param {number} cells */
async function layerMaps(source, layer, cells) {
  /** @type {[number, number]} */
  const all = [0, source.n];
  const whole = { queries: all, keys: all, height: cells, width: cells };
  const maps = [];
  for (let head = 0; head < source.heads; head++) {
    const what = { of: /** @type {const} */ ('head'), over: /** @type {const} */ ('layer'), layer };
    const one = { ...what, head, hideFirst: false };
    const own = await rowsOf(source, one, async () => new Float32Array(0));
    const { values } =
      wholeHead(source, one, whole) ?? (await poolRegion(own, source.n, whole, breathe));
    maps.push(values);
    await breathe();
  }
  return maps;
}

/** @param {number} asked @param {{ slot: string, what: What, region: Region }} wanted */
async function region(asked, { slot, what, region: part }) {
  const from = readingOf(asked);
  const pause = take(slot);
  if (slot === FIRST_MAP && what.of !== 'rollout') latest.delete('rollout');
  const start = performance.now();
  const cells = await cellsOf(from, what, part, pause);
  return { ...cells, ms: performance.now() - start };
}

/** @param {number} asked @param {{ what: What, start: number, end: number }} wanted */
async function rows(asked, { what, start, end }) {
  return (await mapRows(readingOf(asked), what))(start, end);
}

/** @param {number} asked @param {{ slot: string, what: What, key: number }} wanted */
async function column(asked, { slot, what, key }) {
  const from = readingOf(asked);
  const pause = take(slot);
  return columnOf(await mapRows(from, what), from.now.source.n, key, pause);
}

/** @param {number} asked @param {number} layer @returns {Promise<HeadScores[]>} of its heads */
async function scores(asked, layer) {
  const { source, ids, known } = readingOf(asked).runOf(layer);
  const own = known.scores.get(layer) ?? (await scoreLayer(source, layer, ids, take('scores')));
  known.scores.set(layer, own);
  return own;
}

/**
 * @typedef {object} About a prediction
 * @property {number} at the token behind which it is, or which an encoder is to guess
 * @property {number | null} target id of the token that is asked about; null: the text's own, or the likeliest
 * @property {number | null} against id of another one
 */

/**
 * What the model predicts: the likeliest tokens, and those that are asked about.
 *
 * @param {number} asked
 * @param {About} about
 * @param {string} by who asks, once at a time
 */
async function predict(asked, { at, target: chosen, against }, by) {
  const { now, heard } = readingOf(asked);
  const { text } = opened();
  await take(`predict ${by}`)();
  const after = softmaxOf(now.logits(at));
  const before = now === heard ? after : softmaxOf(heard.logits(at));
  const target = targetOf(now, heard, at, chosen);
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
async function* effects(asked, { at, target, against }, method) {
  const { now, heard } = readingOf(asked);
  const about = { at, target: targetOf(now, heard, at, target), against, method };
  yield* effectsOf(opened(), now, about, take('effects'));
}

/**
 * The parts of the logit of a prediction, with all heads heard.
 *
 * @param {number} asked
 * @param {About & { directions: boolean }} about
 * @param {string} by who asks, once at a time
 */
async function attribution(asked, { at, target, against, directions }, by) {
  const { now, heard } = readingOf(asked);
  await take(`attribution ${by}`)();
  const about = { at, target: targetOf(now, heard, at, target), against, directions };
  return attributionOf(openedDecoder(), heard, about);
}

/** Another text, as the model reads it. @param {string} text */
function tokensOf(text) {
  const from = opened();
  return idsOf(from, text, []).map(from.text.token);
}

/**
 * What of a text brings its prediction back in another text of the same length, with all heads heard.
 *
 * @param {number} asked
 * @param {About} about
 * @param {string} text the other one
 */
async function* patching(asked, { at, target, against }, text) {
  const { now, heard } = readingOf(asked);
  const [ids, others] = [now.ids, idsOf(opened(), text, [])].map((all) => all.slice(0, at + 1));
  const about = { ids, others, target: targetOf(now, heard, at, target), against };
  yield* patchingOf(openedDecoder(), about, take('patching'));
}

/**
 * A head's weights in the text and in another one, with all heads heard.
 *
 * @param {number} asked
 * @param {HeadName} name
 * @param {string} text the other one
 */
function pairMaps(asked, { layer, head }, text) {
  const { heard } = readingOf(asked);
  const of = opened();
  if (otherRun?.text !== text) {
    otherRun?.run.dispose();
    otherRun = { text, run: runModel(of, idsOf(of, text, []), []) };
  }
  const rowsIn = (/** @type {Heads} */ { n, rows: read }) => read(layer, head, 0, n);
  return { clean: rowsIn(heard.source), other: rowsIn(otherRun.run.source) };
}

/**
 * What the model would predict after each layer, with all heads heard.
 *
 * @param {number} asked
 * @param {{ from: number, to: number, target: number }} where tokens from one up to but not including another
 * @param {string} by who asks, once at a time
 */
async function* lens(asked, where, by) {
  const { heard } = readingOf(asked);
  yield* lensOf(openedDecoder(), heard, where, take(`lens ${by}`));
}

/**
 * What a head reads at each key for a prediction, with all heads heard.
 *
 * @param {number} asked
 * @param {Parameters<typeof keysOf>[1]} head
 */
async function headKeys(asked, head) {
  const { heard } = readingOf(asked);
  await take('headKeys')();
  return keysOf(heard.source, head);
}

/**
 * Why a head looks from one token at another.
 *
 * @param {number} asked
 * @param {import('./qk-score.js').Looked} looked
 * @param {string} by who asks, once at a time
 */
async function qkScore(asked, looked, by) {
  const { heard } = readingOf(asked);
  await take(`qkScore ${by}`)();
  return qkScoreOf(openedDecoder(), heard, looked);
}

/**
 * How badly the text was foreseen; nothing where it has too many logits.
 *
 * @param {number} asked
 * @returns {Promise<{ losses: Float32Array, mean: number, before: number } | null>}
 */
async function losses(asked) {
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
function tokenOf(words) {
  const { text } = opened();
  const ids = text.encode(words);
  if (ids.length === 0) throw new PageError('ERR_EMPTY', 'Type a word or a sign.');
  return { token: text.token(ids[0]), isWhole: ids.length === 1 };
}

/**
 * Writes tokens behind the run's.
 *
 * @param {number} asked
 * @param {number} count
 * @param {{ temperature: number, topK?: number, seed?: number }} how
 */
async function* write(asked, count, how) {
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

const room = {
  ...{ open, run, thumbs, region, rows, column, scores },
  ...{ predict, effects, attribution, headKeys, qkScore, lens, losses, tokenOf, write },
  ...{ tokensOf, patching, pairMaps },
};
/** @typedef {typeof room} ExploreWorker */
serve(room);
