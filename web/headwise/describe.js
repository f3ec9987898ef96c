/**
 * A value as an error message shows it: short, and never throwing itself.
 * @param {unknown} value
 * @returns {string}
 */
export function describe(value) {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  }
  if (Array.isArray(value)) {
    const shown = value
      .slice(0, 8)
      .map((entry) => (Array.isArray(entry) ? '[…]' : describe(entry)));
    return `[${shown.join(', ')}${value.length > 8 ? ', …' : ''}]`;
  }
  if (typeof value === 'function') {
    return `a function`;
  }
  if (typeof value === 'bigint') {
    return `${value}n`;
  }
  if (typeof value === 'object' && value !== null) {
    const shape = /** @type {{ shape?: unknown }} */ (value).shape;
    const name = value.constructor?.name ?? 'object';
    return Array.isArray(shape)
      ? `${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name} of shape ${describe(shape)}`
      : `a value of type ${name}`;
  }
  return String(value);
}
