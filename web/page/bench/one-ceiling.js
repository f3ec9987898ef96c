/**
 * @import { Result } from './bench.js'
 */

/** What is measured against the same ceiling; reading is faster where less is read. @param {Result} result */
const kindOf = ({ simd, shape, timing }) =>
  timing?.unit === 'GB/s' ? `${simd} ${shape}` : `${simd} arithmetic`;

/**
 * A machine that gets faster while a run goes on raises the ceiling: of all results it is the highest that was measured.
 *
 * @param {readonly Result[]} results of one run
 * @returns {Result[]} with the run's ceiling, and the shares of it
 */
export function againstOneCeiling(results) {
  /** @type {Map<string, number>} of one thread */
  const highest = new Map();
  for (const result of results) {
    const { timing, threads } = result;
    if (!timing) continue;
    const kind = kindOf(result);
    highest.set(kind, Math.max(highest.get(kind) ?? 0, timing.ceiling / threads));
  }
  return results.map((result) => {
    const { timing, threads } = result;
    if (!timing) return result;
    const ceiling = /** @type {number} */ (highest.get(kindOf(result))) * threads;
    return { ...result, timing: { ...timing, ceiling, percent: (100 * timing.rate) / ceiling } };
  });
}
