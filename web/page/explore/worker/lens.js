/**
 * The logit lens: what a model would predict if it ended after a layer.
 *
 * @import { Token } from '../../types.js'
 * @import { LogitLens } from '../../../headwise/understanding.js'
 * @import { DecoderModel, Run } from './model.js'
 *
 * @typedef {object} LensCell what is predicted after a token
 * @property {{ token: Token, share: number }[]} top the likeliest, the first first; share: probability
 * @property {number} rank of the target, from 1
 * @property {number} share its probability
 *
 * @typedef {object} Lens
 * @property {number} from the first token
 * @property {LensCell[][]} rows of the embedding and of each layer; none until all are known
 * @property {number} done share of the work
 */

import { logitLens } from '../../../headwise/understanding.js';
import { told } from './told.js';
import { headMaskOf } from './traced.js';

/** Predictions of a cell that are told. */
const TOLD = 8;

/** @param {DecoderModel['text']} text @param {LogitLens} lens @returns {LensCell[][]} */
function rowsOf(text, { ids, logProbabilities, target }) {
  const [layers, positions, top] = ids.shape;
  const { ranks, logProbabilities: ofTarget } = /** @type {NonNullable<typeof target>} */ (target);
  const share = (/** @type {number} */ logProbability) => Math.exp(logProbability);
  const cell = (/** @type {number} */ at) => ({
    top: Array.from(ids.data.subarray(at * top, (at + 1) * top), (id, i) => ({
      token: text.token(id),
      share: share(logProbabilities.data[at * top + i]),
    })),
    rank: 1 + ranks.data[at],
    share: share(ofTarget.data[at]),
  });
  return Array.from({ length: layers }, (_, layer) =>
    Array.from({ length: positions }, (__, i) => cell(layer * positions + i)),
  );
}

/**
 * @param {DecoderModel} model
 * @param {Pick<Run, 'ids' | 'muted'>} run
 * @param {{ from: number, to: number, target: number }} asked tokens from one up to but not including another
 * @param {() => Promise<void>} check called before each report; if it rejects, the lens ends
 * @returns {AsyncGenerator<Lens, void, void>}
 */
export async function* lensOf({ decoder, text }, { ids, muted }, { from, to, target }, check) {
  /** @type {Lens} */
  let known = { from, rows: [], done: 0 };
  const look = async (/** @type {AbortSignal} */ signal) => {
    const lens = await logitLens(decoder, ids.slice(0, to), {
      ...{ top: TOLD, target, signal, headMask: headMaskOf(decoder, muted) },
      positions: Array.from({ length: to - from }, (_, i) => from + i),
      onProgress: ({ done, total }) => (known = { ...known, done: done / total }),
    });
    known = { ...known, rows: rowsOf(text, lens) };
  };
  yield* told(look, () => known, check);
}
