// Vectors kept on the stack in an inner loop cost a third of its speed, and nothing but the machine code shows them.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { hotLoops, modules } from './spills.js';

const skip = process.arch !== 'x64' && `machine code is read for x64, and this is ${process.arch}`;

for (const module of modules)
  test(`no inner loop of ${basename(module)} keeps vectors on the stack`, { skip }, async () => {
    const loops = await hotLoops(module);
    // Projections, scores and weights times values: each has at least its whole tile.
    const products = loops.filter((loop) => loop.broadcasts > 0);
    assert.ok(products.length >= 3, `products found: ${products.length}`);
    const spilled = loops.filter((loop) => loop.stackMoves > 0);
    assert.deepEqual(
      spilled.map(({ code, ...numbers }) => ({ ...numbers, code: code.map(({ text }) => text) })),
      [],
    );
  });

/** @param {number} n @returns {number[]} */
const leb = (n) => (n < 128 ? [n] : [(n % 128) + 128, ...leb(Math.floor(n / 128))]);

/** @param {number[]} bytes */
const sized = (bytes) => [...leb(bytes.length), ...bytes];

/**
 * A function (from, to) of one loop: each accumulator becomes itself · x + x, x being the four floats at `from`.
 * @param {number} accumulators
 */
function loopModule(accumulators) {
  const [load, store, add, multiply] = [0, 11, 228, 230].map((op) => [253, ...leb(op)]);
  const x = 2;
  const all = Array.from({ length: accumulators }, (_, i) => ({ local: i + 3, at: leb(16 * i) }));
  const loads = all.flatMap(({ local, at }) => [32, 1, ...load, 0, ...at, 33, local]);
  const step = [32, x, ...multiply, 32, x, ...add];
  const sums = all.flatMap(({ local }) => [32, local, ...step, 33, local]);
  const stores = all.flatMap(({ local, at }) => [32, 1, 32, local, ...store, 0, ...at]);
  const nextX = [32, 0, ...load, 0, 0, 33, x];
  const repeat = [32, 0, 65, 16, 106, 34, 0, 32, 1, 73, 13, 0];
  const loop = [3, 64, ...nextX, ...sums, ...repeat, 11];
  const body = [1, accumulators + 1, 123, ...loads, ...loop, ...stores, 11];
  return Uint8Array.from([
    ...[0, 97, 115, 109, 1, 0, 0, 0],
    ...[1, ...sized([1, 96, 2, 127, 127, 0])],
    ...[3, ...sized([1, 0])],
    ...[5, ...sized([1, 0, 1])],
    ...[7, ...sized([1, 1, 102, 0, 0])],
    ...[10, ...sized([1, ...sized(body)])],
  ]);
}

test('a loop with more accumulators than registers is found to spill', { skip }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'headwise-spills-'));
  try {
    const path = join(folder, 'loop.wasm');
    for (const accumulators of [8, 20]) {
      await writeFile(path, loopModule(accumulators));
      const loops = await hotLoops(path);
      assert.equal(loops.length, 1);
      const [{ multiplyAdds, stackMoves }] = loops;
      assert.equal(multiplyAdds % accumulators, 0);
      assert.equal(stackMoves > 0, accumulators > 15, `stack moves: ${stackMoves}`);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
