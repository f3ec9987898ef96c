import { describe } from '../checks/describe.js';
import { isArray, isObject } from '../checks/foreign.js';

/**
 * How large a JSON text may be. A text with more is no header, config or tokenizer, and would take minutes and gigabytes.
 * @typedef {object} Bounds
 * @property {number} [depth] of arrays and objects in one another; default 64
 * @property {number} [values] how many values there may be; default 2^19
 * @property {number} [member] most characters of a member of the outermost object; default: any
 * @property {string} [freeMember] the key of a member that may have more
 */

/** @typedef {(problem: string, cause?: unknown) => Error} MakeError makes what is thrown */

/** @param {string} sign */
const codeOf = (sign) => sign.charCodeAt(0);

const quote = codeOf('"');
const backslash = codeOf('\\');
const colon = codeOf(':');
const comma = codeOf(',');
const openArray = codeOf('[');
const closeArray = codeOf(']');
const openObject = codeOf('{');
const closeObject = codeOf('}');

/**
 * @param {string} text
 * @param {number} start of a string in it
 * @returns {number} where the string has ended; beyond the text if it does not
 */
function endOfString(text, start) {
  let at = start + 1;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      return at + 1;
    }
    if (code === backslash) {
      at++;
    }
  }
  return at;
}

/**
 * Refuses a text beyond the bounds before anything is made of it. It may be no JSON at all.
 * @param {string} text
 * @param {MakeError} error
 * @param {Bounds} bounds
 */
function checkBounds(text, error, { depth = 64, values = 2 ** 19, member = Infinity, freeMember }) {
  let deep = 0;
  let count = 1;
  let memberStart = Infinity;
  let isFree = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = endOfString(text, at);
      isFree ||= deep === 1 && text.slice(at + 1, end - 1) === freeMember;
      at = end - 1;
    } else if (code === openArray || code === openObject) {
      deep++;
      count++;
    } else if (code === closeArray || code === closeObject) {
      deep--;
    } else if (code === comma) {
      count++;
    }
    if (at - memberStart > member && !isFree) {
      const beginning = describe(text.slice(memberStart, memberStart + 41));
      throw error(`has a member of more than ${member} characters, ${beginning}; expected fewer`);
    }
    if (deep <= 1 && (code === openObject || code === comma)) {
      memberStart = at + 1;
      isFree = false;
    }
    if (deep > depth) {
      throw error(`is nested more than ${depth} levels deep; expected fewer`);
    }
    if (count > values) {
      throw error(`has more than ${values} values; expected fewer`);
    }
  }
}

/**
 * @param {string} text JSON that parses
 * @param {number} start of a string in it
 * @returns {string}
 */
function stringAt(text, start) {
  const string = text.slice(start, endOfString(text, start));
  return string.includes('\\') ? JSON.parse(string) : string.slice(1, -1);
}

/**
 * A key that one object of a JSON text has twice: JSON.parse keeps the last and says nothing.
 * @param {string} text JSON that parses
 * @returns {string | undefined}
 */
function repeatedKey(text) {
  /** Keys of the objects around this place. @type {Set<string>[]} */
  const open = [];
  let string = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === openObject) {
      open.push(new Set());
    } else if (code === closeObject) {
      open.pop();
    } else if (code === quote) {
      string = at;
      at = endOfString(text, at) - 1;
    } else if (code === colon) {
      // Outside strings it follows a key.
      const key = stringAt(text, string);
      const keys = /** @type {Set<string>} */ (open.at(-1));
      if (keys.has(key)) {
        return key;
      }
      keys.add(key);
    }
  }
  return undefined;
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
export const isRecord = (value) => isObject(value) && !isArray(value);

/**
 * What a JSON text of anybody's holds, if it is of a size that such files have.
 * @param {string} text
 * @param {MakeError} error
 * @param {Bounds} [bounds]
 * @returns {unknown}
 */
export function parseJson(text, error, bounds = {}) {
  checkBounds(text, error, bounds);
  try {
    return JSON.parse(text);
  } catch (cause) {
    // Some runtimes quote all that they could not read.
    const why = /** @type {Error} */ (cause).message.slice(0, 200);
    throw error(`cannot be parsed (${why}); expected JSON`, cause);
  }
}

/**
 * The object that a JSON text holds, with every key once.
 * @param {string} text
 * @param {MakeError} error
 * @param {Bounds} [bounds]
 */
export function parseObject(text, error, bounds) {
  const value = parseJson(text, error, bounds);
  if (!isRecord(value)) {
    throw error(`is ${describe(value)}; expected an object`);
  }
  const key = repeatedKey(text);
  if (key !== undefined) {
    throw error(`has the key ${describe(key)} twice; expected every key once`);
  }
  return value;
}
