/**
 * The Explore room's Worker: a model, its latest run, and all questions about the run's heads. What is asked for anew in
 * the same slot stops what was asked for before.
 *
 * @import { HeadName } from '../address.js'
 * @import { ModelFiles } from '../model-files.js'
 * @import { TensorFiles } from '../open/sort-files.js'
 * @import { ModelSummary } from '../session.js'
 * @import { Tensors } from '../open/tensors.js'
 * @import { Heads } from './heads.js'
 * @import { Model, Run } from './model.js'
 * @import { Region } from './pool.js'
 * @import { What } from './rows.js'
 */

import { load } from '../../../headwise/index.js';
import { serve } from '../../../headwise/worker/serve.js';
import { breathe } from '../../shared/breathe.js';
import { PageError } from '../../shared/errors.js';
import { openTensors } from '../open/tensors.js';
import { headMaskOf, idsOf, openModel, runModel } from './model.js';
import { columnOf, pooledCells, poolRegion } from './pool.js';
import { likeliest, softmaxOf } from './predict.js';
import { Rollouts, rollout } from './rollout.js';
import { rowsOf } from './rows.js';
import { scoreHeads } from './score-heads.js';

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
/** @typedef {Run & { number: number, rollouts: Rollouts }} Current */

/** @type {Current | undefined} */
let current;
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

/** @param {number} number @returns {Current} */
function runOf(number) {
  if (current?.number !== number) throw stale();
  return current;
}

/** @returns {Model} */
function opened() {
  if (model) return model;
  throw new PageError('ERR_LOAD', 'No model is open.');
}

/**
 * @param {ModelFiles | TensorFiles} files
 * @param {(progress: { fraction: number, label?: string }) => void} onProgress
 * @param {AbortSignal} [signal]
 * @returns {Promise<ModelSummary>}
 */
async function open(files, onProgress, signal) {
  const pause = take('open', signal);
  onProgress({ fraction: 0, label: 'Loading the engine' });
  const hw = await engine();
  const how = {
    signal,
    onProgress: (/** @type {number} */ fraction) => onProgress({ fraction, label: 'Loading' }),
  };
  const next =
    'tensors' in files
      ? { tensors: await openTensors(hw, files, how) }
      : { model: await openModel(hw, files, how) };
  await pause().catch((error) => {
    next.model?.gpt2.dispose();
    throw error;
  });
  current?.dispose();
  current = undefined;
  model?.gpt2.dispose();
  ({ model, tensors } = { model: undefined, tensors: undefined, ...next });
  const { kind, note } = tensors ?? {
    kind: /** @type {const} */ ('model'),
    note: model?.note ?? '',
  };
  const { gpt2, text } = model ?? {};
  return { kind, note, options: gpt2?.options, sample: text?.sample, ...hw.info };
}

/**
 * @typedef {object} Reading
 * @property {string} text
 * @property {boolean} isSample
 * @property {readonly number[]} added
 * @property {readonly HeadName[]} muted
 * @property {boolean} causal of queries and keys that were opened
 *
 * @param {number} number of the run, by which it is asked about
 * @param {Reading} reading
 */
function run(number, reading) {
  const next = tensors ? tensors.run(reading.causal) : readText(reading);
  current?.dispose();
  const rollouts = new Rollouts(async (layer, pause) =>
    rollout(await engine(), next.source, layer, pause),
  );
  current = { ...next, number, rollouts };
  latest.delete('rollout');
  const { source, ids, tokens, ms, bytes } = next;
  const { n, layers, heads, causal } = source;
  return { run: number, n, layers, heads, causal, ids, tokens, muted: next.muted, ms, bytes };
}

