import { attentionArguments } from '../engine/abi.js';
import { writeStruct } from '../engine/struct.js';
import { writeMask } from './mask.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {Readonly<Record<'batch' | 'heads' | 'keyHeads' | 'queryTokens' | 'keyTokens' | 'keyWidth' | 'valueWidth', number>>} AttentionSizes */
/** @typedef {ReturnType<typeof import('./options.js').fitAttentionOptions>} Fitted */

/**
 * Fills an hw_attention_arguments.
 * @param {Engine} engine
 * @param {AttentionSizes} sizes
 * @param {Fitted} options
 * @param {readonly number[]} addresses in staging memory, of what goes in and comes out and of the struct
 */
export function writeArguments(engine, sizes, { seen, weighed, mask }, addresses) {
  const [query, key, value, output, weights, maskAt, keyLengths, struct] = addresses;
  const [rowMaximum = 0, rowSum = 0, kept = 0] = [addresses[8], addresses[9], addresses[10]];
  // One by one: to join objects takes as long as a small call.
  writeStruct(engine, struct, attentionArguments, {
    query,
    key,
    value,
    output,
    weights,
    keyLengths,
    rowMaximum,
    rowSum,
    kept,
    batch: sizes.batch,
    heads: sizes.heads,
    keyHeads: sizes.keyHeads,
    queryTokens: sizes.queryTokens,
    keyTokens: sizes.keyTokens,
    keyWidth: sizes.keyWidth,
    valueWidth: sizes.valueWidth,
    isCausal: seen.isCausal,
    offsetFromEnd: seen.offsetFromEnd,
    causalOffset: seen.causalOffset,
    windowLeft: seen.windowLeft,
    windowRight: seen.windowRight,
    scale: weighed.scale,
    softcap: weighed.softcap,
    dropout: weighed.dropout,
    weightsKind: weighed.weightsKind,
  });
  writeMask(engine.words, struct / 4 + attentionArguments.words.mask, mask, maskAt);
}
