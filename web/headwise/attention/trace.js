import { checkIndex, checkOptions, checkSize } from '../checks/check.js';
import { addressOf, Owned } from '../engine/owned.js';
import { misfit } from '../checks/error.js';
import { copyArray, isObject } from '../checks/foreign.js';
import { sizeOf } from '../tensor/shape.js';

/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * The module and the layer of it that a trace is of.
 * @typedef {object} Traced
 * @property {import('../modules/module.js').Module} module
 * @property {number} layer
 * @property {readonly number[]} [lengths] of the texts, if these are padded
 * @property {number} stored tokens that were in the cache
 */

/**
 * @internal The engine of a Trace, for the package's other entries. Undefined for other values, Proxies included.
 * @type {(trace: unknown) => import('../engine/engine.js').Engine | undefined}
 */
export let engineOfTrace;

/**
 * @internal What a trace is of.
 * @type {(trace: Trace) => Traced}
 */
export let tracedBy;

/**
 * A trace of one layer's forward: the queries, keys and values and the softmax's maxima and sums. It recomputes exact
 * weights on request and never stores the n×n matrix. `dispose` frees its memory.
 */
export class Trace extends Owned {
  #engine;
  #shape;
  #traced;

  static {
    engineOfTrace = (trace) => (isObject(trace) && #engine in trace ? trace.#engine : undefined);
    tracedBy = (trace) => trace.#traced;
  }

  /**
   * @internal
   * @param {import('../engine/engine.js').Engine} engine
   * @param {number} pointer
   * @param {readonly number[]} shape [batch, heads, Lq, Lkv]
   * @param {Traced} traced
   */
  constructor(engine, pointer, shape, traced) {
    super(engine, pointer, 'trace_destroy');
    this.#engine = engine;
    this.#traced = traced;
    /** The shape of the weights: [batch, heads, Lq, Lkv]. @readonly */
    this.shape = Object.freeze([...shape]);
    this.#shape = this.shape;
  }

  #live() {
    return addressOf(this, 'trace', 'run a traced forward again');
  }

  /**
   * The size of the trace in bytes.
   * @throws {HeadwiseError} ERR_DISPOSED
   */
  get byteLength() {
    return this.#engine.call.trace_bytes(this.#live()) >>> 0;
  }

  /**
   * Computes the exact weights of some queries of one head.
   * @param {{ batch?: number, head: number, rows?: readonly [number, number] }} where batch: default 0; rows: [start, end), at least
   *   one, default all
   * @returns {Tensor} [end - start, Lkv]
   * @throws {HeadwiseError} ERR_VALUE: batch, head or rows out of range; ERR_MEMORY; ERR_DISPOSED
   */
  weights(where) {
    return this.#ofRows(where, 'trace.weights', (pointer, ...rest) =>
      this.#engine.call.trace_weights(pointer, ...rest),
    );
  }

  /**
   * Computes the norms of what a head writes for each query and key: ‖weight · (x_j W_V + b_V) W_O‖, with the head's part of
   * the output projection (Kobayashi et al. 2020, "Attention is Not Only a Weight"). Without an output projection it is
   * weight · ‖value‖. The projection is the module's present one.
   * @param {{ batch?: number, head: number, rows?: readonly [number, number] }} where as for `weights`
   * @returns {Tensor} [end - start, Lkv]
   * @throws {HeadwiseError} ERR_VALUE: batch, head or rows out of range; ERR_MEMORY; ERR_DISPOSED: the trace or its module
   */
  norms(where) {
    return this.#ofRows(where, 'trace.norms', (pointer, ...rest) => {
      const { module, layer } = this.#traced;
      return this.#engine.call.trace_norms(addressOf(module), layer, pointer, ...rest);
    });
  }

  /**
   * Copies the values of one head. Heads that share keys and values have the same.
   * @param {{ batch?: number, head: number }} where batch: default 0
   * @returns {Tensor} [Lkv, headDim]; zeros for padded tokens
   * @throws {HeadwiseError} ERR_VALUE: batch or head out of range; ERR_MEMORY; ERR_DISPOSED
   */
  values(where) {
    return this.#ofHead(where, 'trace.values', 3);
  }

  /**
   * Computes the output of one head, weights · values, before the output projection and before any headMask or replace.
   * @param {{ batch?: number, head: number }} where batch: default 0
   * @returns {Tensor} [Lq, headDim]
   * @throws {HeadwiseError} ERR_VALUE: batch or head out of range; ERR_MEMORY; ERR_DISPOSED
   */
  output(where) {
    return this.#ofHead(where, 'trace.output', 2);
  }

  /**
   * Computes one head's whole map, pooled. Each cell is the maximum of the weights that it covers: those of at least one query
   * and one key, so with a size above the number of tokens neighbouring cells repeat a weight. Without queries all cells are 0.
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

  /**
   * @param {any} where
   * @param {string} name
   * @param {(pointer: number, batch: number, head: number, start: number, end: number, out: number) => number} compute
   */
  #ofRows(where, name, compute) {
    const given = checkOptions(where, ['batch', 'head', 'rows'], name);
    const { batch, head } = this.#checkHead(given);
    const [start, end] = this.#checkRows(given.rows);
    const pointer = this.#live();
    const engine = this.#engine;
    const shape = [end - start, this.#shape[3]];
    const out = engine.stage(sizeOf(shape, name) * 4);
    engine.check(compute(pointer, batch, head, start, end, out), name);
    return engine.read(out, shape);
  }

  /**
   * @param {any} where
   * @param {'trace.values' | 'trace.output'} name
   * @param {2 | 3} axis of the shape: the tokens that the result has rows of
   */
  #ofHead(where, name, axis) {
    const given = checkOptions(where, ['batch', 'head'], name);
    const { batch, head } = this.#checkHead(given);
    const pointer = this.#live();
    const { call } = this.#engine;
    const shape = [this.#shape[axis], call.trace_value_width(pointer)];
    const out = this.#engine.stage(sizeOf(shape, name) * 4);
    const compute = axis === 2 ? call.trace_output : call.trace_values;
    this.#engine.check(compute(pointer, batch, head, out), name);
    return this.#engine.read(out, shape);
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
