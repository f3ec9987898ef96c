// .npy files: what is written has numpy’s header and is read again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readNpy, writeNpy } from 'headwise/formats';
import { zeros } from 'headwise';
import { npyFile, sameValues, sourcesOf, tensors } from './formats.js';
import { data, rejectsCode } from './helpers.js';

test('tensors that are written to .npy are read again', async () => {
  for (const x of Object.values(tensors))
    for (const [, source] of sourcesOf(writeNpy(x))) {
      const read = await readNpy(source());
      assert.deepEqual([...read.shape], [...x.shape]);
      assert.equal(read.dtype, x.dtype);
      sameValues(read.data, x.data, 'npy');
    }
});

test('a .npy file of more values than are read at a time is read whole, and its bytes are counted', async () => {
  const x = data(1, [2 ** 20 + 3]);
  const file = writeNpy(x);
  sameValues((await readNpy(file)).data, x.data, 'npy');
  const words = `truncated: ${4 * x.data.length - 1} bytes of data`;
  await rejectsCode(readNpy(file.slice(0, -1)), 'ERR_FORMAT', words);
});

test('a written .npy file has the header that numpy writes, and its data at a multiple of 64', () => {
  for (const [shape, tuple] of /** @type {[number[], string][]} */ ([
    [[], '()'],
    [[3], '(3,)'],
    [[2, 3], '(2, 3)'],
    [Array(64).fill(1), `(${Array(64).fill(1).join(', ')})`],
  ])) {
    const x = zeros(shape);
    const bytes = writeNpy(x);
    const start = bytes.length - x.data.byteLength;
    assert.equal(start % 64, 0);
    const text = String.fromCharCode(...bytes.subarray(0, start));
    assert.ok(text.startsWith('\x93NUMPY\x01\x00'), text);
    assert.equal(bytes[8] + 256 * bytes[9], start - 10);
    const header = `{'descr': '<f4', 'fortran_order': False, 'shape': ${tuple}, }`;
    assert.equal(text.slice(10), `${header.padEnd(start - 11)}\n`);
  }
});

test('a .npy header of Python 2, and one of other spaces and quotes, is read', async () => {
  for (const text of [
    `{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 1L)}`,
    `{"shape":(2,1,),"fortran_order":True , "descr":"<f4"}   \n`,
    `{'descr': '=f4', 'fortran_order': False, 'shape': [2, 1], }`,
  ])
    for (const version of [1, 2, 3]) {
      const read = await readNpy(npyFile(text, 8, { version }));
      assert.deepEqual([...read.shape], [2, 1]);
    }
});
