// npm run bench in a browser: the same modules, the same results.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findBrowser } from './browser.js';
import { NO_BROWSER } from './browsers/engines.js';
import { runNode } from './child.js';

const RUN = fileURLToPath(new URL('./bench/run.js', import.meta.url));
// Where a browser must be there, its absence is a failure.
const skip = findBrowser() || process.env.CI ? false : NO_BROWSER;

test('the benchmark runs in Chromium and its results are right', { skip }, async () => {
  const args = ['--browser', 'chromium', '--shape', 'S0', '--threads', '1', '--seconds', '0.02'];
  const { status, stdout, stderr } = await runNode('bench', [RUN, ...args, '--json']);
  assert.equal(status, 0, stderr);
  const { runtime, results } = JSON.parse(stdout);
  assert.match(runtime, /Chrom/);
  assert.ok(results.length >= 2);
  for (const { timing } of results) {
    assert.ok(timing.maxError < 1e-6);
    assert.ok(timing.percent > 0);
  }
});
