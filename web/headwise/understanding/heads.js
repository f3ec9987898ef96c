// What heads give in texts.
import { forward } from './model.js';

/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * Calls visit with each head's output in each text, before the output projection: [tokens, headDim], times the head's factor.
 * @param {import('./model.js').Subject} subject
 * @param {readonly (readonly number[])[]} texts
 * @param {Tensor | undefined} headMask
 * @param {() => Promise<void>} pause
 * @param {(place: { text: number, layer: number, head: number, output: () => Float32Array }) => void} visit
 */
export async function visitOutputs(subject, texts, headMask, pause, visit) {
  const { numHeads } = subject;
  for (const [text, ids] of texts.entries()) {
    const { trace } = forward(subject, ids, { logits: 'none', trace: true, headMask });
    try {
      for (const [layer, each] of trace.entries()) {
        for (let head = 0; head < numHeads; head++) {
          const factor = headMask === undefined ? 1 : headMask.data[layer * numHeads + head];
          const output = () => {
            const { data } = each.output({ head });
            return factor === 1 ? data : data.map((/** @type {number} */ value) => value * factor);
          };
          visit({ text, layer, head, output });
        }
      }
    } finally {
      trace.forEach((/** @type {any} */ each) => each.dispose());
    }
    await pause();
  }
}
