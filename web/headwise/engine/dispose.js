/// <reference lib="esnext.disposable" preserve="true" />

/**
 * `using` of TypeScript and of runtimes that have it; the others find it by the registered name, as compilers do.
 * @type {typeof Symbol.dispose}
 */
export const disposeSymbol = Symbol.dispose ?? Symbol.for('Symbol.dispose');

/**
 * For those who forget to dispose: calls `free` some time after its object cannot be reached any more.
 * @type {FinalizationRegistry<() => void>}
 */
export const finalizers = new FinalizationRegistry((free) => free());

/**
 * An array that shows the garbage collector how much an object holds outside its heap: small objects alone do not make it run.
 * Nobody touches it, so that it takes no memory.
 * @param {number} bytes
 */
export function pressCollector(bytes) {
  try {
    return new ArrayBuffer(bytes);
  } catch {
    return undefined; // The engine says what it has no room for.
  }
}
