import { readFileSync } from 'node:fs';
import { load } from 'headwise';
import {
  openSafetensors,
  readGpt2Config,
  readNpy,
  readSafetensors,
  writeNpy,
  writeSafetensors,
} from 'headwise/formats';
import { Gpt2, loadGpt2 } from 'headwise/gpt2';
import { loadModel } from 'headwise/models';
import { data } from '../../helpers.js';
import { gpt2 } from './models.js';

/** @typedef {import('../../helpers.js').Engine} Engine */
/** @typedef {import('./inputs.js').Call} Call */

const wasm = new URL('../../../web/headwise/wasm/headwise-simd128.wasm', import.meta.url);
const wasmBytes = readFileSync(wasm);
const config = { vocab_size: 9, n_positions: 6, n_embd: 4, n_head: 2, n_layer: 1 };

/** @param {Engine} hw */
function checkpoint(hw) {
  hw.manualSeed(3);
  const model = new Gpt2(hw, { ...gpt2, numLayers: 1 });
  return writeSafetensors(model.stateDict());
}

/** @type {Record<string, (hw: Engine) => Call>} */
export const files = {
  load: () => ({
    args: [{ wasm: wasmBytes.buffer.slice(0), simd: 'simd128', threads: 1 }],
    run: async (options) => (await load(options)).info,
  }),
  readNpy: () => ({ args: [writeNpy(data(1, [2])), { name: 'x' }], run: readNpy }),
  readSafetensors: () => ({
    args: [writeSafetensors({ a: data(1, [2]) }), { name: 'x', pieceBytes: 64 }],
    run: readSafetensors,
  }),
  openSafetensors: () => ({
    args: [writeSafetensors({ a: data(1, [2]) }), { name: 'x' }],
    run: async (source, options) => (await openSafetensors(source, options)).byteLength,
  }),
  readGpt2Config: () => ({ args: [{ ...config }, { name: 'x' }], run: readGpt2Config }),
  loadGpt2: (hw) => ({
    args: [hw, { config: { ...config }, weights: checkpoint(hw), onProgress: undefined }],
    run: loadGpt2,
  }),
  loadModel: (hw) => ({
    args: [
      hw,
      { config: { ...config, model_type: 'gpt2' }, weights: checkpoint(hw) },
      { dtype: 'float32', revision: 'main', onProgress: undefined, fetch: undefined },
    ],
    run: loadModel,
  }),
};
