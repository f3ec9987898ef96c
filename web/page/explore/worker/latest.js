/**
 * Keeps the logits of the place that was asked about last: several questions ask about one.
 *
 * @param {(at: number) => Float32Array} compute
 * @returns {(at: number) => Float32Array}
 */
export function keepingLatest(compute) {
  /** @type {{ at: number, logits: Float32Array } | undefined} */
  let latest;
  return (at) => {
    if (latest?.at !== at) latest = { at, logits: compute(at) };
    return latest.logits;
  };
}
