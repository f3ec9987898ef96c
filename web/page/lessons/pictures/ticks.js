/**
 * Round numbers that cover a range.
 *
 * @param {number} low
 * @param {number} high
 */
export function ticksOf(low, high, count = 5) {
  if (low === high) return [low - 1, low, low + 1];
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(high / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(6)),
  );
}
