/**
 * What the runs of decoders and of encoders share: the mask of heads that are muted, and the maps of a trace.
 *
 * @import { ModelConfig } from '../../../headwise/models.js'
 * @import { Trace } from '../../../headwise/index.js'
 * @import { HeadName } from '../../shared/head-names.js'
 * @import { Heads } from './heads.js'
 */

/**
 * A 1 for each head that is heard, a 0 for each that is muted.
 *
 * @param {{ config: Pick<ModelConfig, 'numLayers' | 'numHeads'> }} network
 * @param {readonly HeadName[]} muted heads of the network
 * @returns {number[][] | undefined} [numLayers, numHeads]; undefined: all are heard
 */
export function headMaskOf({ config: { numLayers, numHeads } }, muted) {
  if (muted.length === 0) return undefined;
  const mask = Array.from({ length: numLayers }, () => Array(numHeads).fill(1));
  for (const { layer, head } of muted) mask[layer][head] = 0;
  return mask;
}

/**
 * The maps of a run.
 *
 * @param {{ config: ModelConfig }} network
 * @param {readonly Trace[]} trace of every layer
 * @param {number} n tokens
 * @returns {Heads}
 */
export const tracedHeads = ({ config: { numLayers, numHeads, isDecoder } }, trace, n) => ({
  n,
  layers: numLayers,
  heads: numHeads,
  causal: isDecoder,
  rows: (layer, head, first, end) =>
    /** @type {Float32Array} */ (trace[layer].weights({ head, rows: [first, end] }).data),
  norms: (layer, head, first, end) =>
    /** @type {Float32Array} */ (trace[layer].norms({ head, rows: [first, end] }).data),
  values: (layer, head) => /** @type {Float32Array} */ (trace[layer].values({ head }).data),
  map: (layer, head, size) => /** @type {Float32Array} */ (trace[layer].map({ head, size }).data),
});
