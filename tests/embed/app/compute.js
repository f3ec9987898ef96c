// What every embedding does: the notebook's module, through every entry of the package.
import { load, tensor } from 'headwise';
import { writeSafetensors } from 'headwise/formats';
import { Gpt2, loadGpt2 } from 'headwise/gpt2';
import { load as loadInline } from 'headwise/inline';
import { load as loadWorker } from 'headwise/worker';

const x = [
  [0.43, 0.15, 0.89],
  [0.55, 0.87, 0.66],
  [0.57, 0.85, 0.64],
  [0.22, 0.58, 0.33],
  [0.77, 0.25, 0.1],
  [0.05, 0.8, 0.55],
];
const options = { dIn: 3, dOut: 2, contextLength: 6, numHeads: 2 };

/**
 * Of an engine here or in a Worker.
 * @param {() => Promise<any>} start
 * @returns {Promise<{ output: number[][], threads: number, reason: string, trace: any, hw: any }>}
 */
async function attend(start) {
  const hw = await start();
  await hw.manualSeed(123);
  const mha = await new hw.MultiHeadAttention(options);
  const { output, trace } = await mha.forward(tensor(x), { trace: true });
  const { threads, threadsReason: reason } = hw.info;
  return { output: output.toNested(), threads, reason, trace, hw };
}

/** @param {() => Promise<any>} start */
export async function attendOnce(start) {
  const { hw, trace: _trace, ...result } = await attend(start);
  await hw.dispose();
  return result;
}

/** @type {Record<string, () => Promise<{ output: number[][], threads: number, reason: string }>>} */
export const entries = {
  main: () => attendOnce(load),
  threads: () => attendOnce(() => load({ threads: 2 })),
  inline: () => attendOnce(loadInline),
  worker: () => attendOnce(() => loadWorker({ threads: 2 })),
};

/** A GPT-2 that was sent into a Worker: what it writes there, and what it would write here. */
export async function continueThere() {
  const [hw, far] = [await load(), await loadWorker()];
  const [vocabSize, contextLength, dModel, numHeads, numLayers] = [7, 6, 4, 2, 1];
  const gpt2 = new Gpt2(hw, { vocabSize, contextLength, dModel, numHeads, numLayers });
  const config = { vocab_size: 7, n_positions: 6, n_embd: 4, n_head: 2, n_layer: 1 };
  const weights = new Response(writeSafetensors(gpt2.stateDict()));
  const there = await loadGpt2(far, { config, weights });
  const expected = [...gpt2.generate([1, 2])];
  /** @type {number[]} */
  const written = [];
  for await (const id of there.generate([1, 2])) written.push(id);
  await far.dispose();
  hw.dispose();
  return { written, expected };
}

/** @param {any} map an attention-map, which draws a trace that is in a Worker */
export async function draw(map) {
  const { hw, trace } = await attend(loadWorker);
  await map.show({ trace, head: 1, causal: true });
  await hw.dispose();
}
