/**
 * Work of which only the newest asked for matters: one at a time, and what was asked for meanwhile, if it was replaced,
 * is never begun.
 *
 * @template {unknown[]} Args
 * @param {(...args: Args) => Promise<void>} work
 * @param {(error: unknown) => void} fail
 * @returns {(...args: Args) => Promise<void>}
 */
export function newest(work, fail) {
  /** @type {Args | undefined} */
  let next;
  let isBusy = false;
  return async (...args) => {
    next = args;
    if (isBusy) return;
    isBusy = true;
    while (next) {
      const now = next;
      next = undefined;
      try {
        await work(...now);
      } catch (error) {
        fail(error);
      }
    }
    isBusy = false;
  };
}

/**
 * Calls a function once before the next frame, however often it is asked for.
 *
 * @param {() => void} draw
 * @returns {() => void}
 */
export function onceAFrame(draw) {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      draw();
    });
  };
}
