/** Of strings, names and arrays no more is shown. */
const longestText = 40;
const longestArray = 8;

/** @param {string} text */
const shorten = (text) => (text.length > longestText ? `${text.slice(0, longestText)}…` : text);

/**
 * The name of a value's class; 'object' if it has none that is text.
 * @param {any} value
 * @returns {string}
 */
export function classOf(value) {
  try {
    const name = value.constructor?.name;
    return typeof name === 'string' && name !== '' ? shorten(name) : 'object';
  } catch {
    return 'object';
  }
}

/**
 * Gives a class the name that messages tell: a bundler may have shortened its own.
 * @param {object} Class
 * @param {string} name
 */
export const nameClass = (Class, name) => Object.defineProperty(Class, 'name', { value: name });

/** @param {readonly unknown[]} array @param {number} depth */
function showArray(array, depth) {
  const { length } = array;
  const shown = [];
  for (let i = 0; i < Math.min(length, longestArray); i++) {
    shown.push(Array.isArray(array[i]) ? '[…]' : show(array[i], depth + 1));
  }
  return `[${shown.join(', ')}${length > longestArray ? ', …' : ''}]`;
}

/** @param {object} object @param {number} depth */
function showObject(object, depth) {
  const { shape, length } = /** @type {{ shape?: unknown, length?: unknown }} */ (object);
  const name = classOf(object);
  // Shapes may hold objects that have shapes, and so on.
  const of =
    Array.isArray(shape) && depth < 2
      ? `shape ${showArray(shape, depth + 1)}`
      : ArrayBuffer.isView(object) && typeof length === 'number' && `length ${length}`;
  return of
    ? `${/^(?!Ui)[AEIOU]/.test(name) ? 'an' : 'a'} ${name} of ${of}`
    : `a value of type ${name}`;
}

/** @param {unknown} value @param {number} depth @returns {string} */
function show(value, depth) {
  if (typeof value === 'string') {
    return JSON.stringify(shorten(value));
  }
  if (Array.isArray(value)) {
    return showArray(value, depth);
  }
  if (typeof value === 'function') {
    return `a function`;
  }
  if (typeof value === 'bigint') {
    // The digits of a long one take long.
    return BigInt.asIntN(128, value) === value ? `${value}n` : 'a bigint beyond 128 bits';
  }
  return typeof value === 'object' && value !== null
    ? showObject(value, depth)
    : shorten(String(value));
}

/**
 * A value as an error message shows it: short, in bounded time, and never throwing itself.
 * @param {unknown} value
 * @returns {string}
 */
export function describe(value) {
  try {
    return show(value, 0);
  } catch {
    return 'a value that cannot be read';
  }
}
