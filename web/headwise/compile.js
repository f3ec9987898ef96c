import { describe } from './describe.js';
import { HeadwiseError } from './error.js';
import { importNode, isNode } from './node.js';

/** @typedef {URL | string | Response | BufferSource | WebAssembly.Module} WasmSource */

/** @type {(source: string, problem: string, cause?: unknown) => HeadwiseError} */
const loadError = (source, problem, cause) =>
  new HeadwiseError('ERR_LOAD', `${source}: ${problem}`, { cause });

/**
 * @param {Response} response
 * @param {string} source
 * @returns {Promise<BufferSource>}
 */
export async function bytesOfResponse(response, source) {
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
  const { readFile } = await importNode('fs/promises');
  return checkMagic(new Uint8Array(await readFile(url)), url.href, 'a file');
}

/**
 * @param {URL | string} address as seen from the page or Worker
 * @throws {TypeError} it is none
 */
export const resolve = (address) =>
  new URL(address, globalThis.document?.baseURI ?? globalThis.location?.href ?? import.meta.url);

/**
 * @param {URL | string} address
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<BufferSource>}
 */
async function bytesOfAddress(address, signal) {
  try {
    const url = resolve(address);
    if (url.protocol === 'file:' && isNode) {
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
 * @param {WasmSource} wasm
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<WebAssembly.Module>}
 */
export async function compile(wasm, signal) {
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
