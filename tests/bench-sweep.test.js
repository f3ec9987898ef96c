// npm run bench:sweep measures what it says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureSweep } from './bench/sweep.js';
import { engine } from './helpers.js';
import { smallConfig } from './gpt2.js';

test('a sweep is measured in seconds and in whole forwards', async () => {
  const hw = await engine();
  const config = { model_type: 'gpt2', ...smallConfig };
  const { heads, seconds, forwards, longest } = await measureSweep(hw, config, 9);
  assert.equal(heads, 6);
  assert.ok(longest > 0 && longest <= seconds && forwards > 0);
  hw.dispose();
});
