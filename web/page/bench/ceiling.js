/** What src/ceiling.c counts and wants. */
const FLOPS_A_ROUND = 112;
const FLOATS_A_STEP = 32;
const PAGE = 65536;
/** About a millisecond. */
const ROUNDS = 2 ** 19;

/** The most that one thread of this machine can do, measured with a wasm module of its own. */
export class Ceiling {
  #exports;

  /** @param {WebAssembly.Module} module src/ceiling.c, compiled */
  constructor(module) {
    const { exports } = new WebAssembly.Instance(module);
    this.#exports =
      /** @type {{ memory: WebAssembly.Memory, __heap_base: WebAssembly.Global, multiply_add(rounds: number, factor: number): number, read(address: number, count: number): number }} */ (
        /** @type {unknown} */ (exports)
      );
  }

  /** @returns {{ run: () => number, flops: number }} multiply-adds in registers */
  arithmetic() {
    return {
      run: () => this.#exports.multiply_add(ROUNDS, 0.5),
      flops: ROUNDS * FLOPS_A_ROUND,
    };
  }

  /**
   * @param {number} bytes
   * @returns {{ run: () => number, bytes: number }} a read of so many bytes, again and again
   */
  reading(bytes) {
    const { memory, __heap_base } = this.#exports;
    const start = Math.ceil(__heap_base.value / 64) * 64;
    const count = Math.ceil(bytes / 4 / FLOATS_A_STEP) * FLOATS_A_STEP;
    const missing = start + count * 4 - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
    // A page that was never written is one page of zeros, read from the cache.
    new Float32Array(memory.buffer, start, count).fill(1);
    return { run: () => this.#exports.read(start, count), bytes: count * 4 };
  }
}
