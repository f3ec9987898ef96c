const MINUS = '\u2212';

/** With so many decimals; a real minus sign, and none of a zero. @param {number} value @param {number} digits */
export const formatFixed = (value, digits) =>
  (Number.isFinite(value) ? value.toFixed(digits) : String(value).replace('Infinity', '∞'))
    .replace(/^-(0(\.0+)?)$/, '$1')
    .replace('-', MINUS);

/** Four decimals, as the notebooks print. @param {number} value */
export const formatNumber = (value) => formatFixed(value, 4);

/**
 * A weight between 0 and 1, or a difference that may be tiny.
 *
 * @param {number} value
 */
export function formatWeight(value) {
  if (value === 0) return '0';
  if (!Number.isFinite(value) || Math.abs(value) >= 5e-4) return formatNumber(value);
  return value.toExponential(1).replaceAll('-', MINUS);
}
