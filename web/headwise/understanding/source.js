// Where weights come from: a model that reads a text, or the traces of a forward.
import { asGiven, checkIndex, checkTable, or } from '../checks/check.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { copyArray, isArray } from '../checks/foreign.js';
import { configOf } from '../models/model.js';
import { engineOfTrace, tracedBy } from '../attention/trace.js';
import { withRecording } from '../autograd/record.js';
import { loaderThere } from '../worker/there.js';

/** @typedef {import('../attention/trace.js').Trace} Trace */
/** @typedef {import('../models/decoder.js').Decoder} Decoder */
/** @typedef {import('../models/encoder.js').Encoder} Encoder */
/** @typedef {import('../models/gpt2.js').Gpt2} Gpt2 */
/** @typedef {import('../tensor/ids.js').Ids} Ids */

/**
 * An object here or in a Worker.
 * @template T
 * @typedef {T | import('../worker.js').Remote<T>} Anywhere
 */
/**
 * A decoder, also of a Worker.
 * @typedef {Anywhere<Decoder> | Anywhere<Gpt2>} DecoderModel
 */
/**
 * A model whose heads attend, also of a Worker.
 * @typedef {DecoderModel | Anywhere<Encoder>} AttendingModel
 */
/**
 * What a forward gives with `trace: true`, also in a Worker.
 * @typedef {readonly Anywhere<Trace>[]} Traces
 */

/**
 * Calls a function where the model is that it is given, or the traces are.
 * @param {string} name
 * @param {unknown} source
 * @param {...unknown} rest
 * @returns {Promise<any> | undefined} undefined: they are here
 */
export function calledThere(name, source, ...rest) {
  try {
    return isArray(source)
      ? loaderThere(source[0])?.(name, source, ...rest)
      : loaderThere(source)?.(name, ...rest);
  } catch {
    return undefined;
  }
}

/** The most layers of traces that are handed over. */
const mostLayers = 1 << 16;

/** The rows of weights that are computed at a time. */
const blockRows = 128;

/**
 * A decoder's config.
 * @param {unknown} model
 * @returns {import('../models/config.js').ModelConfig}
 */
export function decoderConfig(model) {
  const config = configOf(model);
  if (!config?.isDecoder) {
    throw misfit(model, 'model', 'a Decoder or a Gpt2');
  }
  return config;
}

/**
 * The config of any model whose heads attend.
 * @param {unknown} model
 * @returns {import('../models/config.js').ModelConfig}
 */
export function sizesOf(model) {
  const config = configOf(model);
  if (config === undefined) {
    throw misfit(model, 'model', 'a Decoder, a Gpt2 or an Encoder');
  }
  return config;
}

/**
 * A forward whose gradients are not recorded.
 * @param {any} model
 * @param {any} ids
 * @param {object} options
 * @returns {any}
 */
export const unrecordedForward = (model, ids, options) =>
  withRecording(model.engine, false, () => model.forward(ids, options));

/**
 * @param {unknown} model
 * @param {unknown} ids
 * @returns {Trace[]} of all layers
 */
export function traceText(model, ids) {
  sizesOf(model);
  return unrecordedForward(model, ids, { trace: true, logits: 'none' }).trace;
}

/** @param {unknown} given @returns {Trace[]} */
function checkTraces(given) {
  const traces = copyArray(given, mostLayers);
  if (traces === undefined || traces.length === 0 || !traces.every(engineOfTrace)) {
    throw misfit(given, 'traces', 'the traces of a forward');
  }
  const [{ shape }] = traces;
  const isOfOne = (/** @type {Trace} */ each) =>
    engineOfTrace(each) === engineOfTrace(traces[0]) &&
    String(tracedBy(each).lengths) === String(tracedBy(traces[0]).lengths);
  if (!traces.every(isOfOne)) {
    const problem = 'traces are of several forwards; expected those of one';
    throw new HeadwiseError('ERR_VALUE', problem);
  }
  const fits = traces.every((each) => String(each.shape) === String(shape));
  // Padded, a text after a cache may have as many queries as there are keys.
  if (!fits || shape[2] !== shape[3] || traces.some((each) => tracedBy(each).stored > 0)) {
    const expected = 'traces of layers of as many heads, and of a text without a cache';
    throw new HeadwiseError(
      'ERR_SHAPE',
      `traces are ${traces.map((t) => `[${t.shape}]`)}; expected ${expected}`,
    );
  }
  return traces;
}

