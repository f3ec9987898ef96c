// Rollouts of two runs that are compared: the one does not end the other.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { region } from '../web/page/explore/worker/maps.js';
import { open, run } from '../web/page/explore/worker/opened.js';
import { pageModelFiles } from './page-model.js';

test('the rollouts before and after muting, and their difference, are there at the same time', async () => {
  await open(await pageModelFiles('induction'), () => {});
  const muted = [{ layer: 0, head: 0 }];
  const text = 'one two three one two three';
  const how = { text, isSample: false, added: [], muted, causal: true, softmax: false };
  const { n, layers } = run(1, how);
  const rollout = { of: 'rollout', over: 'layer', layer: layers - 1, head: 0, hideFirst: false };
  const before = { isBefore: true };
  const whole = { queries: [0, n], keys: [0, n], height: n, width: n };
  const maps = await Promise.all(
    [rollout, { ...rollout, ...before }, { ...rollout, minus: before }].map((what, i) =>
      region(1, /** @type {any} */ ({ slot: `map ${i}`, what, region: whole })),
    ),
  );
  const [after, first, difference] = maps.map(({ values }) => [...values]);
  assert.notDeepEqual(after, first);
  difference.forEach((value, i) => assert.ok(Math.abs(value - (after[i] - first[i])) < 1e-6));
});
