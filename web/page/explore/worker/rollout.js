/**
 * Attention rollout: Abnar & Zuidema 2020, Quantifying Attention Flow in Transformers. What a token at a layer draws
 * from each input token if attention is all that mixes them: the product of the layers' mean attention, half of it the
 * residual connection.
 *
 * @import { Heads, Rows } from './heads.js'
 */

import { BLOCK, meanRows } from './heads.js';

/**
 * rows × (mean attention of a layer + identity) / 2, over blocks of the layer's rows.
 *
 * @param {Float32Array} rows of n, changed into the product
 * @param {Rows} mean
 * @param {object} size
 * @param {number} size.n
 * @param {boolean} size.causal
 * @param {number} size.visible keys from here on are zero in all rows
 */
function timesLayer(rows, mean, { n, causal, visible }) {
  const count = rows.length / n;
  const product = new Float64Array(rows.length);
  for (let start = 0; start < visible; start += BLOCK) {
    const end = Math.min(visible, start + BLOCK);
    const block = mean(start, end);
    for (let row = 0; row < count; row++) {
      for (let via = start; via < end; via++) {
        const share = rows[row * n + via] / 2;
        if (share === 0) continue;
        const from = (via - start) * n;
        const to = row * n;
        const keys = causal ? via + 1 : n;
        for (let key = 0; key < keys; key++) product[to + key] += share * block[from + key];
        product[to + via] += share;
      }
    }
  }
  rows.set(product);
}

/**
 * Rollout from a layer down to the input.
 *
 * @param {Heads} source
 * @param {number} layer
 * @returns {Rows}
 */
export function rollout(source, layer) {
  const { n, causal } = source;
  const means = Array.from({ length: layer + 1 }, (_, below) => meanRows(source, layer - below));
  return (start, end) => {
    const rows = new Float32Array((end - start) * n);
    for (let row = start; row < end; row++) rows[(row - start) * n + row] = 1;
    for (const mean of means) timesLayer(rows, mean, { n, causal, visible: causal ? end : n });
    return rows;
  };
}
