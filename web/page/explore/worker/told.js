/** Long work that is told of while it is under way. */

/** Between two reports. */
const TELL_MS = 100;

/** @param {number} ms @returns {Promise<false>} */
const wait = (ms) => new Promise((resolve) => setTimeout(() => resolve(false), ms));

/**
 * @template T
 * @param {(signal: AbortSignal) => Promise<unknown>} work
 * @param {() => T} known what is known by now
 * @param {() => Promise<void>} check called before each report; if it rejects, the work ends
 * @returns {AsyncGenerator<T, void, void>} what is known, and in the end all
 */
export async function* told(work, known, check) {
  const stop = new AbortController();
  const over = work(stop.signal).then(() => true);
  try {
    while (!(await Promise.race([over, wait(TELL_MS)]))) {
      await check();
      yield known();
    }
  } finally {
    stop.abort();
    over.catch(() => {}); // told by the race, or of no interest any more
  }
  yield known();
}
