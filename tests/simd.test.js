// There are two modules; a plain run tests the one that the runtime prefers. Here the tests of numbers run
// with the other one: in a child process, on Node 20 with the flag that switches relaxed SIMD on.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const path = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));
const bytes = readFileSync(path('../web/headwise/wasm/headwise-relaxed.wasm'));
const hasRelaxed = WebAssembly.validate(bytes);
const simd = hasRelaxed ? 'simd128' : 'relaxed';
const flags = hasRelaxed ? [] : ['--experimental-wasm-relaxed-simd'];
/** @type {NodeJS.ProcessEnv} */
const environment = { ...process.env, HEADWISE_SIMD: simd };
// With it, the child would report to this run instead of printing.
delete environment.NODE_TEST_CONTEXT;

for (const name of [
  ...['seeds', 'random', 'functions', 'modules', 'nan', 'state', 'errors'],
  ...['attention-options', 'bad-calls', 'cache', 'cache-errors', 'bench'],
  ...['threads', 'torch', 'torch-options', 'torch-blocks'],
  ...['bits', 'blocks', 'blocks-errors', 'chapter'],
  ...['torch-gpt2', 'gpt2', 'gpt2-state', 'gpt2-generate'],
])
  test(`with the ${simd} module, the tests of ${name} pass`, () => {
    const { status, stdout, stderr, error } = spawnSync(
      process.execPath,
      [...flags, '--test-reporter=tap', path(`${name}.test.js`)],
      { encoding: 'utf8', env: environment, maxBuffer: 2 ** 28 },
    );
    assert.equal(error, undefined);
    assert.equal(status, 0, `${stdout}\n${stderr}`);
    assert.match(stdout, /^# pass [1-9]/m);
  });
