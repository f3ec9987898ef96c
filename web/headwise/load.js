import { checkOptions } from './check.js';
import { describe } from './describe.js';
import { Engine } from './engine.js';
import { HeadwiseError } from './error.js';
import { Headwise } from './headwise.js';

/**
 * @typedef {object} LoadOptions
 * @property {URL | string | Response | BufferSource | WebAssembly.Module} [wasm] where the module comes from; default: the
 *   package's own files
 * @property {'auto' | 'relaxed' | 'simd128'} [simd] default 'auto': relaxed SIMD where the runtime has it
 * @property {number | 'auto'} [threads] default 1
 * @property {AbortSignal} [signal] ends a download
 */

/** (module (func (param v128 v128 v128) (result v128) local.get 0 1 2 f32x4.relaxed_madd)) */
const relaxedProbe = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 123, 123, 123, 1, 123, 3, 2, 1, 0],
  ...[10, 13, 1, 11, 0, 32, 0, 32, 1, 32, 2, 253, 133, 2, 11],
);

/** @type {(source: string, problem: string, cause?: unknown) => HeadwiseError} */
const loadError = (source, problem, cause) =>
  new HeadwiseError('ERR_LOAD', `${source}: ${problem}`, { cause });

/**
 * @param {'auto' | 'relaxed' | 'simd128'} simd
 * @returns {URL}
 */
function packagedModule(simd) {
  const hasRelaxed = WebAssembly.validate(relaxedProbe);
  if (simd === 'relaxed' && !hasRelaxed) {
    throw new HeadwiseError(
      'ERR_LOAD',
      "simd is 'relaxed', but this runtime has no relaxed SIMD; expected 'auto' or 'simd128'",
    );
  }
  return simd === 'simd128' || !hasRelaxed
    ? new URL('./wasm/headwise-simd128.wasm', import.meta.url)
    : new URL('./wasm/headwise-relaxed.wasm', import.meta.url);
}

/**
 * @param {Response} response
 * @param {string} source
 * @returns {Promise<BufferSource>}
 */
async function bytesOfResponse(response, source) {
  if (!response.ok) {
    throw loadError(
      source,
      `the server answered ${response.status} ${response.statusText}; expected a wasm module`.replace(
        ' ;',
        ';',
      ),
    );
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  return checkMagic(bytes, source, response.headers.get('content-type') ?? 'no content type');
}

/**
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {string} source
 * @param {string} type
 */
function checkMagic(bytes, source, type) {
  if (bytes[0] !== 0 || bytes[1] !== 97 || bytes[2] !== 115 || bytes[3] !== 109) {
    const start = new TextDecoder().decode(bytes.subarray(0, 24));
    throw loadError(
      source,
      `arrived as ${type}, ${bytes.length} bytes that begin with ${describe(start)}; expected a wasm module`,
    );
  }
  return bytes;
}

/**
 * Node's fetch does not read files.
 * @param {URL} url
 * @returns {Promise<BufferSource>}
 */
async function readFileUrl(url) {
  /* A name that no bundler follows: browsers never get here. */
  const fileSystem = ['node', 'fs/promises'].join(':');
  const { readFile } = await import(/* @vite-ignore */ /* webpackIgnore: true */ fileSystem);
  return checkMagic(new Uint8Array(await readFile(url)), url.href, 'a file');
}

/**
 * @param {URL | string} address
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<BufferSource>}
 */
async function bytesOfAddress(address, signal) {
  const base = globalThis.document?.baseURI ?? globalThis.location?.href ?? import.meta.url;
  try {
    const url = new URL(address, base);
    if (url.protocol === 'file:' && typeof globalThis.process === 'object') {
      return await readFileUrl(url);
    }
    return await bytesOfResponse(await fetch(url, { signal }), url.href);
  } catch (cause) {
    if (cause instanceof HeadwiseError || signal?.aborted) {
      throw cause;
    }
    throw loadError(
      String(address),
      `could not be read (${/** @type {Error} */ (cause).message}); expected a wasm module`,
      cause,
    );
  }
}

/**
 * @param {LoadOptions['wasm'] & {}} wasm
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<WebAssembly.Module>}
 */
async function compile(wasm, signal) {
  if (wasm instanceof WebAssembly.Module) {
    return wasm;
  }
  const isBytes = wasm instanceof ArrayBuffer || ArrayBuffer.isView(wasm);
  let source = 'wasm';
  /** @type {BufferSource} */
  let bytes;
  if (isBytes) {
    const view = ArrayBuffer.isView(wasm)
      ? new Uint8Array(wasm.buffer, wasm.byteOffset, wasm.byteLength)
      : new Uint8Array(wasm);
    bytes = checkMagic(/** @type {Uint8Array<ArrayBuffer>} */ (view), source, 'bytes');
  } else if (typeof wasm === 'string' || wasm instanceof URL) {
    source = String(wasm);
    bytes = await bytesOfAddress(wasm, signal);
    // Last: to name Response takes Node 20 ms.
  } else if (wasm instanceof Response) {
    source = wasm.url || 'wasm (a Response)';
    bytes = await bytesOfResponse(wasm, source);
  } else {
    throw new HeadwiseError(
      'ERR_VALUE',
      `wasm is ${describe(wasm)}; expected a URL, string, Response, BufferSource or WebAssembly.Module`,
    );
  }
  try {
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    throw loadError(
      source,
      `does not compile here (${/** @type {Error} */ (cause).message}); expected Headwise's module and a runtime with SIMD`,
      cause,
    );
  }
}

/**
 * @param {unknown} threads
 * @returns {string} why the engine has one thread
 */
function threadsReason(threads) {
  if (
    threads !== 'auto' &&
    !(typeof threads === 'number' && Number.isInteger(threads) && threads >= 1)
  ) {
    throw new HeadwiseError(
      'ERR_VALUE',
      `threads is ${describe(threads)}; expected 'auto' or an integer of at least 1`,
    );
  }
  return threads === 1 ? 'one thread was asked for' : 'this version computes on one thread';
}

/**
 * Starts an engine. May be called many times, and again after a failure; every engine has its own memory.
 *
 * @param {LoadOptions} [options]
 * @returns {Promise<Headwise>}
 * @throws {HeadwiseError} ERR_LOAD: the module is not to be had, is something else, or does not run here; ERR_VALUE: a bad
 *   option; ERR_MEMORY: no memory for it. An abort rejects with the signal's reason.
 */
export async function load(options) {
  const {
    wasm,
    simd = 'auto',
    threads = 1,
    signal,
  } = checkOptions(options, ['wasm', 'simd', 'threads', 'signal'], 'load');
  if (!['auto', 'relaxed', 'simd128'].includes(simd)) {
    throw new HeadwiseError(
      'ERR_VALUE',
      `simd is ${describe(simd)}; expected 'auto', 'relaxed' or 'simd128'`,
    );
  }
  const reason = threadsReason(threads);
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new HeadwiseError('ERR_VALUE', `signal is ${describe(signal)}; expected an AbortSignal`);
  }
  signal?.throwIfAborted();
  const module = await compile(wasm ?? packagedModule(simd), signal);
  signal?.throwIfAborted();
  return new Headwise(await Engine.start(module), reason);
}