/**
 * What the functions over weights are given: (model, ids, options) or (traces, options).
 * @template {Readonly<Record<string, import('../checks/check.js').Check>>} Table
 * @template T
 * @param {unknown} source
 * @param {unknown[]} rest
 * @param {Table} table of the options
 * @param {string} name of the function
 * @param {(traces: Trace[], options: import('../checks/check.js').Checked<Table>) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withTraces(source, rest, table, name, use) {
  if (engineOfTrace(source) !== undefined) {
    if (!isArray(rest[0])) {
      throw misfit(source, 'traces', 'an array of traces');
    }
    // In a Worker, a trace is handed over before all traces.
    return withTraces(rest[0], rest.slice(1), table, name, use);
  }
  if (isArray(source)) {
    return use(checkTraces(source), checkTable(rest[0], table, name));
  }
  const options = checkTable(rest[1], table, name);
  const traces = traceText(source, rest[0]);
  try {
    return await use(traces, options);
  } finally {
    traces.forEach((trace) => trace.dispose());
  }
}

/** Which text of a batch. */
export const batchTable = { batch: or(asGiven, 0) };

/**
 * @param {unknown} batch
 * @param {readonly Trace[]} traces
 */
export const checkBatch = (batch, [{ shape }]) => checkIndex(batch, 'batch', shape[0]);

/**
 * How many tokens a text has. Rows that follow are padding.
 * @param {Trace} trace
 * @param {number} batch
 */
export const tokensOf = (trace, batch) => tracedBy(trace).lengths?.[batch] ?? trace.shape[3];

/**
 * One of a text's tokens.
 * @param {unknown} given default: the last
 * @param {Trace} trace
 * @param {number} batch
 */
export function checkPosition(given, trace, batch) {
  const tokens = tokensOf(trace, batch);
  if (tokens === 0) {
    throw misfit(batch, 'batch', 'a text that has tokens');
  }
  return checkIndex(given ?? tokens - 1, 'position', tokens);
}

/**
 * Blocks of rows [start, end).
 * @param {number} rows
 * @returns {[start: number, end: number][]}
 */
export const blocksOf = (rows) =>
  Array.from({ length: Math.ceil(rows / blockRows) }, (_, i) => [
    i * blockRows,
    Math.min(rows, (i + 1) * blockRows),
  ]);

/**
 * Rows of the mean of a layer's heads, half of which is the residual connection, or another share.
 * @param {import('./rollout.js').WeightRows} trace
 * @param {number} batch
 * @param {readonly [start: number, end: number]} rows
 * @param {number} residual its share
 * @returns {Float32Array} [end - start, tokens]
 */
export function mixedRows(trace, batch, [start, end], residual) {
  const [, heads, , n] = trace.shape;
  const [first, ...others] = Array.from({ length: heads }, (_, head) => head);
  const weightsOf = (/** @type {number} */ head) =>
    trace.weights({ batch, head, rows: [start, end] }).data;
  const mixed = weightsOf(first);
  for (const head of others) {
    const weights = weightsOf(head);
    for (let i = 0; i < mixed.length; i++) mixed[i] += weights[i];
  }
  for (let i = 0; i < mixed.length; i++) mixed[i] *= (1 - residual) / heads;
  for (let row = start; row < end; row++) mixed[(row - start) * n + row] += residual;
  return mixed;
}
