/** @import { LoadedModel, ModelFile } from './model-contestant.js' */

import { LoggerWithoutDebug, Wllama } from '@wllama/wllama';
import { textOf } from '../../models/byte-tokens.js';

const WASM = new URL('../node_modules/@wllama/wllama/esm/wasm/wllama.wasm', import.meta.url);

/** @param {ModelFile} file @returns {Promise<LoadedModel>} */
export async function start({ folder, type, threads }) {
  const wllama = new Wllama(
    { default: WASM.href },
    { suppressNativeLog: true, logger: LoggerWithoutDebug },
  );
  const file = await (await fetch(`${folder}model-${type}.gguf`)).blob();
  await wllama.loadModel([file], { n_threads: threads, n_gpu_layers: 0, n_parallel: 1 });
  if (wllama.getNumThreads() !== threads)
    throw new Error(`asked for ${threads} threads, it works with ${wllama.getNumThreads()}`);
  let text = '';
  /** Checks that it read and wrote as many tokens as it was to, and that it knew what it was to. */
  const complete = async (
    /** @type {number} */ known,
    /** @type {number} */ tokens,
    /** @type {number} */ logprobs = 0,
  ) => {
    const options = { prompt: text, max_tokens: tokens, temperature: 0, logprobs };
    const { choices, usage } = await wllama.createCompletion(options);
    const { prompt_tokens: read, prompt_tokens_details: details, completion_tokens: wrote } = usage;
    const counts = `${read} tokens read, ${details.cached_tokens} known, ${wrote} written`;
    const expected = `${text.length} tokens read, ${known} known, ${tokens} written`;
    if (counts !== expected) throw new Error(`${counts}; expected ${expected}`);
    return choices[0];
  };
  return {
    read(ids) {
      text = textOf(ids);
      return complete(0, 1);
    },
    // Of a text that it knows, it reads the last token again.
    decode: (tokens) => complete(text.length - 1, tokens),
    async guess(ids, count) {
      text = textOf(ids);
      const { logprobs } = await complete(0, 1, count);
      const [{ top_logprobs: guesses }] = logprobs.content;
      return guesses.map(({ id, logprob }) => ({ id, logProbability: logprob }));
    },
  };
}
