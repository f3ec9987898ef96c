import { describe } from '../describe.js';

/**
 * @param {string} text JSON that parses
 * @param {number} start of a string in it
 * @returns {number} where the string has ended
 */
function endOfString(text, start) {
  let at = start + 1;
  while (text[at] !== '"') {
    at += text[at] === '\\' ? 2 : 1;
  }
  return at + 1;
}

/**
 * A key that one object of a JSON text has twice: JSON.parse keeps the last and says nothing.
 * @param {string} text JSON that parses
 * @returns {string | undefined}
 */
function repeatedKey(text) {
  /** Keys of the objects around this place. @type {Set<string>[]} */
  const open = [];
  const colon = /\s*:/y;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '{') {
      open.push(new Set());
    } else if (text[at] === '}') {
      open.pop();
    } else if (text[at] === '"') {
      const end = endOfString(text, at);
      colon.lastIndex = end;
      if (colon.test(text)) {
        const key = JSON.parse(text.slice(at, end));
        const keys = /** @type {Set<string>} */ (open.at(-1));
        if (keys.has(key)) {
          return key;
        }
        keys.add(key);
      }
      at = end - 1;
    }
  }
  return undefined;
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
export const isObject = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The object that a JSON text holds.
 * @param {string} text
 * @param {(problem: string, cause?: unknown) => Error} error makes what is thrown
 */
export function parseObject(text, error) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw error(
      `cannot be parsed (${/** @type {Error} */ (cause).message}); expected an object`,
      cause,
    );
  }
  if (!isObject(value)) {
    throw error(`is ${describe(value)}; expected an object`);
  }
  const key = repeatedKey(text);
  if (key !== undefined) {
    throw error(`has the key ${describe(key)} twice; expected every key once`);
  }
  return value;
}
