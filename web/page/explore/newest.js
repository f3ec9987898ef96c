/**
 * Work of which only the newest asked for matters: one at a time, and what was asked for meanwhile, if it was replaced,
 * is never begun.
 *
 * @template {unknown[]} Args
 * @param {(...args: Args) => Promise<void>} work
 * @param {(error: unknown) => void} fail
 * @returns {(...args: Args) => Promise<void>} when nothing is left to do
 */
export function newest(work, fail) {
  /** @type {Args | undefined} */
  let next;
  /** @type {Promise<void> | undefined} */
  let running;
  const run = async () => {
    while (next) {
      const now = next;
      next = undefined;
      try {
        await work(...now);
      } catch (error) {
        fail(error);
      }
    }
    running = undefined;
  };
  return (...args) => {
    next = args;
    running ??= run();
    return running;
  };
}
