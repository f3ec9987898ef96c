import { classOf } from '../checks/describe.js';
import { disposeSymbol, finalizers } from './dispose.js';

/** @typedef {import('./engine.js').Engine} Engine */
/** @typedef {'module_destroy' | 'cache_destroy' | 'trace_destroy' | 'graph_destroy' | 'optimizer_destroy'} Destroy an export that frees */

/** @param {Engine} engine @param {Destroy | undefined} destroy @param {number | undefined} pointer 0 or undefined for nothing */
function free(engine, destroy, pointer) {
  if (!engine.disposed && pointer) {
    engine.call[/** @type {Destroy} */ (destroy)](pointer);
  }
}

/**
 * The address of what lives in an engine's memory.
 * @type {(owned: Owned, what?: string, remedy?: string) => number}
 * @throws {HeadwiseError} ERR_DISPOSED, ERR_LOAD: it or its engine is gone
 */
export let addressOf;

/** What lives in an engine's memory until it is disposed of. */
export class Owned {
  #engine;
  #pointer;
  #destroy;

  static {
    addressOf = (owned, what, remedy = 'create another') => {
      if (owned.#pointer === 0 || owned.#engine.disposed) {
        throw owned.#engine.gone(what ?? classOf(owned), remedy);
      }
      return owned.#pointer;
    };
  }

  /**
   * @internal
   * @param {Engine} engine
   * @param {number} [pointer] its address; left out: all that it has there are other owned objects
   * @param {Destroy} [destroy]
   */
  constructor(engine, pointer, destroy) {
    this.#engine = engine;
    this.#pointer = /** @type {number} */ (pointer);
    this.#destroy = destroy;
    finalizers.register(this, () => free(engine, destroy, pointer), this);
  }

  /** Frees its memory; what it returned stays valid. Calls after this throw ERR_DISPOSED. */
  dispose() {
    finalizers.unregister(this);
    free(this.#engine, this.#destroy, this.#pointer);
    this.#pointer = 0;
  }

  /** `dispose`, for `using`. */
  [disposeSymbol]() {
    this.dispose();
  }
}

/** Makes an object's engine fixed, and unseen by loops over properties. @param {{ engine: Engine }} object */
export const hideEngine = (object) =>
  Object.defineProperty(object, 'engine', {
    ...{ enumerable: false, writable: false, configurable: false },
  });
