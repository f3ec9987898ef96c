// One number for all the bits that everything gives that computes: the same wherever the SIMD128 module runs.
import { Tensor } from 'headwise';
import { boolData, data } from './helpers.js';

/** FNV-1a over the results' words. @param {import('./helpers.js').Engine} hw @returns {string} */
export function bitsOf(hw) {
  hw.manualSeed(7);
  const shape = { dIn: 40, dOut: 64, contextLength: 500, numHeads: 4 };
  const fused = new hw.MultiHeadAttention(shape);
  const wrapper = new hw.MultiHeadAttentionWrapper({ ...shape, dOut: 16, dropout: 0.2 });
  const cache = fused.createCache({ batch: 2 });
  const x = data(1, [2, 400, 40]);
  const q = data(2, [2, 4, 300, 24], 5);
  const mask = boolData(3, [300, 300]);
  const { output, trace } = fused.forward(x, { trace: true });
  const results = [
    output,
    trace?.map({ head: 1, size: 33 }),
    trace?.weights({ batch: 1, head: 3, rows: [17, 200] }),
    wrapper.forward(x).output,
    fused.forward(x, { cache }).output,
    fused.forward(data(4, [2, 1, 40]), { cache }).output,
    hw.scaledDotProductAttention(q, q, q, { isCausal: true, softcap: 20 }).output,
    hw.scaledDotProductAttention(q, q, q, { mask, window: [60, 9], dropoutP: 0.1 }).output,
    hw.matmul(data(5, [3, 130, 70]), data(6, [70, 90])),
    hw.softmax(data(8, [300, 50], 30)),
    hw.rand([1000]),
    hw.randn([1000]),
  ];
  let hash = 0x811c9dc5;
  for (const result of results) {
    if (!(result instanceof Tensor)) throw new Error('a result is missing');
    for (const word of new Uint32Array(result.data.buffer))
      hash = Math.imul(hash ^ word, 0x01000193);
  }
  return (hash >>> 0).toString(16);
}
