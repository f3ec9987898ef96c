import { checkOptions, checkShape } from '../checks/check.js';
import { checkIds } from './ids.js';
import { recordEmbedding } from '../autograd/functions.js';
import { checkFloats, viewOf } from './operand.js';
import { newArray, sizeOf } from './shape.js';
import { tensorOf } from './tensor.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('./tensor.js').Tensor} Tensor */

/**
 * @param {Engine} engine
 * @param {import('./ids.js').Ids} ids
 * @param {Tensor} weight
 * @param {unknown} options
 * @returns {Tensor}
 */
export function embedding(engine, ids, weight, options) {
  checkOptions(options, [], 'embedding');
  const w = checkFloats(weight, 'weight');
  checkShape(w, 'weight', w.shape.length === 2, () => '[numEmbeddings, embeddingDim]');
  const [count, width] = w.shape;
  const { data: rows, shape: lead, size } = checkIds(ids, count);
  engine.checkAlive();
  const shape = [...lead, width];
  const data = newArray(Float32Array, sizeOf(shape, 'the result'));
  const values = viewOf(w);
  for (let i = 0; i < size; i++) {
    data.set(values.subarray(rows[i] * width, (rows[i] + 1) * width), i * width);
  }
  const y = tensorOf(data, shape);
  return engine.isRecording ? recordEmbedding(engine, y, weight, rows, w.shape) : y;
}
