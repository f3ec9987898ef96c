// What a page downloads for the package: its JavaScript as an app's bundler minifies it, and one wasm module.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { bundle, firstChunks, gzipped } from './bundle.js';

const LIMIT = 103_499;

test(`JavaScript and module of one thread are at most ${LIMIT} bytes, gzipped`, async (t) => {
  const files = await bundle('headwise');
  const script = firstChunks(files).reduce((sum, chunk) => sum + gzipped(chunk.code), 0);
  assert.ok(script > 0);
  const sums = [];
  for (const name of ['headwise-simd128.wasm', 'headwise-relaxed.wasm']) {
    const module = files.find(
      (file) => file.type === 'asset' && file.originalFileNames.some((path) => path.endsWith(name)),
    );
    assert.ok(module?.type === 'asset', `${name} is in the bundle`);
    const wasm = gzipped(module.source);
    t.diagnostic(`${name} ${wasm} + JavaScript ${script} = ${wasm + script} bytes`);
    assert.ok(wasm + script <= LIMIT, `${name} ${wasm} + JavaScript ${script}`);
    sums.push(wasm + script);
  }
  const largest = `${Math.round(Math.max(...sums) / 1000)}`;
  const read = (/** @type {string} */ path) => readFile(new URL(path, import.meta.url), 'utf8');
  assert.equal(
    /the (\d+) kB \(gzipped\) that a page/.exec(await read('../README.md'))?.[1],
    largest,
  );
  const peers = JSON.parse(await read('../web/page/bench/peers.json'));
  assert.equal(`${peers.runtimes[0].kilobytes}`, largest);
});

test('an app with headwise/inline is one file', async (t) => {
  const files = await bundle('headwise/inline');
  assert.equal(files.length, 1);
  const [chunk] = files;
  assert.ok(chunk.type === 'chunk');
  assert.doesNotMatch(chunk.code, /\.wasm|new Worker/);
  t.diagnostic(`${chunk.code.length} bytes, ${gzipped(chunk.code)} gzipped`);
});

test('an app with headwise/formats is one file, without the engine and without Node', async (t) => {
  const files = await bundle('headwise/formats');
  assert.equal(files.length, 1);
  const [chunk] = files;
  assert.ok(chunk.type === 'chunk');
  assert.doesNotMatch(chunk.code, /\.wasm|new Worker|node:/);
  t.diagnostic(`${chunk.code.length} bytes, ${gzipped(chunk.code)} gzipped`);
});
