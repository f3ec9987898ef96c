import { orAbort } from '../checks/abort.js';
import { describe } from '../checks/describe.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { answerOf, checkUnread, discard } from '../checks/response.js';
import { bundlerHint } from './hints.js';
import { bytesOf, isAddress, isBytes, isModule, isOf, reading } from '../checks/foreign.js';
import { importNode, isNode } from './node.js';
import { resolve } from './resolve.js';

/** @typedef {URL | string | Response | BufferSource | WebAssembly.Module} WasmSource */

/** @type {(source: string, problem: string, cause?: unknown, expected?: string) => HeadwiseError} */
const loadError = (source, problem, cause, expected = `a wasm module${bundlerHint(source)}`) =>
  new HeadwiseError('ERR_LOAD', `${source}: ${problem}; expected ${expected}`, { cause });

/** @param {Response} response @param {string} source @returns {Promise<BufferSource>} */
async function bytesOfResponse(response, source) {
  if (!response.ok) {
    discard(response);
    throw loadError(source, answerOf(response));
  }
  checkUnread(response, source);
  const bytes = new Uint8Array(await response.arrayBuffer());
  return checkMagic(bytes, source, response.headers.get('content-type') ?? 'no content type');
}

/** @param {Uint8Array<ArrayBuffer>} bytes @param {string} source @param {string} type */
function checkMagic(bytes, source, type) {
  if (bytes[0] !== 0 || bytes[1] !== 97 || bytes[2] !== 115 || bytes[3] !== 109) {
    const start = new TextDecoder().decode(bytes.subarray(0, 24));
    throw loadError(
      source,
      `arrived as ${type}, ${bytes.length} bytes that begin with ${describe(start)}`,
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
 * @param {URL | string} address
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<BufferSource>}
 */
async function bytesOfAddress(address, signal) {
  const url = await resolve(address);
  return url.protocol === 'file:' && isNode
    ? readFileUrl(url)
    : bytesOfResponse(await fetch(url, { signal }), url.href);
}

/**
 * @param {Promise<BufferSource>} bytes
 * @param {string} source
 * @param {AbortSignal | undefined} signal
 */
async function arrived(bytes, source, signal) {
  try {
    return await orAbort(bytes, signal);
  } catch (cause) {
    if (cause instanceof HeadwiseError || signal?.aborted) {
      throw cause;
    }
    throw loadError(source, `could not be read (${/** @type {Error} */ (cause).message})`, cause);
  }
}

const expectedWasm = 'a URL, string, Response, BufferSource or WebAssembly.Module';

/**
 * @param {WasmSource} wasm
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<WebAssembly.Module>}
 */
export async function compile(wasm, signal) {
  if (isModule(wasm)) {
    return /** @type {WebAssembly.Module} */ (wasm);
  }
  let source = 'wasm';
  /** @type {BufferSource} */
  let bytes;
  if (isBytes(wasm)) {
    const given = reading(() => bytesOf(wasm), source, expectedWasm);
    bytes = checkMagic(given, source, 'bytes');
  } else if (isAddress(wasm)) {
    source = reading(() => String(wasm), source, expectedWasm);
    bytes = await arrived(bytesOfAddress(source, signal), source, signal);
  } else if (isOf(wasm, 'Response')) {
    source = reading(() => wasm.url, source, expectedWasm) || 'wasm (a Response)';
    bytes = await arrived(bytesOfResponse(wasm, source), source, signal);
  } else {
    throw misfit(wasm, 'wasm', expectedWasm);
  }
  try {
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    const { message } = /** @type {Error} */ (cause);
    const expected = message.includes('disallowed')
      ? 'a compiled module, as load({ wasm }) takes it: this runtime compiles none itself'
      : /Content Security|CSP/.test(message)
        ? "a policy with script-src 'wasm-unsafe-eval'"
        : "Headwise's module and a runtime with SIMD";
    throw loadError(source, `does not compile here (${message})`, cause, expected);
  }
}
