/**
 * The parts of a logit, stacked: each begins where the one before ends, and the last ends at the logit.
 *
 * @typedef {object} Part
 * @property {'embedding' | 'layer' | 'head' | 'mlp' | 'biases' | 'rest'} kind layer: all heads of one; rest: those that are
 *   too small to be shown
 * @property {number} value in logits
 * @property {number} [layer]
 * @property {number} [head]
 * @property {number} [count] of rest: how many
 * @property {Part[]} [parts] of a layer: its heads
 *
 * @typedef {Part & { start: number, end: number }} Stacked
 */

/** @param {ArrayLike<number>} values */
export const sumOf = (values) => Array.from(values).reduce((sum, value) => sum + value, 0);

/**
 * @param {object} attribution
 * @param {ArrayLike<number>} attribution.heads layer after layer
 * @param {ArrayLike<number>} attribution.mlps of every layer; all 0 in a model without feed-forward
 * @param {number} attribution.embedding
 * @param {number} attribution.biases
 * @returns {Part[]} as the model adds them
 */
export function partsOf({ heads, mlps, embedding, biases }) {
  const inLayer = heads.length / mlps.length;
  const hasMlps = Array.from(mlps).some((value) => value !== 0);
  /** @type {Part[]} */
  const layers = Array.from(mlps, (mlp, layer) => {
    /** @type {Part[]} */
    const parts = Array.from({ length: inLayer }, (_, head) => ({
      ...{ kind: 'head', layer, head, value: heads[layer * inLayer + head] },
    }));
    const all = { kind: /** @type {const} */ ('layer'), layer, parts };
    const own = { ...all, value: sumOf(parts.map(({ value }) => value)) };
    return hasMlps ? [own, { kind: /** @type {const} */ ('mlp'), layer, value: mlp }] : [own];
  }).flat();
  return [{ kind: 'embedding', value: embedding }, ...layers, { kind: 'biases', value: biases }];
}

/**
 * @param {readonly Part[]} parts
 * @param {number} most so many; the others are one part
 * @returns {Part[]} heads by themselves, the largest first
 */
export function largestFirst(parts, most) {
  const all = parts
    .flatMap((part) => part.parts ?? [part])
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const rest = all.slice(most);
  if (rest.length < 2) return all;
  const value = sumOf(rest.map((part) => part.value));
  return [...all.slice(0, most), { kind: 'rest', count: rest.length, value }];
}

/** @param {readonly Part[]} parts @param {number} [start] @returns {Stacked[]} */
export function stacked(parts, start = 0) {
  let at = start;
  return parts.map((part) => {
    const from = at;
    at += part.value;
    return { ...part, start: from, end: at };
  });
}

/** Where all of them fit, with 0. @param {readonly Stacked[]} parts @returns {[number, number]} */
export function rangeOf(parts) {
  const ends = parts.flatMap(({ start, end }) => [start, end]);
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  return low === high ? [0, 1] : [low, high];
}
