/** Other texts of the same tokens, from which a head's output is taken. */

/** Texts of 'resample'. */
const SHUFFLES = 4;

/**
 * The text's tokens in other orders, the same at each call. The first stays: many heads rest on it.
 *
 * @param {readonly number[]} ids
 */
export function shuffles([first, ...others]) {
  let state = 1;
  // Park & Miller 1988.
  const below = (/** @type {number} */ n) => (state = (state * 48271) % 2147483647) % n;
  return Array.from({ length: SHUFFLES }, () => {
    const text = [...others];
    for (let i = text.length - 1; i > 0; i--) {
      const j = below(i + 1);
      [text[i], text[j]] = [text[j], text[i]];
    }
    return [first, ...text];
  });
}
