import { checkOptions, checkSize, checkTable } from '../checks/check.js';
import { checkIds } from '../tensor/ids.js';
import { runRows } from './forward.js';
import { Module } from './module.js';

/** @typedef {import('../tensor/ids.js').Ids} Ids */

/**
 * Options of the Embedding constructor.
 * @typedef {object} EmbeddingOptions
 * @property {number} numEmbeddings the number of ids
 * @property {number} embeddingDim width of the output
 */

const table = { numEmbeddings: checkSize, embeddingDim: checkSize };

/** torch.nn.Embedding: looks up one row of the weight for each id. State dict: weight [numEmbeddings, embeddingDim]. */
export class Embedding extends Module {
  #sizes;

  /**
   * @internal
   * @param {import('../engine/engine.js').Engine} engine
   * @param {EmbeddingOptions} options
   */
  constructor(engine, options) {
    const config = checkTable(options, table, 'Embedding');
    const { numEmbeddings, embeddingDim } = config;
    super(engine, {
      ...{ kind: 'embedding', config },
      what: `an Embedding of ${numEmbeddings} × ${embeddingDim}`,
    });
    this.#sizes = config;
  }

  /**
   * Looks ids up.
   * @param {Ids} ids integers from 0 to numEmbeddings - 1, of any shape: nested arrays, a typed array (its shape is
   *   [length]; a Uint8Array holds ids, not truth values), or a float32 tensor
   * @param {Record<string, never>} [options] none are supported; `trace`, for example, throws
   * @returns {import('./rowwise-module.js').ModuleResult} output: […, embeddingDim]
   * @throws {HeadwiseError} ERR_VALUE: not an integer, out of range, or an option; ERR_SHAPE: ragged; ERR_MEMORY;
   *   ERR_DISPOSED
   */
  forward(ids, options) {
    checkOptions(options, [], 'Embedding.forward');
    const { numEmbeddings, embeddingDim } = this.#sizes;
    const checked = checkIds(ids, numEmbeddings);
    const shape = [...checked.shape, embeddingDim];
    return { output: runRows(this, 'Embedding.forward', checked, checked.size, shape, ids) };
  }
}
