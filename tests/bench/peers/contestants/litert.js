/**
 * @import { Prepared, Started, Task } from './contestant.js'
 * @import { Model } from '../models/tflite-graphs.js'
 */

import * as graphs from '../models/tflite-graphs.js';

/** @typedef {typeof import('@litertjs/core')} LiteRt */

const WASM = new URL('../node_modules/@litertjs/core/wasm/', import.meta.url);

/**
 * @param {LiteRt} litert
 * @param {number} threads
 * @param {Model} model
 * @returns {Promise<Prepared>}
 */
async function prepare({ loadAndCompile, Tensor }, threads, { bytes, inputs }) {
  const compiled = await loadAndCompile(bytes, {
    accelerator: 'wasm',
    cpuOptions: { numThreads: threads },
  });
  return {
    async run() {
      const tensors = inputs.map(({ data, shape }) => new Tensor(data, shape));
      const outputs = await compiled.run(tensors);
      const y = /** @type {Float32Array} */ (outputs[0].toTypedArray());
      for (const tensor of [...tensors, ...outputs]) tensor.delete();
      return y;
    },
    dispose: () => compiled.delete(),
  };
}

/**
 * @param {Task} task
 * @returns {{ name: string, model: () => Model }[]}
 */
function modelsOf(task) {
  switch (task.kind) {
    case 'linear':
      return [{ name: 'FULLY_CONNECTED', model: () => graphs.linear(task) }];
    case 'attention':
      return [
        { name: 'heads together', model: () => graphs.attention(task, false) },
        { name: 'heads apart', model: () => graphs.attention(task, true) },
      ];
    case 'multiHeadAttention':
      return [
        { name: 'heads together', model: () => graphs.multiHeadAttention(task, false) },
        { name: 'heads apart', model: () => graphs.multiHeadAttention(task, true) },
      ];
    case 'decode':
      return [{ name: 'BATCH_MATMUL', model: () => graphs.decode(task) }];
    case 'train':
      return [];
  }
}

/**
 * @param {{ threads: number }} options
 * @returns {Promise<Started>}
 */
export async function start({ threads }) {
  const litert = await import('@litertjs/core');
  await litert.loadLiteRt(WASM.href, { threads: threads > 1 });
  return {
    ways: (task) =>
      modelsOf(task).map(({ name: way, model }) => ({
        name: way,
        prepare: () => prepare(litert, threads, model()),
      })),
  };
}
