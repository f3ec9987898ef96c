/**
 * One head's weights as the package's view takes them.
 *
 * @import { MapData } from '../types.js'
 * @param {MapData} map
 */
export const viewOf = ({ n, size, values, causal }) => ({
  weights: { shape: [size, size], data: values },
  queries: n,
  keys: n,
  causal,
});
