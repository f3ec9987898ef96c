import { HeadwiseError } from './error.js';

// What a caller hands over can run the caller's code when it is read: getters, Proxies. So a call reads everything once, before it
// computes anything, and works on what is read here, which the caller cannot change.

const typedArray = Object.getPrototypeOf(Float32Array.prototype);

/** @param {PropertyKey} name @param {object} [of] */
const getterOf = (name, of = typedArray) =>
  /** @type {() => any} */ (Object.getOwnPropertyDescriptor(of, name)?.get);

const readKind = getterOf(Symbol.toStringTag);
const readLength = getterOf('length');
const readBytes = getterOf('byteLength', ArrayBuffer.prototype);

/**
 * The kind of a typed array, whatever its own properties say.
 * @param {unknown} value
 * @returns {string | undefined} such as 'Float32Array'; undefined: not a typed array, or a Proxy of one
 */
export const kindOf = (value) => readKind.call(value);

/**
 * How many elements a typed array has now: none once its buffer was transferred or has shrunk.
 * @param {ArrayBufferView} array
 * @returns {number}
 */
export const lengthOf = (array) => readLength.call(array);

/**
 * The bytes of a buffer or a view, whatever the view's own properties say.
 * @param {ArrayBuffer | ArrayBufferView} source
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function bytesOf(source) {
  if (!ArrayBuffer.isView(source)) {
    return new Uint8Array(source);
  }
  const of = kindOf(source) === undefined ? DataView.prototype : typedArray;
  const [buffer, start, length] = ['buffer', 'byteOffset', 'byteLength'].map((name) =>
    getterOf(name, of).call(source),
  );
  return new Uint8Array(buffer, start, length);
}

/**
 * The caller's code may have run since an array was read.
 * @param {ArrayBufferView} array
 * @param {number} size elements that it had
 * @throws {HeadwiseError} ERR_SHAPE
 */
export function checkUnchanged(array, size) {
  const length = lengthOf(array);
  if (length !== size) {
    throw new HeadwiseError(
      'ERR_SHAPE',
      `an array of ${size} elements has ${length} now; expected it not to change during the call`,
    );
  }
}

/**
 * `instanceof` that does not throw.
 * @template T
 * @param {unknown} value
 * @param {abstract new (...values: any[]) => T} Class
 * @returns {value is T}
 */
export function isA(value, Class) {
  try {
    return value instanceof Class;
  } catch {
    return false;
  }
}

/**
 * What an object says that it is: 'URL', 'Blob', 'Tensor'. Unlike `instanceof`, this knows objects of other realms: of an
 * iframe, of Node inside jsdom, of another copy of this package.
 * @param {any} value
 * @returns {unknown} undefined: nothing, or it cannot be read
 */
export function tagOf(value) {
  try {
    return value?.[Symbol.toStringTag];
  } catch {
    return undefined;
  }
}

/** @param {unknown} value @returns {value is object} */
export const isObject = (value) => typeof value === 'object' && value !== null;

/**
 * Whether an object has properties alone, as literals and parsed JSON of any realm.
 * @param {unknown} value
 * @returns {value is Record<string, any>}
 * @throws what a Proxy throws
 */
export function isPlain(value) {
  if (!isObject(value)) {
    return false;
  }
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Of the platform's classes a property that their objects alone have, and its type. */
const ownProperty = /** @type {const} */ ({
  ...{ AbortSignal: ['aborted', 'boolean'], ReadableStream: ['locked', 'boolean'] },
  ...{ Blob: ['size', 'number'], File: ['size', 'number'] },
  ...{ Response: ['ok', 'boolean'], URL: ['href', 'string'] },
});

/**
 * Whether it is an object of one of the platform's classes, and not only one that inherits from it.
 * @template {keyof typeof ownProperty} Name
 * @param {any} value
 * @param {...Name} names
 * @returns {value is InstanceType<(typeof globalThis)[Name]>}
 */
export function isOf(value, ...names) {
  const tag = tagOf(value);
  // happy-dom's classes have no tag.
  const name = names.find(
    (one) => one === tag || (!tag && isA(value, /** @type {any} */ (globalThis)[one])),
  );
  try {
    return name !== undefined && typeof value[ownProperty[name][0]] === ownProperty[name][1];
  } catch {
    return false;
  }
}

/** @param {unknown} value @returns {value is URL | string} */
export const isAddress = (value) => typeof value === 'string' || isOf(value, 'URL');

/**
 * Whether it is a WebAssembly.Module.
 * @param {unknown} value
 */
export function isModule(value) {
  try {
    WebAssembly.Module.imports(/** @type {any} */ (value));
    return true;
  } catch {
    return false;
  }
}

/** @param {unknown} value @returns {value is ArrayBuffer | ArrayBufferView} */
export function isBytes(value) {
  try {
    return ArrayBuffer.isView(value) || typeof readBytes.call(value) === 'number';
  } catch {
    return false;
  }
}

/**
 * `Array.isArray` that does not throw.
 * @param {unknown} value
 * @returns {value is unknown[]}
 */
export function isArray(value) {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * A copy of an array.
 * @param {unknown} value
 * @param {number} most entries
 * @returns {any[] | undefined} undefined: not an array, of more entries, or it cannot be read
 */
export function copyArray(value, most) {
  try {
    const length = Array.isArray(value) ? value.length : Infinity;
    if (!(length <= most)) {
      return undefined;
    }
    const copy = [];
    for (let i = 0; i < length; i++) {
      copy.push(/** @type {any[]} */ (value)[i]);
    }
    return copy;
  } catch {
    return undefined;
  }
}

/**
 * A copy of a plain or typed array, of numbers if it is typed.
 * @param {any} value
 * @param {number} [most] entries
 * @returns {any[] | undefined} undefined: it is neither, of more entries, or it cannot be read
 */
export function copyList(value, most = 2 ** 20) {
  if (kindOf(value) === undefined) return copyArray(value, most);
  const length = lengthOf(value);
  return length <= most ? Array.from({ length }, (_, i) => Number(value[i])) : undefined;
}

/**
 * `Object.entries`, once.
 * @param {object} object
 * @param {string} name
 * @returns {[string, unknown][]}
 * @throws {HeadwiseError} ERR_VALUE: it cannot be read
 */
export function entriesOf(object, name) {
  return reading(() => Object.entries(object), name, 'an object');
}

/**
 * Reads what may run the caller's code, which may throw.
 * @template T
 * @param {() => T} read
 * @param {string} name
 * @param {string} expected
 * @returns {T}
 * @throws {HeadwiseError} ERR_VALUE: it cannot be read
 */
export function reading(read, name, expected) {
  try {
    return read();
  } catch (cause) {
    throw unreadable(cause, name, expected);
  }
}

/**
 * What to throw if the caller's code has thrown.
 * @param {unknown} cause
 * @param {string} name
 * @param {string} expected
 */
export function unreadable(cause, name, expected) {
  return isA(cause, HeadwiseError)
    ? cause
    : new HeadwiseError('ERR_VALUE', `${name} cannot be read; expected ${expected}`, { cause });
}
