/**
 * The shapes of the benchmark and how much work they are: 2·m·n·k operations a matrix product; of attention only the pairs
 * of query and key that may see each other, causal work as half.
 *
 * @typedef {'causal' | 'causalBoolMask' | 'causalFloatMask' | 'randomBoolMask' | 'window'} Visible
 *
 * @typedef {object} MultiHeadShape causal self-attention with projections
 * @property {'multiHeadAttention'} kind
 * @property {number} batch
 * @property {number} tokens
 * @property {number} dIn
 * @property {number} dOut all heads together
 * @property {number} heads
 *
 * @typedef {object} AttentionShape scaled dot-product attention alone
 * @property {'attention'} kind
 * @property {number} heads
 * @property {number} tokens
 * @property {number} headDim
 * @property {Visible} visible
 * @property {number} [window] keys that a query sees, with visible 'window'
 *
 * @typedef {object} LinearShape
 * @property {'linear'} kind
 * @property {number} rows
 * @property {number} inFeatures
 * @property {number} outFeatures
 *
 * @typedef {object} DecodeShape one new token against a cache, with projections
 * @property {'decode'} kind
 * @property {number} past tokens in the cache
 * @property {number} dIn
 * @property {number} dOut
 * @property {number} heads
 *
 * @typedef {object} MapsShape maps of all heads, from the trace of causal self-attention
 * @property {'maps'} kind
 * @property {number} tokens
 * @property {number} dIn
 * @property {number} dOut
 * @property {number} heads
 * @property {number} size cells on each side
 *
 * @typedef {object} TrainShape a step of a GPT-2: forward, backward, clipping, AdamW
 * @property {'train'} kind
 * @property {number} layers
 * @property {number} width
 * @property {number} heads
 * @property {number} hidden width of the feed-forward; 0: there is none
 * @property {number} vocabulary
 * @property {number} tokens of a row
 * @property {number} batch rows of a step
 * @property {number} microBatch rows that are in memory at once
 * @property {boolean} [checkpointing] whether blocks run again in the backward
 *
 * @typedef {MultiHeadShape | AttentionShape | LinearShape | DecodeShape | MapsShape | TrainShape} Shape
 *
 * @typedef {{ flops: number, bytes?: number }} Work bytes: where reading them is what limits
 */

/** @type {(m: number, n: number, k: number) => number} */
const product = (m, n, k) => 2 * m * n * k;

/** @param {{ tokens: number, visible: Visible, window?: number }} shape */
export function visiblePairs({ tokens, visible, window = tokens }) {
  switch (visible) {
    case 'window': {
      const rising = Math.min(window, tokens);
      return (rising * (rising + 1)) / 2 + (tokens - rising) * rising;
    }
    // No block of such a mask is empty: nothing can be left out.
    case 'randomBoolMask':
      return tokens * tokens;
    default:
      return (tokens * tokens) / 2;
  }
}

/** Scores and weighted values of one head. */
const attentionFlops = (/** @type {number} */ pairs, /** @type {number} */ headDim) =>
  2 * product(pairs, 1, headDim);

/** @param {Shape} shape @returns {Work} */
export function workOf(shape) {
  switch (shape.kind) {
    case 'linear':
      return { flops: product(shape.rows, shape.outFeatures, shape.inFeatures) };
    case 'attention':
      return { flops: shape.heads * attentionFlops(visiblePairs(shape), shape.headDim) };
    case 'multiHeadAttention': {
      const { batch, tokens, dIn, dOut } = shape;
      const qkv = product(batch * tokens, 3 * dOut, dIn);
      const out = product(batch * tokens, dOut, dOut);
      const pairs = visiblePairs({ tokens, visible: 'causal' });
      return { flops: qkv + batch * attentionFlops(pairs, dOut) + out };
    }
    // Scores only: no values are weighted.
    case 'maps':
      return { flops: product(visiblePairs({ ...shape, visible: 'causal' }), 1, shape.dOut) };
    // Backward has two products for each of forward's, and of attention's five for its two: it makes the scores again.
    case 'train': {
      const { layers, width, hidden, vocabulary, tokens, batch } = shape;
      const rows = batch * tokens;
      const weights = layers * (4 * width * width + 2 * width * hidden) + vocabulary * width;
      const pairs = layers * batch * visiblePairs({ tokens, visible: 'causal' });
      return { flops: 3 * product(rows, weights, 1) + 3.5 * attentionFlops(pairs, width) };
    }
    case 'decode': {
      const { past, dIn, dOut } = shape;
      const weights = 3 * dIn * dOut + dOut * dOut;
      const cache = 2 * past * dOut;
      return { flops: 2 * (weights + cache), bytes: 4 * (weights + cache) };
    }
  }
}
