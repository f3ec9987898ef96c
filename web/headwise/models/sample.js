// Chooses the next token from its logits, which are in the engine's memory.
import { HeadwiseError } from '../checks/error.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */

/**
 * How tokens are chosen.
 * @typedef {object} Sampling
 * @property {number} temperature 0: the likeliest
 * @property {number} topK
 * @property {number} topP
 * @property {boolean} [logProbabilities]
 */

/** Bytes of what the engine tells of a token. */
export const sampledBytes = 16;

/**
 * @param {Engine} engine
 * @param {Sampling} sampling
 * @param {number} uniform the random number that chooses, in [0, 1)
 * @param {number} logits address
 * @param {number} count of tokens
 * @param {number} out address of sampledBytes
 * @returns {import('./generate.js').Generated} logProbability is NaN unless it was asked for
 */
export function sample(engine, sampling, uniform, logits, count, out) {
  const { temperature, topK, topP, logProbabilities } = sampling;
  const probabilityAt = logProbabilities ? out : 0;
  const { call } = engine;
  const idAt = out + 8;
  const status = call.sample(logits, count, temperature, topK, topP, uniform, idAt, probabilityAt);
  const bad =
    status === 0 ? -1 : engine.floats.slice(logits / 4, logits / 4 + count).findIndex(Number.isNaN);
  if (bad >= 0) {
    const hint = 'are there NaN among the weights?';
    throw new HeadwiseError('ERR_VALUE', `logits[${bad}] is NaN; expected numbers (${hint})`);
  }
  engine.check(status, 'generate');
  const logProbability = logProbabilities ? new Float64Array(engine.bytes.buffer, out, 1)[0] : NaN;
  return { id: engine.words[idAt / 4], logProbability };
}
