// @ts-nocheck
// TEMPORARY: to be replaced by headwise/gpt2.
import { tensor } from '../../../headwise/index.js';

/** @typedef {import('../../../headwise/trace.js').Trace} Trace */

/**
 * @param {any} hw
 * @param {any} options
 */
export async function loadGpt2(hw, { config, onProgress }) {
  onProgress?.(0.5);
  const json =
    config instanceof Blob ? JSON.parse(await config.text()) : await (await fetch(config)).json();
  const { n_embd: dModel, n_head: numHeads, n_layer: numLayers, vocab_size: vocabSize } = json;
  hw.manualSeed(7);
  const stack = new hw.TransformerStack({ numLayers, dModel, numHeads, dFf: 4 * dModel });
  stack.eval();
  const dict = stack.stateDict();
  for (const key of Object.keys(dict)) {
    if (key.endsWith('qkv_proj.weight')) dict[key].data.forEach((v, i, a) => (a[i] = v * 5));
  }
  stack.loadStateDict(dict);
  const table = hw.randn([vocabSize, dModel]);
  const options = {
    vocabSize,
    contextLength: json.n_positions,
    dModel,
    numHeads,
    numLayers,
    dFf: 4 * dModel,
  };
  /** @param {any} ids @param {any} o @returns {{ logits: import('../../../headwise/index.js').Tensor, trace?: Trace[] }} */
  const forward = (ids, { trace = false, headMask, logits = 'all' } = {}) => {
    const n = ids.length;
    const x = new Float32Array(n * dModel);
    ids.forEach((id, i) => x.set(table.data.subarray(id * dModel, (id + 1) * dModel), i * dModel));
    if (headMask) {
      const d = stack.stateDict();
      headMask.forEach((row, l) =>
        row.forEach((v, h) => {
          const w = d[`blocks.${l}.attn.out_proj.weight`].data;
          for (let i = 0; i < dModel; i++)
            for (let j = 0; j < dModel / numHeads; j++)
              w[i * dModel + (h * dModel) / numHeads + j] *= v;
        }),
      );
      stack.loadStateDict(d);
    }
    const r = stack.forward(tensor(x, [n, dModel]), { trace });
    if (headMask) stack.loadStateDict(dict);
    const out = logits === 'last' ? tensor(r.output.data.slice(-dModel), [1, dModel]) : r.output;
    const l = hw.matmul(out, hw.transpose(table));
    return { logits: l, trace: r.trace };
  };
  return {
    options,
    forward,
    /** @param {any} ids @param {any} o @returns {Generator<number>} */
    *generate(ids, o) {
      const { maxTokens, headMask } = o;
      const all = [...ids];
      for (let i = 0; i < maxTokens; i++) {
        const l = forward(all, { headMask, logits: 'last' }).logits.data;
        let best = 0;
        l.forEach((v, id) => v > l[best] && (best = id));
        all.push(best);
        yield best;
      }
    },
    dispose() {
      stack.dispose();
    },
  };
}
