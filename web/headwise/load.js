import { checkOptions } from './check.js';
import { describe } from './describe.js';
import { Engine } from './engine.js';
import { HeadwiseError } from './error.js';
import { Headwise } from './headwise.js';
import { importNode, isNode } from './node.js';
import { Crew, sharedMemory, wantedThreads, whyOneThread } from './threads.js';

/**
 * @typedef {object} LoadOptions
 * @property {URL | string | Response | BufferSource | WebAssembly.Module} [wasm] where the module comes from; default: the
 *   package's own files
 * @property {'auto' | 'relaxed' | 'simd128'} [simd] default 'auto': relaxed SIMD where the runtime has it
 * @property {number | 'auto'} [threads] default 1; 'auto': as many as the machine has cores, at most 8. Several need
 *   SharedArrayBuffer (in pages: cross-origin isolation), Workers and, where `wasm` is given, a module for threads;
 *   otherwise the engine has one, and `info.threadsReason` says why. Its Workers sleep when idle and end with `dispose`
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
 * @returns {{ single: URL, threads: URL }}
 */
function packagedModules(simd) {
  const hasRelaxed = WebAssembly.validate(relaxedProbe);
  if (simd === 'relaxed' && !hasRelaxed) {
    throw new HeadwiseError(
      'ERR_LOAD',
      "simd is 'relaxed', but this runtime has no relaxed SIMD; expected 'auto' or 'simd128'",
    );
  }
  return simd === 'simd128' || !hasRelaxed
    ? {
        single: new URL('./wasm/headwise-simd128.wasm', import.meta.url),
        threads: new URL('./wasm/headwise-simd128-threads.wasm', import.meta.url),
      }
    : {
        single: new URL('./wasm/headwise-relaxed.wasm', import.meta.url),
        threads: new URL('./wasm/headwise-relaxed-threads.wasm', import.meta.url),
      };
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
  const { readFile } = await importNode('fs/promises');
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

/** @type {(module: WebAssembly.Module) => boolean} */
const importsMemory = (module) =>
  WebAssembly.Module.imports(module).some(({ kind }) => kind === 'memory');

/**
 * @param {WebAssembly.Module} module
 * @param {string} reason
 */
async function startSingle(module, reason) {
  const memory = importsMemory(module) ? sharedMemory() : undefined;
  return new Headwise(await Engine.start(module, memory), 1, reason);
}

/**
 * @param {Promise<WebAssembly.Module>} compiling a module for threads
 * @param {number} threads
 * @param {AbortSignal | undefined} signal
 */
async function startThreads(compiling, threads, signal) {
  const starting = Crew.start(threads);
  try {
    const memory = sharedMemory();
    const module = await compiling;
    const engine = await Engine.start(module, memory);
    const crew = await starting;
    await crew.join(module, memory);
    signal?.throwIfAborted();
    if (crew.threads > 1) {
      engine.startTeam(crew);
    }
    return new Headwise(engine, crew.threads, crew.reason);
  } catch (error) {
    (await starting).end();
    throw error;
  }
}

/**
 * @param {LoadOptions['wasm'] & {}} wasm
 * @param {number} threads
 * @param {string} reason why there can be only one; or ''
 * @param {AbortSignal | undefined} signal
 */
async function startGiven(wasm, threads, reason, signal) {
  const module = await compile(wasm, signal);
  signal?.throwIfAborted();
  if (reason === '' && importsMemory(module)) {
    return startThreads(Promise.resolve(module), threads, signal);
  }
  return startSingle(module, reason || 'the wasm that was given is a module for one thread');
}

/**
 * @param {'auto' | 'relaxed' | 'simd128'} simd
 * @param {number} threads
 * @param {string} reason why there can be only one; or ''
 * @param {AbortSignal | undefined} signal
 */
async function startPackaged(simd, threads, reason, signal) {
  const modules = packagedModules(simd);
  let why = reason;
  if (why === '') {
    try {
      return await startThreads(compile(modules.threads, signal), threads, signal);
    } catch (error) {
      if (signal?.aborted || !(error instanceof HeadwiseError)) {
        throw error;
      }
      why = error.message;
    }
  }
  const module = await compile(modules.single, signal);
  signal?.throwIfAborted();
  return startSingle(module, why);
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
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new HeadwiseError('ERR_VALUE', `signal is ${describe(signal)}; expected an AbortSignal`);
  }
  signal?.throwIfAborted();
  const wanted = await wantedThreads(threads);
  const whyOne = threads === 'auto' ? 'this machine has one core' : 'one thread was asked for';
  const reason = wanted === 1 ? whyOne : whyOneThread();
  return wasm === undefined
    ? startPackaged(simd, wanted, reason, signal)
    : startGiven(wasm, wanted, reason, signal);
}
