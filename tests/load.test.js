// Starting engines: from where, how often, with which module, and what goes wrong in words.
import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { load } from 'headwise';
import { runNode } from './child.js';
import { data, rejectsCode, throwsCode } from './helpers.js';
import { checkFused, checkWrapper, fusedTable } from './seeds.js';

const folder = new URL('../web/headwise/wasm/', import.meta.url);
const simd128 = new URL('headwise-simd128.wasm', folder);
const relaxed = new URL('headwise-relaxed.wasm', folder);
const bytes = new Uint8Array(await readFile(simd128));
const hasRelaxed = WebAssembly.validate(new Uint8Array(await readFile(relaxed)));
const html = '<!doctype html><title>Not found</title>';

/** @type {import('node:http').Server} */
let server;
let origin = '';

before(async () => {
  server = createServer((request, response) => {
    if (request.url === '/good.wasm') {
      response.setHeader('content-type', 'application/wasm');
      response.end(bytes);
    } else if (request.url === '/untyped.wasm') response.end(bytes);
    else if (request.url === '/page.wasm') {
      response.setHeader('content-type', 'text/html');
      response.end(html);
    } else if (request.url !== '/never.wasm') {
      response.statusCode = 404;
      response.end(html);
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  origin = `http://127.0.0.1:${address.port}`;
});

after(() => {
  server.closeAllConnections();
  server.close();
});

/** @param {Parameters<typeof load>[0]} [options] */
async function works(options) {
  const hw = await load(options);
  checkFused(hw);
  checkWrapper(hw);
  hw.dispose();
}

test('import adds nothing to the global object', async () => {
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
    const names = () => Reflect.ownKeys(globalThis).length;
    const count = names();
    import(workerData).then(() => parentPort.postMessage(names() - count));`,
    { eval: true, workerData: import.meta.resolve('headwise') },
  );
  const added = await new Promise((resolve) => worker.once('message', resolve));
  await worker.terminate();
  assert.equal(added, 0);
});

test('load may be called many times, and its engines are independent', async () => {
  const engines = await Promise.all([load(), load(), load()]);
  engines[0].manualSeed(1);
  engines[1].manualSeed(1);
  const first = [...engines[0].rand([4]).data];
  engines[0].dispose();
  assert.deepEqual([...engines[1].rand([4]).data], first);
  checkFused(engines[2]);
  for (let i = 0; i < 20; i++) (await load()).dispose();
});

test('info says the version, the module, the threads and why', async () => {
  const hw = await load();
  const text = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  assert.equal(hw.info.version, JSON.parse(text).version);
  assert.equal(hw.info.simd, hasRelaxed ? 'relaxed' : 'simd128');
  assert.equal(hw.info.threads, 1);
  assert.match(hw.info.threadsReason, /thread/);
  assert.deepEqual(Object.keys(hw.info).sort(), ['simd', 'threads', 'threadsReason', 'version']);
  hw.dispose();
});

test('the SIMD128 module can be asked for', async () => {
  const hw = await load({ simd: 'simd128' });
  assert.equal(hw.info.simd, 'simd128');
  checkFused(hw);
  hw.dispose();
});

test('a runtime without WebAssembly is named', async () => {
  const own = globalThis.WebAssembly;
  Reflect.deleteProperty(globalThis, 'WebAssembly');
  try {
    await rejectsCode(load(), 'ERR_LOAD', 'WebAssembly is not defined', 'a runtime with SIMD');
    for (const options of [{ threads: 2 }, { simd: /** @type {const} */ ('relaxed') }])
      await rejectsCode(load(options), 'ERR_LOAD', 'a runtime with SIMD');
  } finally {
    Object.defineProperty(globalThis, 'WebAssembly', {
      ...{ value: own, writable: true, configurable: true },
    });
  }
});

test('without room for shared memory an engine has one thread, and says why', async () => {
  const { Memory } = WebAssembly;
  const problem = 'could not allocate memory';
  /** @type {any} */ (WebAssembly).Memory = class {
    constructor() {
      throw new RangeError(problem);
    }
  };
  try {
    const alone = await load({ threads: 2 });
    assert.equal(alone.info.threads, 1);
    assert.match(alone.info.threadsReason, new RegExp(problem));
    alone.dispose();
    const wasm = new URL('headwise-simd128-threads.wasm', folder);
    await rejectsCode(load({ wasm, threads: 2 }), 'ERR_MEMORY', problem);
  } finally {
    WebAssembly.Memory = Memory;
  }
});

test('the relaxed module runs, or the error says that the runtime has no relaxed SIMD', async () => {
  if (!hasRelaxed) {
    await rejectsCode(load({ simd: 'relaxed' }), 'ERR_LOAD', 'relaxed', 'runtime', 'simd128');
    return;
  }
  const hw = await load({ simd: 'relaxed' });
  assert.equal(hw.info.simd, 'relaxed');
  checkFused(hw);
  hw.dispose();
});

test('wasm may be a file URL, its text, bytes, a buffer, a part of one, a compiled module', async () => {
  await works({ wasm: simd128 });
  await works({ wasm: simd128.href });
  await works({ wasm: bytes });
  await works({ wasm: bytes.slice().buffer });
  const padded = new Uint8Array(bytes.length + 8);
  padded.set(bytes, 5);
  await works({ wasm: padded.subarray(5, 5 + bytes.length) });
  await works({ wasm: new DataView(padded.buffer, 5, bytes.length) });
  await works({ wasm: await WebAssembly.compile(bytes) });
});

test('info names the module that was given, not the one that would have been chosen', async () => {
  const hw = await load({ wasm: simd128 });
  assert.equal(hw.info.simd, 'simd128');
  hw.dispose();
});

test('wasm may be an address or a Response, with the right type or another', async () => {
  await works({ wasm: `${origin}/good.wasm` });
  await works({ wasm: new URL(`${origin}/untyped.wasm`) });
  await works({ wasm: await fetch(`${origin}/good.wasm`) });
  await works({ wasm: await fetch(`${origin}/untyped.wasm`) });
  await works({ wasm: new Response(bytes) });
});

test('an address that gives HTML is named with what arrived', async () => {
  const address = `${origin}/page.wasm`;
  for (const wasm of [address, new URL(address), await fetch(address)])
    await rejectsCode(load({ wasm }), 'ERR_LOAD', address, 'text/html', '<!doctype');
  await works();
});

test('an address that gives 404 is named with the status', async () => {
  const address = `${origin}/missing.wasm`;
  for (const wasm of [address, await fetch(address)])
    await rejectsCode(load({ wasm }), 'ERR_LOAD', address, '404');
  await works();
});

test('what Angular, Vite 5 to 7 and Next.js need is said where their addresses lead to nothing', async () => {
  for (const place of ['.angular/cache/21/app/vite/deps', 'node_modules/.vite/deps'])
    await rejectsCode(
      load({ wasm: `${origin}/${place}/wasm/a.wasm` }),
      'ERR_LOAD',
      "Vite up to 7 needs optimizeDeps: { exclude: ['headwise'] }",
      "Angular prebundle: { exclude: ['headwise'] }",
    );
  await rejectsCode(
    load({ wasm: '/_next/static/media/a.wasm' }),
    'ERR_LOAD',
    'ENOENT',
    "Next.js needs serverExternalPackages: ['headwise']",
  );
});

test("a page of Electron with Node's process is a page: it asks the hub, not the disk", async () => {
  const code = `
    process.type = 'renderer';
    globalThis.fetch = async () => new Response('', { status: 404 });
    const { load } = await import('headwise');
    const { loadModel } = await import('headwise/models');
    const { readFile } = await import('node:fs/promises');
    const hw = await load({ wasm: await readFile(new URL('${simd128}')) });
    await loadModel(hw, 'org/name').catch(({ code, message }) => console.log(code, message));`;
  const { stdout, stderr } = await runNode('renderer', ['--input-type=module', '-e', code]);
  assert.match(stdout, /^ERR_LOAD .*huggingface\.co.*404/, stderr);
  assert.doesNotMatch(stdout, /no folder/);
});

test('an address that nobody answers is named', async () => {
  const port = await new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = /** @type {import('node:net').AddressInfo} */ (probe.address());
      probe.close(() => resolve(free));
    });
  });
  const wasm = `http://127.0.0.1:${port}/a.wasm`;
  await rejectsCode(load({ wasm }), 'ERR_LOAD', wasm);
});

test('a missing file, text, random bytes and half a module are told apart in words', async () => {
  const missing = new URL('missing.wasm', folder);
  await rejectsCode(load({ wasm: missing }), 'ERR_LOAD', 'missing.wasm');
  await rejectsCode(
    load({ wasm: new TextEncoder().encode(html) }),
    'ERR_LOAD',
    '<!doctype',
    'wasm',
  );
  await rejectsCode(load({ wasm: new Response(html) }), 'ERR_LOAD', '<!doctype', 'wasm');
  await rejectsCode(load({ wasm: Uint8Array.of(7, 1, 2, 3) }), 'ERR_LOAD', '4 bytes', 'wasm');
  await rejectsCode(load({ wasm: new Uint8Array(0) }), 'ERR_LOAD', '0 bytes', 'wasm');
  await rejectsCode(load({ wasm: bytes.slice(0, 999) }), 'ERR_LOAD', 'wasm');
  const path = join(tmpdir(), `headwise-${process.pid}.wasm`);
  await writeFile(path, html);
  await rejectsCode(load({ wasm: pathToFileURL(path) }), 'ERR_LOAD', pathToFileURL(path).href);
  await rm(path);
  await works();
});

test("a module that is not Headwise's is refused", async () => {
  const empty = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);
  await rejectsCode(load({ wasm: empty }), 'ERR_LOAD', 'Headwise');
  const module = await WebAssembly.compile(empty);
  await rejectsCode(load({ wasm: module }), 'ERR_LOAD', 'Headwise');
});

/** What runtimes say, and what is to be done. */
const refusals = [
  // Chromium and Firefox
  [
    "WebAssembly.compile(): Compiling or instantiating WebAssembly module violates the following Content Security policy directive because 'unsafe-eval' is not an allowed source of script in the following Content Security Policy directive: \"script-src 'self'\".",
    "expected a policy with script-src 'wasm-unsafe-eval'",
  ],
  ['call to WebAssembly.compile() blocked by CSP', "script-src 'wasm-unsafe-eval'"],
  // Cloudflare's workers
  [
    'WebAssembly.compile(): Wasm code generation disallowed by embedder',
    'expected a compiled module',
  ],
];

test('a policy that forbids compiling is told from a module that does not fit', async (t) => {
  for (const [said, expected] of refusals) {
    t.mock.method(WebAssembly, 'compile', () => Promise.reject(new WebAssembly.CompileError(said)));
    await rejectsCode(load({ wasm: bytes }), 'ERR_LOAD', 'does not compile here', expected);
    t.mock.restoreAll();
  }
});

test('bad options are refused by name', async () => {
  const bad = (/** @type {any} */ options) => load(options);
  await rejectsCode(bad({ simd: 'avx2' }), 'ERR_VALUE', 'simd', '"avx2"', 'simd128');
  await rejectsCode(bad({ threads: 0 }), 'ERR_VALUE', 'threads', '0');
  await rejectsCode(bad({ threads: 'many' }), 'ERR_VALUE', 'threads', '"many"');
  await rejectsCode(bad({ url: 'a.wasm' }), 'ERR_VALUE', 'url', 'wasm');
  await rejectsCode(bad({ wasm: 5 }), 'ERR_VALUE', 'wasm', '5');
  await rejectsCode(bad('a.wasm'), 'ERR_VALUE', 'a.wasm');
  await rejectsCode(bad({ signal: {} }), 'ERR_VALUE', 'signal');
});

test('a signal ends loading with its reason, before and during a download', async () => {
  const reason = new Error('the page was left');
  await assert.rejects(load({ signal: AbortSignal.abort(reason) }), reason);
  const controller = new AbortController();
  const loading = load({ wasm: `${origin}/never.wasm`, signal: controller.signal });
  setTimeout(() => controller.abort(reason), 20);
  await assert.rejects(loading, reason);
  await works({ signal: new AbortController().signal });
});

test('an engine is refused after dispose', async () => {
  const hw = await load();
  hw.dispose();
  throwsCode(() => hw.rand([1]), 'ERR_DISPOSED', 'engine');
  throwsCode(() => hw.softmax(data(1, [2])), 'ERR_DISPOSED', 'engine');
});

test('an engine runs in a Worker', async () => {
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
    import(workerData.headwise).then(async ({ load, tensor }) => {
      const hw = await load();
      hw.manualSeed(123);
      const module = new hw.MultiHeadAttention({ dIn: 3, dOut: 2, contextLength: 6, numHeads: 2 });
      parentPort.postMessage(module.forward(tensor(workerData.inputs)).output.toNested());
    });`,
    {
      eval: true,
      workerData: {
        headwise: import.meta.resolve('headwise'),
        inputs: (await import('./seeds.js')).inputs,
      },
    },
  );
  const [output] = await Promise.race([
    new Promise((resolve) => worker.once('message', (message) => resolve([message]))),
    new Promise((_, reject) => worker.once('error', reject)),
  ]);
  await worker.terminate();
  /** @type {number[][]} */ (output).forEach((row, i) =>
    row.forEach((value, j) => assert.ok(Math.abs(value - fusedTable[i][j]) < 5.1e-5)),
  );
});
