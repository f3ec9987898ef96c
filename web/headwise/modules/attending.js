// What a forward needs to know of a module that attends.
import { sizeOf } from '../tensor/shape.js';

/**
 * The description of an attention module that its forward uses.
 * @typedef {object} Attending
 * @property {string} name its forward's
 * @property {'x' | 'ids'} input what that is given: [batch, tokens, …], or without batch
 * @property {number} rank of the input with a batch
 * @property {number} width of the output
 * @property {number} heads
 * @property {number} layers how many give weights and traces
 * @property {number} contextLength
 * @property {number} [headDim] of a model whose heads can be replaced
 * @property {number} [dModel] of a model whose forward can begin at a layer
 * @property {Output} [output] of the last call
 */

/**
 * The shape of a forward's output. Made when it changes: to freeze a new one takes as long as to check an input.
 * @typedef {object} Output
 * @property {boolean} hasBatch
 * @property {number} batch
 * @property {number} rows
 * @property {readonly number[]} shape
 * @property {number} size
 */

/**
 * @param {Attending} about
 * @param {boolean} hasBatch
 * @param {number} batch
 * @param {number} rows
 * @returns {Output}
 */
export function outputOf(about, hasBatch, batch, rows) {
  const { output: last, width } = about;
  if (last?.hasBatch === hasBatch && last.batch === batch && last.rows === rows) {
    return last;
  }
  const shape = hasBatch ? [batch, rows, width] : [rows, width];
  const output = { hasBatch, batch, rows, shape, size: sizeOf(shape, 'output') };
  about.output = output;
  return output;
}
