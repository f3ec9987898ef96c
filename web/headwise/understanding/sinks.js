import { checkProbability, or } from '../checks/check.js';
import { tensorOf } from '../tensor/tensor.js';
import { calledThere, blocksOf, tokensOf, withTraces } from './source.js';
import { Work, workTable } from './work.js';

/** @typedef {import('../attention/trace.js').Trace} Trace */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * Options of `sinks`.
 * @typedef {object} SinkOptions
 * @property {number} [threshold] ε; default 0.3, as in the paper
 */

/**
 * How much heads attend to the first token.
 * @typedef {object} Sinks
 * @property {Tensor} scores [layers, heads]: the mean weight of the first token over all queries, itself among them
 * @property {number} share of the heads whose score is above the threshold
 */

const table = { threshold: or(checkProbability, 0.3), ...workTable };

/**
 * The mean of one head's weights on the first token, over a text's queries.
 * @param {Trace} trace
 * @param {number} batch
 * @param {number} head
 * @param {Work} work
 */
async function meanOf(trace, batch, head, work) {
  const keys = trace.shape[3];
  const queries = tokensOf(trace, batch);
  let sum = 0;
  for (const rows of blocksOf(queries)) {
    await work.pause();
    const { data } = trace.weights({ batch, head, rows });
    for (let at = 0; at < data.length; at += keys) sum += data[at];
  }
  return sum / queries;
}

/**
 * Attention sinks (Gu et al. 2024, "When Attention Sink Emerges in Language Models: An Empirical View"): of each head the mean weight
 * of the first token, α = 1/T · Σ_i A_i1, and the share of heads with α > ε. For several texts, their mean. They may
 * differ in length: padding does not count where a model's forward knew of it, by rows of unequal length or by `lengths`.
 * Weights of a module's trace in training mode with dropout are those after dropout.
 *
 * It costs the weights of all heads once.
 *
 * @overload
 * @param {import('./source.js').AttendingModel} source a Decoder, a Gpt2 or an Encoder
 * @param {import('./source.js').Ids} ids [tokens] or [batch, tokens]
 * @param {SinkOptions & import('./work.js').WorkOptions} [options]
 * @returns {Promise<Sinks>}
 * @throws {HeadwiseError} ERR_VALUE, ERR_SHAPE, ERR_MEMORY, ERR_DISPOSED; an abort's reason
 */
/**
 * The same of traces that a forward has given.
 *
 * @overload
 * @param {import('./source.js').Traces} source what a forward gave with `trace: true`
 * @param {SinkOptions & import('./work.js').WorkOptions} [options]
 * @returns {Promise<Sinks>}
 * @throws {HeadwiseError} ERR_VALUE, ERR_SHAPE, ERR_MEMORY, ERR_DISPOSED; an abort's reason
 */
/**
 * @param {unknown} source
 * @param {...any} rest
 * @returns {Promise<Sinks>}
 */
export function sinks(source, ...rest) {
  const answer = calledThere('sinks', source, ...rest);
  return (
    answer ??
    withTraces(source, rest, table, 'sinks', async (traces, options) => {
      const [batch, heads] = traces[0].shape;
      const all = Array.from({ length: batch }, (_, i) => i);
      const texts = all.filter((text) => tokensOf(traces[0], text) > 0);
      const scores = new Float32Array(traces.length * heads);
      const work = new Work(options, scores.length);
      for (let i = 0; i < scores.length; i++) {
        const trace = traces[Math.floor(i / heads)];
        let sum = 0;
        for (const text of texts) sum += await meanOf(trace, text, i % heads, work);
        scores[i] = sum / texts.length;
        await work.step();
      }
      const above = scores.filter((score) => score > options.threshold).length;
      const shape = [traces.length, heads];
      return { scores: tensorOf(scores, shape), share: above / scores.length };
    })
  );
}
