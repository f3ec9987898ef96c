// The same input gives the same bits: run after run, in any number of threads. (tests/browsers compares browsers.)
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from 'headwise';
import { bitsOf } from './bits.js';
import { allClose, data } from './helpers.js';

const hasRelaxed = await load({ simd: 'relaxed' }).then(
  () => true,
  () => false,
);

/** @type {('simd128' | 'relaxed')[]} */
const kinds = hasRelaxed ? ['simd128', 'relaxed'] : ['simd128'];

for (const simd of kinds)
  test(`runs, engines and numbers of threads give the same bits (${simd})`, async () => {
    const first = await load({ simd });
    const expected = bitsOf(first);
    assert.equal(bitsOf(first), expected, 'a second run');
    for (const threads of [1, 2, 3, 4]) {
      const hw = await load({ simd, threads });
      assert.deepEqual([hw.info.simd, hw.info.threads], [simd, threads]);
      assert.equal(bitsOf(hw), expected, `${threads} threads`);
      hw.dispose();
    }
    first.dispose();
  });

// Where the runtime has no relaxed SIMD, tests/simd.slow.test.js runs this with V8's flag for it.
if (hasRelaxed)
  test('relaxed SIMD may round a product and a sum once instead of twice, no more', async () => {
    const [strict, relaxed] = [await load({ simd: 'simd128' }), await load({ simd: 'relaxed' })];
    const [a, b] = [data(1, [90, 200]), data(2, [200, 70])];
    // 200 roundings of sums that stay below 4 or so.
    allClose(relaxed.matmul(a, b), strict.matmul(a, b), {
      rtol: 0,
      atol: 200 * 2 ** -22,
    });
    assert.deepEqual(relaxed.rand([999]), strict.rand([999]));
  });
