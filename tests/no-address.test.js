// A bundle in which import.meta.url is undefined, as esbuild's CommonJS and Cloudflare's Workers have it (tests/embed tries
// those): what can be had there, and what is said of the rest.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'vite';
import { rejectsCode } from './helpers.js';

const MODULES = new URL('../web/headwise/wasm/', import.meta.url);
const folder = await mkdtemp(join(tmpdir(), 'headwise-no-address-'));
after(() => rm(folder, { recursive: true }));

/** @param {string} entry of the package @returns {Promise<any>} */
async function bundled(entry) {
  const result = await build({
    configFile: false,
    logLevel: 'error',
    plugins: [
      {
        name: 'no-address',
        enforce: 'pre',
        transform: (code) => code.replace(/(?<=[(,]\s*)import\.meta\.url/g, 'undefined'),
      },
    ],
    build: {
      write: false,
      lib: { entry: fileURLToPath(import.meta.resolve(entry)), formats: ['es'] },
    },
  });
  const path = join(folder, `${entry.replace('/', '-')}.mjs`);
  await writeFile(path, /** @type {any} */ (result)[0].output[0].code);
  const module = await import(pathToFileURL(path).href);
  return module;
}

/** @param {any} error @param {RegExp} message */
function isLoadError({ name, code, message: found }, message) {
  assert.deepEqual([name, code], ['HeadwiseError', 'ERR_LOAD'], found);
  assert.match(found, message);
  return true;
}

test('without an address load() says what to give it, and starts with what is given', async () => {
  const { load } = await bundled('headwise');
  for (const options of [{}, { threads: 2 }, { simd: 'simd128' }])
    await assert.rejects(load(options), (error) =>
      isLoadError(error, /no import\.meta\.url.*load\(\{ wasm \}\).*headwise\/inline/),
    );
  const one = await load({ wasm: new URL('headwise-simd128.wasm', MODULES) });
  assert.equal(one.rand([3]).data.length, 3);
  one.dispose();
  const threads = new URL('headwise-simd128-threads.wasm', MODULES);
  const { info } = await load({ wasm: threads, threads: 2 });
  assert.equal(info.threads, 1);
  assert.match(info.threadsReason, /^a Worker could not be started: .*no import\.meta\.url/);
});

test('without an address headwise/worker says why there is no Worker, and headwise/inline works', async () => {
  const { load } = await bundled('headwise/worker');
  await assert.rejects(load(), (error) => isLoadError(error, /Worker.*no import\.meta\.url/));
  const { load: loadInline } = await bundled('headwise/inline');
  const hw = await loadInline();
  assert.equal(hw.rand([3]).data.length, 3);
  hw.dispose();
});

test('a runtime that compiles no modules itself is told of with what to give', async (t) => {
  const { load } = await import('headwise');
  t.mock.method(WebAssembly, 'compile', async () => {
    throw new WebAssembly.CompileError('Wasm code generation disallowed by embedder');
  });
  await rejectsCode(load(), 'ERR_LOAD', 'disallowed', 'load({ wasm })');
});
