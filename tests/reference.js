// Multi-head attention in plain float64 loops, written from the definitions and sharing no code with the
// package. The tests compare the engine with it.

/**
 * @typedef {{ shape: readonly number[], data: ArrayLike<number>, dtype?: string }} Matrix
 * @typedef {{ shape: number[], data: Float64Array }} Result
 * @typedef {{ weight: Matrix, bias?: Matrix }} LinearWeights
 * @typedef {{ isCausal?: boolean, causalOffset?: number, mask?: Matrix, scale?: number, window?: readonly number[],
 *   softcap?: number, enableGqa?: boolean, kvLengths?: readonly number[], past?: { key: Matrix, value: Matrix } }} AttentionOptions
 */

/** @param {readonly number[]} shape */
export const sizeOf = (shape) => shape.reduce((product, size) => product * size, 1);

/**
 * @param {readonly number[]} shape
 * @returns {Result}
 */
const empty = (shape) => ({ shape: [...shape], data: new Float64Array(sizeOf(shape)) });

/**
 * The number of the element of `shape` that stands for element `index` of the larger shape `full`, with
 * dimensions aligned at the right and sizes of 1 repeated. -1: beyond a last axis that is too short.
 * @param {readonly number[]} shape
 * @param {readonly number[]} full
 * @param {number} index
 */
export function broadcastIndex(shape, full, index) {
  let rest = index;
  let stride = 1;
  let offset = 0;
  for (let axis = 1; axis <= full.length; axis++) {
    const size = full[full.length - axis];
    const position = rest % size;
    rest = Math.floor(rest / size);
    const own = shape[shape.length - axis];
    if (own === undefined || own === 1) continue;
    if (position >= own) return -1;
    offset += position * stride;
    stride *= own;
  }
  return offset;
}

/**
 * @param {Matrix} a
 * @param {Matrix} b
 */
export function matmul(a, b) {
  const [m, k] = a.shape.slice(-2);
  const n = b.shape[b.shape.length - 1];
  const leadA = a.shape.slice(0, -2);
  const leadB = b.shape.slice(0, -2);
  const lead = leadA.length >= leadB.length ? [...leadA] : [...leadB];
  for (let axis = 1; axis <= lead.length; axis++) {
    const sizes = [leadA.at(-axis) ?? 1, leadB.at(-axis) ?? 1];
    lead[lead.length - axis] = Math.max(...sizes);
  }
  const result = empty([...lead, m, n]);
  for (let batch = 0; batch < sizeOf(lead); batch++) {
    const startA = broadcastIndex(leadA, lead, batch) * m * k;
    const startB = broadcastIndex(leadB, lead, batch) * k * n;
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < n; j++) {
        let sum = 0;
        for (let p = 0; p < k; p++) sum += a.data[startA + i * k + p] * b.data[startB + p * n + j];
        result.data[(batch * m + i) * n + j] = sum;
      }
    }
  }
  return result;
}

/**
 * Softmax in place over one row. Scores of -Infinity weigh nothing; a row of nothing else becomes zeros;
 * NaN and +Infinity make the row NaN.
 * @param {Float64Array} row
 */
function softmaxRow(row) {
  const largest = row.reduce((a, b) => (Number.isNaN(a) || a > b ? a : b), -Infinity);
  if (largest === -Infinity) {
    row.fill(0);
    return;
  }
  let sum = 0;
  for (let j = 0; j < row.length; j++) {
    row[j] = Math.exp(row[j] - largest);
    sum += row[j];
  }
  for (let j = 0; j < row.length; j++) row[j] /= sum;
}

/** @param {Matrix} x */
export function softmax(x) {
  const result = { shape: [...x.shape], data: Float64Array.from(x.data) };
  const columns = x.shape[x.shape.length - 1];
  for (let start = 0; start < result.data.length; start += columns)
    softmaxRow(result.data.subarray(start, start + columns));
  return result;
}

/**
 * Two tensors joined along their tokens, the last axis but one.
 * @param {Matrix} first
 * @param {Matrix} second
 * @returns {Result}
 */
export function joinTokens(first, second) {
  const lead = second.shape.slice(0, -2);
  const width = second.shape[second.shape.length - 1];
  const counts = [first, second].map((part) => part.shape[part.shape.length - 2]);
  const result = empty([...lead, counts[0] + counts[1], width]);
  let next = 0;
  for (let head = 0; head < sizeOf(lead); head++)
    for (const [part, tokens] of /** @type {const} */ ([
      [first, counts[0]],
      [second, counts[1]],
    ]))
      for (let i = 0; i < tokens * width; i++)
        result.data[next++] = part.data[head * tokens * width + i];
  return result;
}

