/**
 * What the code of a lesson can reach: it may come with a link, and this Worker has the page's origin. Nothing that is
 * stored, no other Worker and no network is left to it, but the files that the engine and the lessons' model come from.
 *
 * Not what is taken away is listed but what stays: browsers gain new ways to store and to send.
 */

/** What JavaScript itself has, by its names on the global object. */
const LANGUAGE = `
  AggregateError Array ArrayBuffer AsyncDisposableStack AsyncIterator Atomics BigInt BigInt64Array BigUint64Array Boolean
  DataView Date DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity
  Int16Array Int32Array Int8Array InternalError Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError
  ReferenceError Reflect RegExp Set SharedArrayBuffer String SuppressedError Symbol SyntaxError Temporal TypeError URIError
  Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet WebAssembly console decodeURI
  decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN parseFloat parseInt undefined unescape
`;

/** What only computes, waits or tells, and what an engine loads with. */
const PLATFORM = `
  AbortController AbortSignal Blob ByteLengthQueuingStrategy CompressionStream CountQueuingStrategy Crypto CryptoKey
  CustomEvent DOMException DecompressionStream DedicatedWorkerGlobalScope ErrorEvent Event EventTarget File FileReader
  FormData Headers MessageChannel MessageEvent MessagePort Performance PerformanceEntry PerformanceMark PerformanceMeasure
  PromiseRejectionEvent ReadableByteStreamController ReadableStream ReadableStreamBYOBReader ReadableStreamBYOBRequest
  ReadableStreamDefaultController ReadableStreamDefaultReader Request Response SubtleCrypto TextDecoder TextDecoderStream
  TextEncoder TextEncoderStream TransformStream TransformStreamDefaultController URL URLSearchParams WorkerGlobalScope
  WorkerLocation WorkerNavigator WritableStream WritableStreamDefaultController WritableStreamDefaultWriter
  addEventListener atob btoa cancelAnimationFrame clearInterval clearTimeout constructor crossOriginIsolated crypto
  dispatchEvent fetch isSecureContext location name navigator origin performance queueMicrotask removeEventListener
  reportError requestAnimationFrame self setInterval setTimeout structuredClone
`;

/** Of the navigator. */
const NAVIGATOR = `
  appCodeName appName appVersion constructor deviceMemory hardwareConcurrency language languages onLine platform product
  userAgent vendor
`;

/** Files that code may fetch, the engine and weights: by their ends, so that no page of the host is among them. */
const FILES = ['.wasm', '.safetensors'];

/** @param {string} names */
const setOf = (names) => new Set(names.trim().split(/\s+/));

/** @param {unknown} value */
const isReference = (value) =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

/**
 * Removes from an object and from what it inherits all but some properties, so that nothing brings them back.
 *
 * @param {object} object
 * @param {Set<string>} kept
 */
function keepOnly(object, kept) {
  for (let at = object; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) {
      // Handlers of events say what has happened, no more.
      if (kept.has(name) || name.startsWith('on')) continue;
      Reflect.deleteProperty(at, name);
      if (!Object.hasOwn(at, name)) continue;
      // Constants of a browser's own stay: numbers.
      const hasShut = Reflect.defineProperty(at, name, { value: undefined, configurable: false });
      const left = Object.getOwnPropertyDescriptor(at, name);
      if (!hasShut && (!left || !('value' in left) || isReference(left.value))) {
        throw new Error(
          `The lesson could not be isolated from the page: “${name}” cannot be removed.`,
        );
      }
    }
  }
}

/**
 * A fetch of the page's own files. What it uses is taken now: the lesson's code may replace it later.
 *
 * @param {string} base of the page's files
 */
function fetchOf(base) {
  const { Request, TypeError, fetch } = globalThis;
  /** @type {<T extends (...args: any[]) => any>(method: T) => (self: unknown, ...args: Parameters<T>) => ReturnType<T>} */
  const free = (method) => Function.prototype.call.bind(method);
  const getterOf = (/** @type {'url' | 'method'} */ name) =>
    free(Object.getOwnPropertyDescriptor(Request.prototype, name)?.get ?? (() => ''));
  const [urlOf, methodOf] = [getterOf('url'), getterOf('method')];
  const [startsWith, endsWith, includes] = [''.startsWith, ''.endsWith, ''.includes].map(free);
  const [wasm, weights] = FILES;
  return async (/** @type {RequestInfo | URL} */ input, /** @type {RequestInit} */ init) => {
    const request = new Request(input, init);
    const url = urlOf(request);
    const isFile = endsWith(url, wasm) || endsWith(url, weights);
    // A query or a fragment could end so too.
    const isPlain = !includes(url, '?') && !includes(url, '#');
    if (startsWith(url, base) && isFile && isPlain && methodOf(request) === 'GET')
      return fetch(request);
    throw new TypeError(
      `fetch is not available here: lesson code has no network access, and ${url} is not part of the engine`,
    );
  };
}

/**
 * Leaves this Worker what computes, and nothing that stores or sends.
 *
 * @param {string} base of the page's files
 */
export function fence(base) {
  const fetch = fetchOf(base);
  keepOnly(globalThis, setOf(LANGUAGE + PLATFORM));
  keepOnly(navigator, setOf(NAVIGATOR));
  // Wherever the browser's own is: none is to be seen behind this one.
  for (let at = globalThis; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    Reflect.deleteProperty(at, 'fetch');
  }
  Object.defineProperty(globalThis, 'fetch', { value: fetch });
}
