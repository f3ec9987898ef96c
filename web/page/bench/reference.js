/**
 * Rows of the right results in float64, written from the definitions and sharing no code with the package. Only the rows
 * asked for are computed, so that the largest shape takes a second.
 *
 * @typedef {ArrayLike<number>} Numbers
 * @typedef {(query: number, key: number) => boolean} Sees
 */

/**
 * weight·x, weight [rows, x.length] beginning at element `start`.
 * @param {Numbers} weight
 * @param {Numbers} x
 * @param {number} rows
 * @param {number} [start]
 */
function multiply(weight, x, rows, start = 0) {
  const result = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    let sum = 0;
    const at = start + row * x.length;
    for (let i = 0; i < x.length; i++) sum += weight[at + i] * x[i];
    result[row] = sum;
  }
  return result;
}

/**
 * weightᵀ·x, weight [x.length, columns] beginning at element `start`.
 * @param {Numbers} weight
 * @param {Numbers} x
 * @param {number} columns
 * @param {number} [start]
 */
function multiplyTransposed(weight, x, columns, start = 0) {
  const result = new Float64Array(columns);
  for (let row = 0; row < x.length; row++) {
    const at = start + row * columns;
    const factor = x[row];
    if (factor === 0) continue;
    for (let i = 0; i < columns; i++) result[i] += weight[at + i] * factor;
  }
  return result;
}

/**
 * Softmax of the scores that are seen; 0 elsewhere.
 * @param {Float64Array} scores
 * @param {(key: number) => boolean} sees
 */
