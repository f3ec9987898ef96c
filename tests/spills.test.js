// Vectors kept on the stack in an inner loop cost a third of its speed, and nothing but the machine code shows them.
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { hotLoops, modules } from './spills.js';

const skip = process.arch !== 'x64' && `machine code is read for x64, and this is ${process.arch}`;

for (const module of modules)
  test(`no inner loop of ${basename(module)} keeps vectors on the stack`, { skip }, () => {
    const loops = hotLoops(module);
    // Projections, scores and weights times values: each has at least its whole tile.
    const products = loops.filter((loop) => loop.broadcasts > 0);
    assert.ok(products.length >= 3, `products found: ${products.length}`);
    const spilled = loops.filter((loop) => loop.stackMoves > 0);
    assert.deepEqual(
      spilled.map(({ code, ...numbers }) => ({ ...numbers, code: code.map(({ text }) => text) })),
      [],
    );
  });
