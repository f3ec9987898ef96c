// Memory filled to its last page: no two modules share it, weights keep their values, and what has no room is refused.
// tests/memory-4gib.slow.test.js does the same with all that 32 bits address.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zeros } from 'headwise';
import { engineOfPages, FilledMemory, refusals, results, worksOn } from './filled-memory.js';

const PAGES = 130;
const shares = [0.35, 0.15, 0.0107, 0.0013];

/** @param {number[]} list @returns {number[][]} */
const orders = (list) =>
  list.length < 2
    ? [list]
    : list.flatMap((first, i) =>
        orders(list.filter((_, j) => j !== i)).map((rest) => [first, ...rest]),
      );

for (const threads of [1, 4])
  test(`filled to the last page in every order of sizes, memory keeps every weight (${threads} threads)`, async () => {
    const hw = await engineOfPages(threads, PAGES);
    const expected = results(hw);
    const memory = new FilledMemory(hw, PAGES);
    let refused = 0;
    for (const order of orders(shares)) {
      memory.fill(order);
      // Nothing is lost; the rest is the last call's.
      assert.ok(memory.bytes > 0.8 * hw.memoryBytes, `${memory.bytes} of ${hw.memoryBytes} bytes`);
      refused += refusals(hw, expected);
      memory.check(true);
      memory.remove((i) => i % 2 === 0);
      refused += refusals(hw, expected);
      memory.fill(order.toReversed());
      memory.check(true);
      memory.remove((i) => i % 3 > 0);
      memory.fill(order);
      memory.check(true);
      memory.remove(() => true);
      worksOn(hw, expected);
    }
    assert.ok(refused > 0, 'memory was never full');
    hw.dispose();
  });

test('a module has the room that inputs and results of an earlier call took', async () => {
  const hw = await engineOfPages(1, 100);
  hw.softmax(zeros([1_200_000]));
  const linear = new hw.Linear({ inFeatures: 800, outFeatures: 800 });
  assert.deepEqual([...linear.forward(zeros([1, 800])).output.shape], [1, 800]);
  hw.dispose();
});