/** @param {Reading} reading */
function readText({ text, isSample, added, muted }) {
  const from = opened();
  return runModel(from, idsOf(from, text, added, isSample), muted);
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

/**
 * The rows of any map of a run. A rollout that is under way is stopped by another one and by another map in its place.
 *
 * @param {Current} from
 * @param {What} what
 */
const mapRows = ({ source, rollouts }, what) =>
  rowsOf(source, what, (layer) => rollouts.upTo(layer, () => take('rollout')));

/**
 * @param {Current} from
 * @param {What} what
 * @param {Region} part
 * @param {() => Promise<void>} pause
 */
const cellsOf = async (from, what, part, pause) =>
  wholeHead(from.source, what, part) ??
  poolRegion(await mapRows(from, what), from.source.n, part, pause);

/**
 * Small maps of a layer's heads.
 *
 * @param {number} number
 * @param {{ layer: number, size: number }} wanted
 */
async function thumbs(number, { layer, size }) {
  const from = runOf(number);
  const { source } = from;
  const cells = Math.min(source.n, size);
  /** @type {[number, number]} */
  const all = [0, source.n];
  const whole = { queries: all, keys: all, height: cells, width: cells };
  const maps = [];
  for (let head = 0; head < source.heads; head++) {
    const what = /** @type {const} */ ({
      of: 'head',
      over: 'layer',
      layer,
      head,
      hideFirst: false,
    });
    maps.push((await cellsOf(from, what, whole, breathe)).values);
  }
  return { size: cells, maps };
}

/** @param {number} number @param {{ slot: string, what: What, region: Region }} wanted */
async function region(number, { slot, what, region: part }) {
  const from = runOf(number);
  const pause = take(slot);
  if (slot === FIRST_MAP && what.of !== 'rollout') latest.delete('rollout');
  const start = performance.now();
  const cells = await cellsOf(from, what, part, pause);
  return { ...cells, ms: performance.now() - start };
}

/** @param {number} number @param {{ what: What, start: number, end: number }} wanted */
async function rows(number, { what, start, end }) {
  return (await mapRows(runOf(number), what))(start, end);
}

/** @param {number} number @param {{ slot: string, what: What, key: number }} wanted */
async function column(number, { slot, what, key }) {
  const from = runOf(number);
  const pause = take(slot);
  return columnOf(await mapRows(from, what), from.source.n, key, pause);
}

/** @param {number} number */
async function scores(number) {
  const { source, ids } = runOf(number);
  return scoreHeads(source, ids, take('scores'));
}

/**
 * What the model says after a token.
 *
 * @param {number} number
 * @param {number} at
 */
async function predict(number, at) {
  const { ids, muted } = runOf(number);
  const { gpt2, text } = opened();
  await take('predict')();
  const read = ids.slice(0, at + 1);
  /** @param {number[][]} [headMask] */
  const probabilities = (headMask) =>
    softmaxOf(gpt2.forward(read, { headMask }).logits?.data ?? []);
  const before = probabilities();
  const headMask = headMaskOf(gpt2, muted);
  const after = headMask ? probabilities(headMask) : before;
  return likeliest(before, after, LIKELIEST).map((id) => ({
    token: text.token(id),
    before: before[id],
    after: after[id],
  }));
}

/**
 * Writes tokens behind the run's.
 *
 * @param {number} number
 * @param {number} count
 * @param {{ temperature: number, topK?: number, seed?: number }} how
 */
async function* write(number, count, how) {
  const { ids, muted } = runOf(number);
  const { gpt2, text } = opened();
  const left = gpt2.options.contextLength - ids.length;
  if (left < 1) {
    throw new PageError('ERR_TOO_LONG', 'The text is as long as this model can read.');
  }
  const maxTokens = Math.min(count, left);
  const headMask = headMaskOf(gpt2, muted);
  for (const id of gpt2.generate(ids, { maxTokens, headMask, ...how })) {
    yield { ...text.token(id), id };
  }
}

const room = { open, run, thumbs, region, rows, column, scores, predict, write };
/** @typedef {typeof room} ExploreWorker */
serve(room);
