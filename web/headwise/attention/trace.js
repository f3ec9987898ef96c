import { checkIndex, checkOptions, checkSize } from '../checks/check.js';
import { addressOf, Owned } from '../engine/owned.js';
import { misfit } from '../checks/error.js';
import { copyArray } from '../checks/foreign.js';
import { sizeOf } from '../tensor/shape.js';

/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * A trace of one layer's forward: the queries, the keys and the softmax's maxima and sums. It recomputes exact weights on
 * request and never stores the n×n matrix. `dispose` frees its memory.
 */
export class Trace extends Owned {
  #engine;
  #shape;

  /**
   * @internal
   * @param {import('../engine/engine.js').Engine} engine
   * @param {number} pointer
   * @param {readonly number[]} shape [batch, heads, Lq, Lkv]
   */
  constructor(engine, pointer, shape) {
    super(engine, pointer, 'trace_destroy');
    this.#engine = engine;
    /** The shape of the weights: [batch, heads, Lq, Lkv]. */
    this.shape = Object.freeze([...shape]);
    this.#shape = this.shape;
  }

  #live() {
    return addressOf(this, 'trace', 'run a traced forward again');
  }

  /** The size of the trace in bytes. */
  get byteLength() {
    return this.#engine.call.trace_bytes(this.#live()) >>> 0;
  }

  /**
   * Computes the exact weights of some queries of one head.
   * @param {{ batch?: number, head: number, rows?: readonly [number, number] }} where batch: default 0; rows: [start, end), default all
   * @returns {Tensor} [end - start, Lkv]
   * @throws {HeadwiseError} ERR_VALUE: batch, head or rows out of range; ERR_MEMORY; ERR_DISPOSED
   */
  weights(where) {
    const given = checkOptions(where, ['batch', 'head', 'rows'], 'trace.weights');
    const { batch, head } = this.#checkHead(given);
    const [start, end] = this.#checkRows(given.rows);
    const pointer = this.#live();
    const engine = this.#engine;
    const shape = [end - start, this.#shape[3]];
    const out = engine.stage(sizeOf(shape, 'weights') * 4);
    engine.check(engine.call.trace_weights(pointer, batch, head, start, end, out), 'trace.weights');
    return engine.read(out, shape);
  }

  /**
   * Computes one head's whole map, pooled: each cell is the maximum of the weights that it covers.
   * @param {{ batch?: number, head: number, size: number }} where batch: default 0; size: the number of cells along each side
   * @returns {Tensor} [size, size]
   * @throws {HeadwiseError} ERR_VALUE: batch or head out of range, or not a valid size; ERR_MEMORY; ERR_DISPOSED
   */
  map(where) {
    const given = checkOptions(where, ['batch', 'head', 'size'], 'trace.map');
    const { batch, head } = this.#checkHead(given);
    const size = checkSize(given.size, 'size');
    const pointer = this.#live();
    const engine = this.#engine;
    const out = engine.stage(sizeOf([size, size], 'map') * 4);
    engine.check(engine.call.trace_map(pointer, batch, head, size, out), 'trace.map');
    return engine.read(out, [size, size]);
  }

  /** @param {Record<string, any>} given */
  #checkHead({ batch = 0, head }) {
    return {
      batch: checkIndex(batch, 'batch', this.#shape[0]),
      head: checkIndex(head, 'head', this.#shape[1]),
    };
  }

  /** @param {unknown} rows @returns {readonly [number, number]} */
  #checkRows(rows) {
    const queries = this.#shape[2];
    if (rows === undefined) {
      return [0, queries];
    }
    const pair = copyArray(rows, 2);
    const [start, end] = pair?.length === 2 && pair.every(Number.isInteger) ? pair : [0, 0];
    if (start < 0 || end <= start || end > queries) {
      throw misfit(rows, 'rows', `[start, end] with 0 <= start < end <= ${queries}`);
    }
    return [start, end];
  }

  /** The class name, for consoles. Vue makes no proxy of an object that has a tag. */
  get [Symbol.toStringTag]() {
    return 'Trace';
  }
}
