import { engineOfTrace } from '../attention/trace.js';
import { asGiven, checkIndex, checkProbability, or } from '../checks/check.js';
import { product } from '../tensor/compute.js';
import { tensorOf } from '../tensor/tensor.js';
import {
  calledThere,
  batchTable,
  blocksOf,
  checkBatch,
  checkPosition,
  mixedRows,
  tokensOf,
  withTraces,
} from './source.js';
import { Work, workTable } from './work.js';

/** @typedef {import('../attention/trace.js').Trace} Trace */
/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * Options of `rollout`.
 * @typedef {object} RolloutOptions
 * @property {number} [residual] the share of the residual connection, from 0 to 1; default 0.5
 * @property {number} [upTo] the last layer that counts; default the last of all
 * @property {number} [position] of the one token whose row is wanted; default: all rows
 * @property {number} [batch] which of several texts; default 0, the first
 */

export const mixTable = {
  residual: or(checkProbability, 0.5),
  ...{ upTo: asGiven, position: asGiven, ...batchTable, ...workTable },
};

/**
 * The layers that count.
 * @param {Trace[]} traces
 * @param {unknown} upTo
 */
export const layersUpTo = (traces, upTo = traces.length - 1) =>
  traces.slice(0, checkIndex(upTo, 'upTo', traces.length) + 1);

/**
 * One row, from the last layer down: the row times each layer's matrix.
 * @param {Trace[]} traces
 * @param {number} position
 * @param {number} batch
 * @param {number} residual
 * @param {Work} work
 */
async function rowOf(traces, position, batch, residual, work) {
  const n = traces[0].shape[3];
  let row = new Float64Array(n);
  row[position] = 1;
  for (const trace of [...traces].reverse()) {
    const next = new Float64Array(n);
    for (const block of blocksOf(n)) {
      const [start, end] = block;
      // Of a causal model, later tokens have no share.
      if (row.subarray(start, end).some((share) => share !== 0)) {
        const mixed = mixedRows(trace, batch, block, residual);
        for (let i = start; i < end; i++) {
          for (let j = 0; j < n; j++) next[j] += row[i] * mixed[(i - start) * n + j];
        }
      }
      await work.step();
    }
    row = next;
  }
  return tensorOf(Float32Array.from(row), [n]);
}

/**
 * What weights come from, row by row: a trace, or what gives the same.
 * @typedef {object} WeightRows
 * @property {readonly number[]} shape [batch, heads, tokens, tokens]
 * @property {(which: { batch: number, head: number, rows: readonly [start: number, end: number] }) => { data: Float32Array }} weights
 */

/**
 * Rows of n up to the last column that is not 0 in all of them.
 * @param {Float32Array} rows
 * @param {number} n
 * @returns {[rows: Float32Array, columns: number]}
 */
function withoutZeros(rows, n) {
  let columns = 0;
  for (let at = 0; at < rows.length; at += n) {
    let end = n;
    while (end > columns && rows[at + end - 1] === 0) end--;
    columns = end;
  }
  const left = new Float32Array((rows.length / n) * columns);
  for (let row = 0; row < rows.length / n; row++) {
    left.set(rows.subarray(row * n, row * n + columns), row * columns);
  }
  return [left, columns];
}

/**
 * All rows, from the first layer up: each layer's matrix times what is below.
 * @param {readonly WeightRows[]} layers
 * @param {number} batch
 * @param {number} residual
 * @param {(left: Float32Array, right: Float32Array, shape: readonly [rows: number, inner: number, columns: number]) => Float32Array} multiply
 * @param {() => Promise<void>} step called after each block of rows
 * @returns {Promise<Float32Array>} [tokens, tokens]
 */
export async function wholeRollout(layers, batch, residual, multiply, step) {
  const n = layers[0].shape[3];
  let below = new Float32Array(0);
  for (const [at, layer] of layers.entries()) {
    const next = new Float32Array(n * n);
    for (const block of blocksOf(n)) {
      const mixed = mixedRows(layer, batch, block, residual);
      if (at === 0) {
        next.set(mixed, block[0] * n);
      } else {
        // Of a causal model, a block has nothing of later tokens.
        const [left, inner] = withoutZeros(mixed, n);
        const right = below.subarray(0, inner * n);
        next.set(multiply(left, right, [block[1] - block[0], inner, n]), block[0] * n);
      }
      await step();
    }
    below = next;
  }
  return below;
}

/**
 * @param {Trace[]} traces
 * @param {number} batch
 * @param {number} residual
 * @param {Work} work
 */
async function wholeOf(traces, batch, residual, work) {
  const engine = /** @type {Engine} */ (engineOfTrace(traces[0]));
  const n = traces[0].shape[3];
  const matrix = (/** @type {Float32Array} */ data, /** @type {number[]} */ ...shape) => ({
    ...{ dtype: /** @type {const} */ ('float32'), data, size: data.length, shape },
  });
  const whole = await wholeRollout(
    traces,
    batch,
    residual,
    (left, right, [rows, inner, columns]) =>
      product(engine, matrix(left, rows, inner), matrix(right, inner, columns)).data,
    () => work.step(),
  );
  // Rows of padding are nobody's.
  whole.fill(0, tokensOf(traces[0], batch) * n);
  return tensorOf(whole, [n, n]);
}

/**
 * Attention rollout (Abnar & Zuidema 2020, "Quantifying Attention Flow in Transformers"): what each token draws from each input
 * token, if attention is all that mixes them. It is the product A_upTo · … · A_0 of A_l = (1 - residual) · W_l + residual · I, where
 * W_l is the mean of a layer's heads. Each row sums to 1; rows of padding, after a text that is shorter than others, are 0.
 * Weights of a module's trace in training mode with dropout are those after dropout: their rows need not sum to 1.
 *
 * It costs the weights of all heads once. A row alone needs no [tokens, tokens] matrix.
 *
 * @overload
 * @param {import('./source.js').AttendingModel} source a Decoder, a Gpt2 or an Encoder
 * @param {import('./source.js').Ids} ids [tokens], or [batch, tokens]; the option `batch` chooses the text
 * @param {RolloutOptions & import('./work.js').WorkOptions} [options]
 * @returns {Promise<Tensor>} [tokens, tokens], or with position [tokens]
 * @throws {HeadwiseError} ERR_VALUE, ERR_SHAPE, ERR_MEMORY, ERR_DISPOSED; an abort's reason
 */
/**
 * The same of traces that a forward has given.
 *
 * @overload
 * @param {import('./source.js').Traces} source what a forward gave with `trace: true`
 * @param {RolloutOptions & import('./work.js').WorkOptions} [options]
 * @returns {Promise<Tensor>} [tokens, tokens], or with position [tokens]
 * @throws {HeadwiseError} ERR_VALUE, ERR_SHAPE, ERR_MEMORY, ERR_DISPOSED; an abort's reason
 */
/**
 * @param {unknown} source
 * @param {...any} rest
 * @returns {Promise<Tensor>}
 */
export function rollout(source, ...rest) {
  const answer = calledThere('rollout', source, ...rest);
  return (
    answer ??
    withTraces(source, rest, mixTable, 'rollout', async (traces, options) => {
      const layers = layersUpTo(traces, options.upTo);
      const batch = checkBatch(options.batch, traces);
      const { position, residual } = options;
      const work = new Work(options, layers.length * blocksOf(traces[0].shape[3]).length);
      return position === undefined
        ? wholeOf(layers, batch, residual, work)
        : rowOf(layers, checkPosition(position, traces[0], batch), batch, residual, work);
    })
  );
}
