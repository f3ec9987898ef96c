/**
 * @import { Prepared, Started, Task, Way } from './contestant.js'
 * @import { Model } from '../models/onnx-graphs.js'
 */

import * as graphs from '../models/onnx-graphs.js';

/** @typedef {typeof import('onnxruntime-web/wasm')} Ort */

/**
 * @param {Ort} ort
 * @param {Model} model
 * @returns {Promise<Prepared>}
 */
async function prepare(ort, { bytes, inputs }) {
  const session = await ort.InferenceSession.create(bytes, { executionProviders: ['wasm'] });
  const feeds = () =>
    Object.fromEntries(
      Object.entries(inputs).map(([key, { data, shape }]) => [
        key,
        new ort.Tensor('float32', data, shape),
      ]),
    );
  const [output] = session.outputNames;
  return {
    async run() {
      const results = await session.run(feeds());
      return /** @type {Float32Array} */ (results[output].data);
    },
    dispose: () => session.release(),
  };
}

/**
 * @param {Task} task
 * @returns {{ name: string, model: () => Model }[]}
 */
function modelsOf(task) {
  switch (task.kind) {
    case 'linear':
      return [{ name: 'Gemm', model: () => graphs.linear(task) }];
    case 'attention':
      return [
        { name: 'Attention', model: () => graphs.fusedAttention(task) },
        { name: 'MatMul and Softmax', model: () => graphs.plainAttention(task) },
      ];
    case 'multiHeadAttention':
      return [
        { name: 'com.microsoft.Attention', model: () => graphs.fusedMultiHead(task) },
        { name: 'MatMul and Softmax', model: () => graphs.plainMultiHead(task) },
      ];
    case 'decode':
      return [{ name: 'MatMul and Softmax', model: () => graphs.decode(task) }];
    case 'train':
      return [];
  }
}

/**
 * @param {{ threads: number }} options
 * @returns {Promise<Started>}
 */
export async function start({ threads }) {
  const ort = await import('onnxruntime-web/wasm');
  ort.env.wasm.numThreads = threads;
  ort.env.logLevel = 'error';
  return {
    ways: (task) =>
      modelsOf(task).map(
        /** @returns {Way} */
        ({ name: way, model }) => ({ name: way, prepare: () => prepare(ort, model()) }),
      ),
  };
}
