/** Numbers as people read them. */

const whole = new Intl.NumberFormat('en');

/** @param {number} value */
export const formatCount = (value) => whole.format(value);

/**
 * @param {number} count
 * @param {string} noun in the singular
 */
export const plural = (count, noun) => `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;

/**
 * Four decimals, as the notebooks print; a real minus sign.
 *
 * @param {number} value
 */
export const formatNumber = (value) =>
  (Number.isFinite(value) ? value.toFixed(4) : String(value).replace('Infinity', '∞')).replace(
    '-',
    '\u2212',
  );

/**
 * A weight between 0 and 1, or a difference that may be tiny.
 *
 * @param {number} value
 */
export function formatWeight(value) {
  if (value === 0) return '0';
  if (!Number.isFinite(value) || value >= 5e-4) {
    return formatNumber(value);
  }
  return value.toExponential(1).replace('-', '\u2212');
}

/** @param {number} ms */
export function formatTime(ms) {
  if (ms < 1) return `${(ms * 1000).toPrecision(3)} µs`;
  return ms < 1000 ? `${ms.toPrecision(3)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

/** @param {number} bytes */
export function formatBytes(bytes) {
  if (bytes < 1024) return `${formatCount(bytes)} B`;
  if (bytes < 1024 ** 2) return `${(bytes / 1024).toFixed(1)} KiB`;
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
