/** Signals: values that know who reads them. */

import { computed } from '@preact/signals-core';

export { batch, computed, effect, signal, untracked } from '@preact/signals-core';

/** @template T @typedef {import('@preact/signals-core').Signal<T>} Signal */
/** @template T @typedef {import('@preact/signals-core').ReadonlySignal<T>} ReadonlySignal */

/** @param {ReadonlySignal<boolean>} wanted @returns {Promise<void>} when it is true */
export async function when(wanted) {
  if (wanted.peek()) return;
  await new Promise((/** @type {(value?: undefined) => void} */ resolve) => {
    const end = wanted.subscribe((isNow) => {
      if (!isNow) return;
      end();
      resolve();
    });
  });
}

/** @param {any} a @param {any} b whether all parts of one are the other's */
function isSame(a, b) {
  const keys = Object.keys(b ?? {});
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return Object.is(a, b);
  return keys.length === Object.keys(a).length && keys.every((key) => Object.is(a[key], b[key]));
}

/**
 * What is computed from signals, and stays the same object while its parts do: who reads it hears of nothing else.
 *
 * @template T
 * @param {() => T} compute
 * @returns {ReadonlySignal<T>}
 */
export function derived(compute) {
  /** @type {T} */
  let last;
  return computed(() => {
    const next = compute();
    if (!isSame(last, next)) last = next;
    return last;
  });
}
