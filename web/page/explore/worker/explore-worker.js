/**
 * The Explore room's Worker: a model, its latest run, and all questions about the run's heads. What is asked for anew in
 * the same slot stops what was asked for before.
 *
 * @import { Call } from '../../engine/serve-calls.js'
 * @import { HeadName } from '../address.js'
 * @import { ModelFiles } from '../model-files.js'
 * @import { TensorFiles } from '../open/sort-files.js'
 * @import { Tensors } from '../open/tensors.js'
 * @import { Heads } from './heads.js'
 * @import { Model, Run } from './model.js'
 * @import { Region } from './pool.js'
 * @import { What } from './rows.js'
 */

import { load } from '../../../headwise/index.js';
import { PageError } from '../../engine/errors.js';
import { serveCalls } from '../../engine/serve-calls.js';
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
/** @type {Map<string, number>} the latest call of each slot */
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
 * @param {Call} call
 * @returns {() => Promise<void>} lets messages in; rejects when the slot was taken again
 */
function take(slot, { id, breathe }) {
  latest.set(slot, id);
  return async () => {
    await breathe();
    if (latest.get(slot) !== id) throw stale();
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

/** @param {ModelFiles | TensorFiles} files @param {Call} call */
async function open(files, call) {
  const breathe = take('open', call);
  const stop = new AbortController();
  const { signal } = stop;
  await call.report({ fraction: 0, label: 'Loading the engine' });
  const hw = await engine();
  const onProgress = (/** @type {number} */ fraction) => {
    call.report({ fraction, label: 'Loading' }).catch((error) => stop.abort(error));
  };
  const next =
    'tensors' in files
      ? { tensors: await openTensors(hw, files, { signal, onProgress }) }
      : { model: await openModel(hw, files, { signal, onProgress }) };
  await breathe().catch((error) => {
    next.model?.gpt2.dispose();
    throw error;
  });
  current?.dispose();
  current = undefined;
  model?.gpt2.dispose();
  ({ model, tensors } = { model: undefined, tensors: undefined, ...next });
  const { kind = 'model', note = model?.note ?? '' } = tensors ?? {};
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
 * @param {Reading} reading
 * @param {Call} call
 */
function run(reading, { id }) {
  const next = tensors ? tensors.run(reading.causal) : readText(reading);
  current?.dispose();
  const rollouts = new Rollouts(async (layer, breathe) =>
    rollout(await engine(), next.source, layer, breathe),
  );
  current = { ...next, number: id, rollouts };
  latest.delete('rollout');
  const { source, ids, tokens, ms, bytes } = next;
  const { n, layers, heads, causal } = source;
  return { run: id, n, layers, heads, causal, ids, tokens, muted: next.muted, ms, bytes };
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
 * @param {Call} call
 */
const mapRows = ({ source, rollouts }, what, call) =>
  rowsOf(source, what, (layer) => rollouts.upTo(layer, () => take('rollout', call)));

/**
 * @param {Current} from
 * @param {What} what
 * @param {Region} part
 * @param {Call} call
 * @param {() => Promise<void>} [breathe]
 */
const cellsOf = async (from, what, part, call, breathe = call.breathe) =>
  wholeHead(from.source, what, part) ??
  poolRegion(await mapRows(from, what, call), from.source.n, part, breathe);

/**
 * Small maps of a layer's heads.
 *
 * @param {{ run: number, layer: number, size: number }} wanted
 * @param {Call} call
 */
async function thumbs({ run: number, layer, size }, call) {
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
    maps.push((await cellsOf(from, what, whole, call)).values);
  }
  return { size: cells, maps };
}

/** @param {{ run: number, slot: string, what: What, region: Region }} wanted @param {Call} call */
async function region({ run: number, slot, what, region: part }, call) {
  const from = runOf(number);
  const breathe = take(slot, call);
  if (slot === FIRST_MAP && what.of !== 'rollout') latest.delete('rollout');
  const start = performance.now();
  const cells = await cellsOf(from, what, part, call, breathe);
  return { ...cells, ms: performance.now() - start };
}

/** @param {{ run: number, what: What, start: number, end: number }} wanted @param {Call} call */
async function rows({ run: number, what, start, end }, call) {
  return (await mapRows(runOf(number), what, call))(start, end);
}

/** @param {{ run: number, slot: string, what: What, key: number }} wanted @param {Call} call */
async function column({ run: number, slot, what, key }, call) {
  const from = runOf(number);
  const breathe = take(slot, call);
  return columnOf(await mapRows(from, what, call), from.source.n, key, breathe);
}

/** @param {{ run: number }} wanted @param {Call} call */
function scores({ run: number }, call) {
  const { source, ids } = runOf(number);
  return scoreHeads(source, ids, take('scores', call));
}

/**
 * What the model says after a token.
 *
 * @param {{ run: number, at: number }} wanted
 * @param {Call} call
 */
async function predict({ run: number, at }, call) {
  const { ids, muted } = runOf(number);
  const { gpt2, text } = opened();
  await take('predict', call)();
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
 * Writes tokens behind the run's, and tells each.
 *
 * @param {{ run: number, count: number, how: { temperature: number, topK?: number, seed?: number } }} wanted
 * @param {Call} call
 */
async function write({ run: number, count, how }, call) {
  const { ids, muted } = runOf(number);
  const { gpt2, text } = opened();
  const left = gpt2.options.contextLength - ids.length;
  if (left < 1) {
    throw new PageError('ERR_TOO_LONG', 'The text is as long as this model can read.');
  }
  const maxTokens = Math.min(count, left);
  const headMask = headMaskOf(gpt2, muted);
  let written = 0;
  for (const id of gpt2.generate(ids, { maxTokens, headMask, ...how })) {
    const detail = { token: text.token(id) };
    await call.report({ fraction: ++written / maxTokens, detail });
  }
}

serveCalls({ open, run, thumbs, region, rows, column, scores, predict, write });
