/**
 * Repeatable numbers in [-1, 1) (mulberry32), the same in every runtime and for every contestant.
 * @param {number} seed
 * @param {number} length
 */
export function numbers(seed, length) {
  let state = (seed * 7919 + 1) | 0;
  const values = new Float32Array(length);
  for (let i = 0; i < length; i++) {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    values[i] = ((t ^ (t >>> 14)) >>> 0) / 2 ** 31 - 1;
  }
  return values;
}

/**
 * Evenly spread over 0 … count - 1, first and last included.
 * @param {number} count
 * @param {number} wanted
 */
export function spread(count, wanted) {
  if (count <= wanted) return Array.from({ length: count }, (_, i) => i);
  return Array.from({ length: wanted }, (_, i) => Math.round((i * (count - 1)) / (wanted - 1)));
}
