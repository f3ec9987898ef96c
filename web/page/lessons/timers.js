/** Timers of a lesson's code: its run does not wait for them, and its end cuts off those that are left. */

const PAIRS = /** @type {const} */ ([
  ['setTimeout', 'clearTimeout'],
  ['setInterval', 'clearInterval'],
]);

/**
 * Follows the timers that are set from now on.
 *
 * @returns {() => Error[]} for each that is left an error, whose stack tells where it was set
 */
export function watchTimers() {
  /** @type {Map<unknown, Error>} */
  const left = new Map();
  const scope = /** @type {Record<string, (...args: any[]) => any>} */ (
    /** @type {unknown} */ (globalThis)
  );
  for (const [set, clear] of PAIRS) {
    const { [set]: setOne, [clear]: clearOne } = scope;
    scope[set] = (act, ...rest) => {
      if (typeof act !== 'function') return setOne(act, ...rest);
      const id = setOne(
        (/** @type {unknown[]} */ ...values) => {
          if (set === 'setTimeout') left.delete(id);
          Reflect.apply(act, globalThis, values);
        },
        ...rest,
      );
      left.set(id, new Error('set'));
      return id;
    };
    scope[clear] = (id) => {
      left.delete(id);
      clearOne(id);
    };
  }
  return () => [...left.values()];
}
