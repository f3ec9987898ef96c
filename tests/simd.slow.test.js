// There are two modules; a plain run tests the one that the runtime prefers. Here the tests of numbers run
// with the other one: in a child process, on Node 20 with the flag that switches relaxed SIMD on.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runFile } from './files.js';

const path = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));
const bytes = readFileSync(path('../web/headwise/wasm/headwise-relaxed.wasm'));
const hasRelaxed = WebAssembly.validate(bytes);
const simd = hasRelaxed ? 'simd128' : 'relaxed';
const flags = hasRelaxed ? [] : ['--experimental-wasm-relaxed-simd'];
const env = { HEADWISE_SIMD: simd };

const names = [
  ...['seeds', 'random', 'functions', 'modules', 'nan', 'state', 'errors'],
  ...['attention-options', 'forward-masks', 'bad-calls', 'cache', 'cache-errors', 'bench'],
  ...['threads', 'torch', 'torch-options', 'torch-blocks'],
  ...['bits', 'blocks', 'blocks-errors', 'chapter'],
  ...['torch-gpt2', 'gpt2', 'gpt2-state', 'gpt2-generate'],
];

describe(`with the ${simd} module`, { concurrency: availableParallelism() }, () => {
  for (const name of names)
    test(`the tests of ${name} pass`, async () => {
      const options = { seconds: 240, flags, env };
      const { problem, output } = await runFile(path(`${name}.test.js`), options);
      assert.equal(problem, '', output);
    });
});