function softmax(scores, sees) {
  const weights = scores.map((score, key) => (sees(key) ? score : -Infinity));
  const largest = weights.reduce((a, b) => Math.max(a, b), -Infinity);
  if (largest === -Infinity) return weights.fill(0);
  const powers = weights.map((score) => Math.exp(score - largest));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

/** @param {readonly Float64Array[]} parts */
function join(parts) {
  const whole = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * x·Wᵀ + b, as torch.nn.Linear.
 * @param {Numbers} x [rows, inFeatures]
 * @param {{ weight: Numbers, bias?: Numbers, inFeatures: number, outFeatures: number }} layer
 * @param {readonly number[]} rows
 */
export function linearRows(x, { weight, bias, inFeatures, outFeatures }, rows) {
  return join(
    rows.map((row) => {
      const values = Array.from({ length: inFeatures }, (_, i) => x[row * inFeatures + i]);
      const y = multiply(weight, values, outFeatures);
      return bias ? y.map((value, i) => value + bias[i]) : y;
    }),
  );
}

/**
 * One query of one head over the keys and values from element `start` on.
 * @param {Numbers} query
 * @param {Numbers} keys [count, query.length]
 * @param {Numbers} values [count, query.length]
 * @param {{ start: number, count: number, sees: (key: number) => boolean }} which
 */
function attend(query, keys, values, { start, count, sees }) {
  const scale = 1 / Math.sqrt(query.length);
  const scores = multiply(keys, query, count, start).map((score) => score * scale);
  return multiplyTransposed(values, softmax(scores, sees), query.length, start);
}

/**
 * Scaled dot-product attention, q, k and v [heads, tokens, headDim]; a row is one query of one head.
 * @param {Numbers} q
 * @param {Numbers} k
 * @param {Numbers} v
 * @param {{ tokens: number, headDim: number, sees: Sees }} shape
 * @param {readonly number[]} rows of heads · tokens
 */
export function attentionRows(q, k, v, { tokens, headDim, sees }, rows) {
  return join(
    rows.map((row) => {
      const query = Array.from({ length: headDim }, (_, i) => q[row * headDim + i]);
      const start = (row - (row % tokens)) * headDim;
      const seen = (/** @type {number} */ key) => sees(row % tokens, key);
      return attend(query, k, v, { start, count: tokens, sees: seen });
    }),
  );
}

/**
 * Weights of attention with projections; those of head h are rows h · headDim and on.
 * @typedef {object} Projections
 * @property {Numbers} query [dOut, dIn]
 * @property {Numbers} key [dOut, dIn]
 * @property {Numbers} value [dOut, dIn]
 * @property {{ weight: Numbers, bias: Numbers }} [out] [dOut, dOut] and [dOut]
 */

/**
 * The weights of one token in one head of causal self-attention. Keys of all tokens are never formed: q·(W·x) is (Wᵀ·q)·x.
 * @param {Numbers} x from element `start` on
 * @param {Projections} projections
 * @param {{ start: number, token: number, head: number, dIn: number, headDim: number }} which
 */
function causalWeights(x, { query, key }, { start, token, head, dIn, headDim }) {
  const row = Array.from({ length: dIn }, (_, i) => x[start + token * dIn + i]);
  const at = head * headDim * dIn;
  const asked = multiplyTransposed(key, multiply(query, row, headDim, at), dIn, at);
  const scores = multiply(x, asked, token + 1, start);
  return softmax(
    scores.map((score) => score / Math.sqrt(headDim)),
    () => true,
  );
}

/**
 * Causal multi-head self-attention of x [batch, tokens, dIn]; a row is one token. Values of all tokens are never formed:
 * Σ p·(W·x) is W·(Σ p·x).
 * @param {Numbers} x
 * @param {Projections} projections
 * @param {{ tokens: number, dIn: number, dOut: number, heads: number }} shape
 * @param {readonly number[]} rows of batch · tokens
 */
export function multiHeadRows(x, projections, { tokens, dIn, dOut, heads }, rows) {
  const headDim = dOut / heads;
  const { value, out } = projections;
  return join(
    rows.map((row) => {
      const start = (row - (row % tokens)) * dIn;
      const token = row % tokens;
      const context = join(
        Array.from({ length: heads }, (_, head) => {
          const at = head * headDim * dIn;
          const weights = causalWeights(x, projections, { start, token, head, dIn, headDim });
          return multiply(value, multiplyTransposed(x, weights, dIn, start), headDim, at);
        }),
      );
      if (!out) return context;
      return multiply(out.weight, context, dOut).map((sum, i) => sum + out.bias[i]);
    }),
  );
}

/**
 * Maps of causal self-attention of x [tokens, dIn], [heads, size, size]: each cell the largest of the weights that it
 * covers. size divides tokens.
 * @param {Numbers} x
 * @param {Projections} projections
 * @param {{ tokens: number, dIn: number, dOut: number, heads: number, size: number }} shape
 * @param {readonly number[]} rows of heads · size
 */
export function mapRows(x, projections, { tokens, dIn, dOut, heads, size }, rows) {
  const span = tokens / size;
  return join(
    rows.map((row) => {
      const cells = new Float64Array(size);
      for (let i = 0; i < span; i++) {
        const token = (row % size) * span + i;
        const which = { start: 0, token, head: Math.floor(row / size), dIn, headDim: dOut / heads };
        causalWeights(x, projections, which).forEach((weight, j) => {
          const cell = Math.floor(j / span);
          cells[cell] = Math.max(cells[cell], weight);
        });
      }
      return cells;
    }),
  );
}

/**
 * One new token after `past` tokens whose keys and values [heads, past, headDim] are there.
 * @param {Numbers} x [dIn]
 * @param {{ key: Numbers, value: Numbers }} cache
 * @param {Projections} projections
 * @param {{ past: number, dOut: number, heads: number }} shape
 */
export function decodeRow(x, cache, projections, { past, dOut, heads }) {
  const headDim = dOut / heads;
  const [q, k, v] = [projections.query, projections.key, projections.value].map((weight) =>
    multiply(weight, x, dOut),
  );
  const context = join(
    Array.from({ length: heads }, (_, head) => {
      const [from, to] = [head * headDim, (head + 1) * headDim];
      const before = [head * past * headDim, (head + 1) * past * headDim];
      const keys = [...Array.prototype.slice.call(cache.key, ...before), ...k.subarray(from, to)];
      const values = [
        ...Array.prototype.slice.call(cache.value, ...before),
        ...v.subarray(from, to),
      ];
      const all = { start: 0, count: past + 1, sees: () => true };
      return attend(q.subarray(from, to), keys, values, all);
    }),
  );
  const { out } = projections;
  return out ? multiply(out.weight, context, dOut).map((sum, i) => sum + out.bias[i]) : context;
}
