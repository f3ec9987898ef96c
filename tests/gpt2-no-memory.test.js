// A checkpoint for which memory ends early, page by page: it is loaded and right, or ERR_MEMORY and the engine as it was.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { load } from 'headwise';
import { writeSafetensors } from 'headwise/formats';
import { HeadwiseError, loadGpt2 } from 'headwise/gpt2';
import { drawIds, smallModel } from './gpt2.js';
import { checkFused } from './seeds.js';
import { withMaximum } from './wasm-maximum.js';

const wasm = new URL('../web/headwise/wasm/headwise-simd128.wasm', import.meta.url);
const bytes = new Uint8Array(await readFile(wasm));
const config = { vocab_size: 6000, n_positions: 200, n_embd: 128, n_head: 4, n_layer: 2 };
const sizes = { vocabSize: 6000, contextLength: 200, dModel: 128, numHeads: 4, numLayers: 2 };

test('loading with any little memory works or ends in ERR_MEMORY, and the engine works on', async () => {
  const free = await load({ simd: 'simd128' });
  const model = smallModel(free, sizes);
  const weights = writeSafetensors(model.stateDict());
  const ids = drawIds(1, 50, sizes.vocabSize);
  const expected = model.forward(ids).logits;
  free.dispose();
  /** @type {Record<string, number>} */
  const failures = { making: 0, loading: 0, computing: 0 };
  for (let pages = 17; ; pages++) {
    assert.ok(pages < 400, 'never enough');
    const hw = await load({ wasm: withMaximum(bytes, pages) });
    let step = 'making';
    try {
      const onProgress = () => {
        step = 'loading';
      };
      const loaded = await loadGpt2(hw, { config, weights, onProgress });
      step = 'computing';
      assert.deepEqual(loaded.forward(ids).logits, expected);
      assert.ok(
        Object.values(failures).every((count) => count > 0),
        JSON.stringify(failures),
      );
      return;
    } catch (error) {
      assert.ok(error instanceof HeadwiseError, /** @type {Error} */ (error).stack);
      assert.equal(error.code, 'ERR_MEMORY', error.message);
      failures[step]++;
      checkFused(hw);
    } finally {
      hw.dispose();
    }
  }
});
