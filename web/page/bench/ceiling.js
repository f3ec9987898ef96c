import { fastestOf } from '../shared/measure.js';

/**
 * @typedef {object} Yardstick
 * @property {() => unknown} run
 * @property {number} amount operations or bytes of one call
 * @property {number} fastest ms of one call, over all that was measured so far
 */

/**
 * @typedef {object} CeilingExports ceiling.c
 * @property {WebAssembly.Memory} memory
 * @property {WebAssembly.Global} __heap_base
 * @property {() => number} loops
 * @property {(loop: number, rounds: number, factor: number) => number} multiply_add
 * @property {(loop: number) => number} operations of a round
 * @property {(address: number, count: number) => number} read
 */

const PAGE = 65536;
const CACHE_LINE = 64;
/** A read's count is a multiple of this. */
const FLOATS_A_STEP = 32;
/** About a millisecond. */
const ROUNDS = 2 ** 19;

/** @param {Yardstick} yardstick operations or bytes a second, times 10⁻⁹ */
const rateOf = ({ amount, fastest }) => amount / fastest / 1e6;

/**
 * The one that does most in its time. Which loop that is depends on the processor.
 * @param {readonly Yardstick[]} yardsticks measured
 */
export const best = (yardsticks) =>
  yardsticks.reduce((one, other) => (rateOf(other) > rateOf(one) ? other : one));

/**
 * What is to be said of a share, besides the number: nothing runs faster than a ceiling that was measured right.
 * @param {number} percent
 * @returns {string | undefined}
 */
export const doubtOf = (percent) =>
  percent > 100
    ? 'more than the ceiling, which was measured too low: measure again with nothing else at work'
    : undefined;

/** The most that one thread of this machine can do, measured with a wasm module of its own. */
export class Ceiling {
  #exports;

  /** @param {CeilingExports} exports */
  constructor(exports) {
    this.#exports = exports;
    /** @type {Yardstick[]} loops of multiplications and additions */
    this.loops = Array.from({ length: exports.loops() }, (_, loop) => ({
      run: () => exports.multiply_add(loop, ROUNDS, 1),
      amount: ROUNDS * exports.operations(loop),
      fastest: Infinity,
    }));
    /** The best of them. */
    this.arithmetic = this.loops[0];
  }

  /**
   * Measures every loop and takes the best.
   * @param {WebAssembly.Module} module ceiling.c, compiled
   * @param {number} seconds for each loop
   */
  static async measure(module, seconds) {
    const { exports } = new WebAssembly.Instance(module);
    const ceiling = new Ceiling(/** @type {CeilingExports} */ (/** @type {unknown} */ (exports)));
    for (const loop of ceiling.loops) loop.fastest = await fastestOf(loop.run, seconds);
    ceiling.arithmetic = best(ceiling.loops);
    return ceiling;
  }

  /**
   * A read of so many bytes, again and again: from the last-level cache if they fit there.
   * @param {number} bytes
   * @returns {Yardstick} until the next call of this
   */
  reading(bytes) {
    const { memory, __heap_base, read } = this.#exports;
    const start = Math.ceil(__heap_base.value / CACHE_LINE) * CACHE_LINE;
    const count = Math.ceil(bytes / 4 / FLOATS_A_STEP) * FLOATS_A_STEP;
    const missing = start + count * 4 - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
    // Memory that was never written is one page of zeros to the system, and never leaves the cache.
    new Float32Array(memory.buffer, start, count).fill(1);
    return { run: () => read(start, count), amount: count * 4, fastest: Infinity };
  }
}

/**
 * @template {string} Simd
 * @param {readonly Simd[]} simds
 * @param {(simd: Simd) => Promise<BufferSource>} read the bytes of ceiling-{simd}.wasm
 * @returns {Promise<{ ceilings: Partial<Record<Simd, WebAssembly.Module>>, missing: Simd[] }>}
 *   missing: those that do not run here
 */
export async function compileCeilings(simds, read) {
  /** @type {Partial<Record<Simd, WebAssembly.Module>>} */
  const ceilings = {};
  /** @type {Simd[]} */
  const missing = [];
  for (const simd of simds) {
    const bytes = await read(simd);
    if (WebAssembly.validate(bytes)) ceilings[simd] = await WebAssembly.compile(bytes);
    else missing.push(simd);
  }
  return { ceilings, missing };
}
