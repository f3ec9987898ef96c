/**
 * The logit lens: what a model would predict if it ended after a layer (nostalgebraist 2020, "interpreting GPT: the logit
 * lens"). The residual stream behind each layer goes through the final norm and the unembedding.
 *
 * @import { Token } from '../../types.js'
 * @import { DecoderModel } from './model.js'
 *
 * @typedef {object} LensCell what is predicted behind a token
 * @property {{ token: Token, share: number }[]} top the likeliest, the first first; share: probability
 * @property {number} rank of the target, from 1
 * @property {number} share its probability
 *
 * @typedef {object} Lens
 * @property {number} from the first token
 * @property {LensCell[][]} rows of the embedding and of each layer, as far as they are known
 * @property {number} count of rows that there will be
 */

import { likeliest, softmaxOf } from './predict.js';
import { headMaskOf } from './traced.js';

/** Predictions of a cell that are told. */
const TOLD = 8;

/** @param {DecoderModel['text']} text @param {Float32Array} logits @param {number} target @returns {LensCell} */
function cellOf(text, logits, target) {
  const shares = softmaxOf(logits);
  const rank = 1 + logits.reduce((count, logit) => count + Number(logit > logits[target]), 0);
  const top = likeliest(shares, shares, TOLD).map((id) => ({
    ...{ token: text.token(id), share: shares[id] },
  }));
  return { top, rank, share: shares[target] };
}

/**
 * @param {DecoderModel} model
 * @param {Pick<import('./model.js').Run, 'ids' | 'muted'>} run whose muted heads stay so
 * @param {{ from: number, to: number, target: number }} asked tokens from one up to but not including another
 * @param {() => Promise<void>} breathe called between layers
 * @returns {AsyncGenerator<Lens, void, void>} as far as it is known
 */
export async function* lensOf({ decoder, text }, { ids, muted }, { from, to, target }, breathe) {
  const { numLayers, vocabSize, dModel } = decoder.config;
  const read = ids.slice(0, to);
  const headMask = headMaskOf(decoder, muted);
  const { residuals } = decoder.forward(read, { logits: 'none', residuals: true, headMask });
  const count = numLayers + 1;
  /** @type {LensCell[][]} */
  const rows = [];
  for (let row = 0; row < count; row++) {
    await breathe();
    const stream = residuals.slice([row, row + 1]).reshape([read.length, dModel]);
    const start = { layer: numLayers, residual: stream };
    const { data } = decoder.forward(read, { logits: [from, to], start }).logits;
    const logits = /** @type {Float32Array} */ (data);
    const cells = Array.from({ length: to - from }, (_, i) =>
      cellOf(text, logits.subarray(i * vocabSize, (i + 1) * vocabSize), target),
    );
    rows.push(cells);
    yield { from, rows: [...rows], count };
  }
}
