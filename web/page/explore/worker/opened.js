/**
 * What is open: a model or tensors, and its latest run.
 *
 * @import { HeadName } from '../../shared/head-names.js'
 * @import { HostedModel, ModelFiles } from '../model-files.js'
 * @import { TensorFiles } from '../open/sort-files.js'
 * @import { ModelSummary } from '../session.js'
 * @import { Tensors } from '../open/tensors.js'
 * @import { DecoderModel, Model, Run } from './model.js'
 */

import { load } from '../../../headwise/index.js';
import { PageError } from '../../shared/errors.js';
import { shortName } from '../../shared/head-names.js';
import { openTensors } from '../open/tensors.js';
import { idsOf, networkOf, openModel, predictionOf, runModel, writtenOf } from './model.js';
import { Reading } from './reading.js';
import { Rollouts, rollout } from './rollout.js';
import { stale, stopRollouts, take } from './slots.js';

/** @type {ReturnType<typeof load> | undefined} */
let loading;
/** @type {Model | undefined} */
let model;
/** Opened instead of a model. @type {Tensors | undefined} */
let tensors;
/** What was read last. @type {Reading | undefined} */
let reading;
/** Another text's run, until another one is asked for. @type {Run | undefined} */
let otherRun;
/** Of the latest run. */
let number = 0;

function engine() {
  loading ??= load({ threads: 'auto' }).catch((error) => {
    loading = undefined; // so that another try is possible
    throw error;
  });
  return loading;
}

/** @param {number} asked a run's number @returns {Reading} */
export function readingOf(asked) {
  if (!reading || asked !== number) throw stale();
  return reading;
}

/** @returns {Model} */
export function opened() {
  if (model) return model;
  throw new PageError('ERR_LOAD', 'No model is open.');
}

/** @returns {DecoderModel} */
export function openedDecoder() {
  const now = opened();
  if ('decoder' in now) return now;
  throw new PageError('ERR_VALUE', 'This model writes no text: it is an encoder.');
}

/** @param {import('../../../headwise/models.js').ModelConfig} config */
const sizesOf = ({ contextLength, vocabSize, numLayers, numHeads, dModel, dFf }) => ({
  ...{ contextLength, vocabSize, numLayers, numHeads, dModel, dFf },
});

/**
 * @param {ModelFiles | HostedModel | TensorFiles} files
 * @param {(fraction: number) => void} onProgress
 * @param {AbortSignal} [signal]
 * @returns {Promise<ModelSummary>}
 */
export async function open(files, onProgress, signal) {
  const pause = take('open', signal);
  onProgress(0);
  const how = { signal, onProgress };
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
  otherRun?.dispose();
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
export function run(next, wanted) {
  const { name, read, muted, written, unknown } = tensors
    ? tensorsRun(tensors, wanted)
    : textRun(wanted);
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
  stopRollouts();
  const { source, ids, tokens, ms, bytes } = reading.now;
  const { n, layers, heads, causal } = source;
  const { residualBytes } = reading;
  return {
    ...{ run: next, n, written, layers, heads, causal, hasNorms: source.norms !== undefined },
    ...{ ids, tokens, unknown, muted, ms, bytes, residualBytes },
  };
}

/** @param {Tensors} from @param {Wanted} wanted */
function tensorsRun(from, { causal, softmax }) {
  const read = () => from.run({ causal, softmax: softmax && from.hasScores });
  const name = `tensors ${causal} ${softmax}`;
  return { name, read, muted: /** @type {HeadName[]} */ ([]), written: 0, unknown: undefined };
}

/** @param {Wanted} wanted */
function textRun({ text, isSample, added, muted }) {
  const from = opened();
  const ids = idsOf(from, text, added, isSample);
  const { numLayers, numHeads } = networkOf(from).config;
  /** @type {(heads: readonly HeadName[], heard?: Run) => Run} */
  const read = (heads, heard) => runModel(from, ids, heads, { heard, keepsResiduals: true });
  const has = (/** @type {HeadName} */ { layer, head }) => layer < numLayers && head < numHeads;
  const written = writtenOf(from, added).length;
  const unknown = from.text.unknownIn?.(text, ids);
  return { name: ids.join(), read, muted: muted.filter(has), written, unknown };
}

/** Another text's run. @param {number[]} ids @param {readonly HeadName[]} muted */
export function otherRunOf(ids, muted) {
  const names = (/** @type {readonly HeadName[]} */ heads) => heads.map(shortName).join();
  if (otherRun?.ids.join() !== ids.join() || names(otherRun.muted) !== names(muted)) {
    otherRun?.dispose();
    otherRun = runModel(opened(), ids, muted);
  }
  return otherRun;
}