/**
 * Which keys [first, last] the query of a batch entry may see by causality, window and length.
 * @param {AttentionOptions} options
 * @param {{ batch: number, query: number, queries: number, keys: number, past: number }} place
 */
function keyRange(options, { batch, query, queries, keys, past }) {
  const { isCausal = false, window = [-1, -1], kvLengths } = options;
  const length = kvLengths ? kvLengths[batch] : keys;
  const offset = options.causalOffset ?? (isCausal && kvLengths ? length - queries : past);
  const diagonal = query + offset;
  const ends = [length - 1];
  if (isCausal) ends.push(diagonal);
  if (window[1] >= 0) ends.push(diagonal + window[1]);
  return { first: window[0] < 0 ? 0 : diagonal - window[0], last: Math.min(...ends) };
}

/**
 * softmax(softcap(q·kᵀ·scale) + mask)·v for rank 2, 3 and 4. A masked key has no influence on the query, whatever
 * it holds. With `scores`, of every key, `softcapped` and `masked`: what the weights are made of; `present`: keys and
 * values with the past before them.
 * @param {Matrix} q
 * @param {Matrix} k
 * @param {Matrix} v
 * @param {AttentionOptions} [options]
 */
export function scaledDotProductAttention(q, k, v, options = {}) {
  const { mask, past, softcap = 0 } = options;
  const key = past ? joinTokens(past.key, k) : k;
  const value = past ? joinTokens(past.value, v) : v;
  const [tokens, width] = q.shape.slice(-2);
  const [keys, valueWidth] = value.shape.slice(-2);
  const scale = options.scale ?? 1 / Math.sqrt(width);
  const lead = q.shape.slice(0, -2);
  const [heads, keyHeads] = [lead, k.shape.slice(0, -2)].map((shape) => shape.at(-1) ?? 1);
  const group = options.enableGqa ? heads / keyHeads : 1;
  const output = empty([...lead, tokens, valueWidth]);
  const [weights, scores, softcapped, masked] = [1, 2, 3, 4].map(() =>
    empty([...lead, tokens, keys]),
  );
  for (let row = 0; row < sizeOf(lead) * tokens; row++) {
    const head = Math.floor(row / tokens);
    const keyHead = Math.floor(head / group);
    const { first, last } = keyRange(options, {
      batch: lead.length === 2 ? Math.floor(head / heads) : 0,
      query: row % tokens,
      queries: tokens,
      keys,
      past: keys - k.shape[k.shape.length - 2],
    });
    const own = weights.data.subarray(row * keys, (row + 1) * keys);
    for (let j = 0; j < keys; j++) {
      const at = row * keys + j;
      let added = j < first || j > last ? -Infinity : 0;
      if (mask && added === 0) {
        const index = broadcastIndex(mask.shape, weights.shape, at);
        if (index < 0 || (mask.dtype === 'bool' && mask.data[index] === 0)) added = -Infinity;
        else if (mask.dtype !== 'bool') added = mask.data[index];
      }
      let dot = 0;
      for (let p = 0; p < width; p++)
        dot += q.data[row * width + p] * key.data[(keyHead * keys + j) * width + p];
      scores.data[at] = dot * scale;
      softcapped.data[at] =
        softcap === 0 ? dot * scale : softcap * Math.tanh((dot * scale) / softcap);
      masked.data[at] = added === -Infinity ? added : softcapped.data[at] + added;
      own[j] = masked.data[at];
    }
    const visible = Array.from(own, (score) => score !== -Infinity);
    softmaxRow(own);
    for (let c = 0; c < valueWidth; c++) {
      let sum = 0;
      for (let j = 0; j < keys; j++)
        if (visible[j]) sum += own[j] * value.data[(keyHead * keys + j) * valueWidth + c];
      output.data[row * valueWidth + c] = sum;
    }
  }
  return { output, weights, scores, softcapped, masked, present: { key, value } };
}

/**
 * x·Wᵀ + b, as torch.nn.Linear.
 * @param {Matrix} x
 * @param {LinearWeights} layer
 */
