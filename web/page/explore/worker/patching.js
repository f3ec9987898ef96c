/**
 * Activation patching: how much of one text's prediction comes back when a part of its run is put into the run of another
 * text.
 *
 * @import { PatchingOptions, PatchingProgress } from '../../../headwise/understanding.js'
 * @import { DecoderModel } from './model.js'
 *
 * @typedef {object} Patching
 * @property {number} target id of the token
 * @property {number} n tokens up to the one after which the prediction is
 * @property {number} [clean] the score in the text that is asked about, once it is known: a difference of logits, or a
 *   log-probability
 * @property {number} [other] the score in the other text
 * @property {Float64Array} heads the share that each head brings back, layer after layer; NaN: not yet known
 * @property {Float64Array} places the share that the residual stream before each layer brings back at each token, layer
 *   after layer; NaN: not yet known
 * @property {number} done patches
 * @property {number} count of all patches
 *
 * @typedef {object} Asked
 * @property {number[]} ids of the text, up to the token after which the prediction is
 * @property {number[]} others of the other text
 * @property {number} target
 * @property {number | null} against
 * @property {number[][]} [headMask] of heads that are muted in both texts
 */

import { patching } from '../../../headwise/understanding.js';
import { told } from './told.js';

/**
 * @param {Pick<DecoderModel, 'decoder'>} model
 * @param {Asked} asked texts of the same length that differ
 * @param {() => Promise<void>} check called before each report; if it rejects, the sweep ends
 * @returns {AsyncGenerator<Patching, void, void>} as far as it is known
 */
export async function* patchingOf({ decoder }, { ids, others, target, against, headMask }, check) {
  const { numLayers, numHeads } = decoder.config;
  const n = ids.length;
  const heads = new Float64Array(numLayers * numHeads).fill(NaN);
  const places = new Float64Array(numLayers * n).fill(NaN);
  const texts = { clean: ids, corrupted: others, target, against: against ?? undefined, headMask };
  let done = 0;
  /** @type {{ clean?: number, other?: number }} */
  let scores = {};
  const onProgress = (/** @type {PatchingProgress} */ { layer, head, token = 0, recovered }) => {
    if (head === undefined) places[layer * n + token] = recovered;
    else heads[layer * numHeads + head] = recovered;
    done++;
  };
  const sweep = async (
    /** @type {PatchingOptions['of']} */ of,
    /** @type {AbortSignal} */ signal,
  ) => {
    const how = { of, onProgress, signal };
    const { clean, corrupted } = await patching(decoder, { ...texts, ...how });
    scores = { clean, other: corrupted };
  };
  const known = () => ({
    ...{ target, n, ...scores, done, count: heads.length + places.length },
    ...{ heads: heads.slice(), places: places.slice() },
  });
  const both = async (/** @type {AbortSignal} */ signal) => {
    await sweep('heads', signal);
    await sweep('residual', signal);
  };
  yield* told(both, known, check);
}
