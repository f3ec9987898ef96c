/**
 * An encoder's runs: every token attends to all others, and the model predicts tokens that are hidden behind [MASK] (Devlin et
 * al. 2019, BERT).
 *
 * @import { Encoder } from '../../../headwise/models.js'
 * @import { HeadName } from '../../shared/head-names.js'
 * @import { Run } from './model.js'
 * @import { TextTokens } from './tokens.js'
 *
 * @typedef {object} EncoderModel
 * @property {Encoder} encoder
 * @property {boolean} hasHead whether the file has a masked-language-model head
 * @property {TextTokens} text
 * @property {string} [note] why its text is token ids, where it is
 */

import { keepingLatest } from './latest.js';
import { headMaskOf, tracedHeads } from './traced.js';

/**
 * What the model says of a token's place when [MASK] stands there.
 *
 * @param {EncoderModel} model that has a head and a mask
 * @param {number[]} ids
 * @param {number} at
 * @param {number[][]} [headMask]
 * @returns {Float32Array} [vocabSize]
 */
export function maskedLogits({ encoder, text }, ids, at, headMask) {
  const { vocabSize } = encoder.config;
  const hidden = ids.with(at, /** @type {number} */ (text.mask));
  const { logits } = encoder.forward(hidden, { headMask });
  const all = /** @type {Float32Array} */ (logits?.data);
  return all.slice(at * vocabSize, (at + 1) * vocabSize);
}

/**
 * @param {EncoderModel} model
 * @param {number[]} ids
 * @param {readonly HeadName[]} muted
 * @returns {Run}
 */
export function runEncoder(model, ids, muted) {
  const { encoder, text } = model;
  const headMask = headMaskOf(encoder, muted);
  const start = performance.now();
  const { trace } = encoder.forward(ids, { trace: true, headMask });
  const ms = performance.now() - start;
  return {
    ids,
    tokens: ids.map(text.token),
    source: tracedHeads(encoder, trace, ids.length),
    muted,
    ms,
    bytes: trace.reduce((sum, { byteLength }) => sum + byteLength, 0),
    logits: keepingLatest((at) => maskedLogits(model, ids, at, headMask)),
    // Nobody knows what a [MASK] of the text itself hides.
    actual: (at) => (ids[at] === text.mask ? undefined : ids[at]),
    hasLogits: false,
    dispose: () => trace.forEach((layer) => layer.dispose()),
  };
}