export function linear(x, { weight, bias }) {
  const [outFeatures, inFeatures] = weight.shape;
  const result = empty([...x.shape.slice(0, -1), outFeatures]);
  for (let row = 0; row < x.data.length / inFeatures; row++) {
    for (let o = 0; o < outFeatures; o++) {
      let sum = bias ? bias.data[o] : 0;
      for (let p = 0; p < inFeatures; p++)
        sum += x.data[row * inFeatures + p] * weight.data[o * inFeatures + p];
      result.data[row * outFeatures + o] = sum;
    }
  }
  return result;
}

/**
 * The layer called `name` of a state dict.
 * @param {Record<string, Matrix>} state
 * @param {string} name
 * @returns {LinearWeights}
 */
export const layer = (state, name) => ({
  weight: state[`${name}.weight`],
  bias: state[`${name}.bias`],
});

/**
 * [batch, tokens, heads·width] to [batch, heads, tokens, width].
 * @param {Matrix} x
 * @param {number} heads
 */
export function splitHeads(x, heads) {
  const [batch, tokens, all] = x.shape;
  const width = all / heads;
  const result = empty([batch, heads, tokens, width]);
  let next = 0;
  for (let b = 0; b < batch; b++)
    for (let h = 0; h < heads; h++)
      for (let t = 0; t < tokens; t++)
        for (let i = 0; i < width; i++)
          result.data[next++] = x.data[(b * tokens + t) * all + h * width + i];
  return result;
}

/**
 * [batch, heads, tokens, width] to [batch, tokens, heads·width].
 * @param {Matrix} x
 */
export function mergeHeads(x) {
  const [batch, heads, tokens, width] = x.shape;
  const result = empty([batch, tokens, heads * width]);
  let next = 0;
  for (let b = 0; b < batch; b++)
    for (let t = 0; t < tokens; t++)
      for (let h = 0; h < heads; h++)
        for (let i = 0; i < width; i++)
          result.data[next++] = x.data[((b * heads + h) * tokens + t) * width + i];
  return result;
}

/**
 * The fused module: x [batch, tokens, dIn]; layers are left out where the state dict has none.
 * @param {Matrix} x
 * @param {Record<string, Matrix>} state
 * @param {AttentionOptions & { numHeads: number }} options
 */
export function multiHeadAttention(x, state, { numHeads, ...options }) {
  const [q, k, v] = ['W_query', 'W_key', 'W_value'].map((name) =>
    splitHeads(linear(x, layer(state, name)), numHeads),
  );
  const { output, weights } = scaledDotProductAttention(q, k, v, options);
  const merged = mergeHeads(output);
  const out = layer(state, 'out_proj');
  return { output: out.weight ? linear(merged, out) : merged, weights };
}

/**
 * What a mask over [batch, heads, Lq, Lkv] says of one head.
 * @param {Matrix | undefined} mask
 * @param {number} head
 * @returns {Matrix | undefined}
 */
function maskOfHead(mask, head) {
  if (mask === undefined || mask.shape.length < 4 || mask.shape[1] === 1) return mask;
  const [batch, heads, rows, columns] = mask.shape;
  const size = rows * columns;
  const parts = Array.from({ length: batch }, (_, b) => [
    ...Array.from(mask.data).slice((b * heads + head) * size, (b * heads + head + 1) * size),
  ]);
  return { ...mask, shape: [batch, 1, rows, columns], data: Float64Array.from(parts.flat()) };
}

/**
 * The wrapper: one head after another, outputs side by side.
 * @param {Matrix} x
 * @param {Record<string, Matrix>} state
 * @param {AttentionOptions & { numHeads: number }} options
 */
export function wrapper(x, state, { numHeads, ...options }) {
  const heads = Array.from({ length: numHeads }, (_, head) => {
    const [q, k, v] = ['W_query', 'W_key', 'W_value'].map((name) =>
      splitHeads(linear(x, layer(state, `heads.${head}.${name}`)), 1),
    );
    return scaledDotProductAttention(q, k, v, { ...options, mask: maskOfHead(options.mask, head) });
  });
  return {
    output: mergeHeads(stackHeads(heads.map((head) => head.output))),
    weights: stackHeads(heads.map((head) => head.weights)),
  };
}

/** @param {Result[]} heads each [batch, 1, tokens, width] */
function stackHeads(heads) {
  const [batch, , tokens, width] = heads[0].shape;
  const result = empty([batch, heads.length, tokens, width]);
  const size = tokens * width;
  for (let b = 0; b < batch; b++)
    heads.forEach((head, h) =>
      result.data.set(head.data.subarray(b * size, (b + 1) * size), (b * heads.length + h) * size),
    );
  return result;
}
