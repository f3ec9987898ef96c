import { HeadwiseError } from '../checks/error.js';
import { tensorOf } from '../tensor/tensor.js';
import { LayeredNetwork } from './max-flow.js';
import { layersUpTo, mixTable } from './rollout.js';
import {
  calledThere,
  blocksOf,
  checkBatch,
  checkPosition,
  mixedRows,
  withTraces,
} from './source.js';
import { Work } from './work.js';

/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * Options of `flow`.
 * @typedef {object} FlowOptions
 * @property {number} [position] of the token that draws; default the text's last
 * @property {number} [residual] the share of the residual connection, from 0 to 1; default 0.5
 * @property {number} [upTo] the last layer that counts; default the last of all
 * @property {number} [batch] which of several texts; default 0, the first
 */

/** The most capacities of a network: layers · tokens². */
const most = 1 << 20;

/**
 * Attention flow (Abnar & Zuidema 2020, "Quantifying Attention Flow in Transformers"): the maximal flow from the token at the last
 * layer to each input token, through edges from each layer's tokens to those of the layer below whose capacities are the
 * entries of A_l = (1 - residual) · W_l + residual · I, where W_l is the mean of a layer's heads. The flows are not normalized;
 * the paper's code divides them by their sum. Weights of a module's trace in training mode with dropout are those after dropout.
 *
 * Of each input token a maximal flow is computed anew, by Dinic's algorithm: some 10 · layers · tokens² steps each, and so
 * 10 · layers · tokens³ in all. layers · tokens² may be at most 2^20: 295 tokens of 12 layers.
 *
 * @overload
 * @param {import('./source.js').AttendingModel} source a Decoder, a Gpt2 or an Encoder
 * @param {import('./source.js').Ids} ids [tokens], or [batch, tokens]; the option `batch` chooses the text
 * @param {FlowOptions & import('./work.js').WorkOptions} [options]
 * @returns {Promise<Tensor>} [tokens]
 * @throws {HeadwiseError} ERR_VALUE, ERR_MEMORY, ERR_DISPOSED; ERR_SHAPE: also too many tokens; an abort's reason
 */
/**
 * The same of traces that a forward has given.
 *
 * @overload
 * @param {import('./source.js').Traces} source what a forward gave with `trace: true`
 * @param {FlowOptions & import('./work.js').WorkOptions} [options]
 * @returns {Promise<Tensor>} [tokens]
 * @throws {HeadwiseError} ERR_VALUE, ERR_MEMORY, ERR_DISPOSED; ERR_SHAPE: also too many tokens; an abort's reason
 */
/**
 * @param {unknown} source
 * @param {...any} rest
 * @returns {Promise<Tensor>}
 */
export function flow(source, ...rest) {
  const answer = calledThere('flow', source, ...rest);
  return (
    answer ??
    withTraces(source, rest, mixTable, 'flow', async (traces, options) => {
      const layers = layersUpTo(traces, options.upTo);
      const batch = checkBatch(options.batch, traces);
      const n = traces[0].shape[3];
      const position = checkPosition(options.position, traces[0], batch);
      if (layers.length * n * n > most) {
        const expected = `at most ${Math.floor(Math.sqrt(most / layers.length))}`;
        const problem = `flow through ${layers.length} layers of ${n} tokens takes too long`;
        throw new HeadwiseError(
          'ERR_SHAPE',
          `${problem}; expected ${expected}, or upTo or rollout`,
        );
      }
      const work = new Work(options, n);
      const capacities = layers.map((trace) => {
        const all = new Float64Array(n * n);
        for (const rows of blocksOf(n)) {
          all.set(mixedRows(trace, batch, rows, options.residual), rows[0] * n);
        }
        return all;
      });
      const network = new LayeredNetwork(capacities, n);
      const flows = new Float32Array(n);
      for (let token = 0; token < n; token++) {
        flows[token] = network.flow(position, token);
        await work.step();
      }
      return tensorOf(flows, [n]);
    })
  );
}
