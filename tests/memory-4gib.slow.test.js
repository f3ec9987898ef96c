// All that 32 bits address, filled to the last page. Takes 4 GiB of the machine's memory, one engine at a time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, zeros } from 'headwise';
import {
  engineOfPages,
  FilledMemory,
  isRefused,
  MOST_PAGES,
  refusals,
  results,
  worksOn,
} from './filled-memory.js';

/** @typedef {import('./helpers.js').Engine} Hw */

const MiB = 2 ** 20;

/** Needs twice the bytes, for what it reads and what it writes. @param {Hw} hw @param {number} bytes */
const transpose = (hw, bytes) => void hw.transpose(zeros([bytes / 4, 1]));

for (const threads of [1, 4])
  test(`with 3.2 GiB of weights held, a call that needs a GiB more is refused (${threads} threads)`, async () => {
    const hw = await load({ threads });
    const expected = results(hw);
    const memory = new FilledMemory(hw, MOST_PAGES);
    for (const size of [1024, 1024, 1024, 176]) assert.ok(memory.add(size * MiB));
    // Inputs and results that are held for the next call.
    transpose(hw, 25 * MiB);
    assert.ok(
      isRefused(() => transpose(hw, 512 * MiB)),
      'granted',
    );
    worksOn(hw, expected);
    memory.check();
    memory.remove((i) => i === 1);
    assert.ok(!isRefused(() => transpose(hw, 400 * MiB)), 'refused');
    memory.check();
    hw.dispose();
  });

/** Two of these fit into memory, or six of the next. */
const large = [0.42, 0.13, 0.02, 0.003];

for (const threads of [1, 4])
  test(`4 GiB are filled to the last page in many orders of sizes, and keep every weight (${threads} threads)`, async () => {
    const hw = await engineOfPages(threads, 65536);
    const expected = results(hw);
    const memory = new FilledMemory(hw, 65536);
    for (const order of [large, large.toReversed(), [0.13, 0.003, 0.42, 0.02]]) {
      memory.fill(order);
      refusals(hw, expected);
      memory.check();
      memory.remove((i) => i % 2 === 0);
      worksOn(hw, expected);
      memory.fill(order.toReversed());
      memory.check();
      memory.remove(() => true);
      worksOn(hw, expected);
    }
    memory.fill(large);
    refusals(hw, expected);
    memory.check(true);
    hw.dispose();
  });
