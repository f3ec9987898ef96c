// Tensor files: what is written can be read, what numpy wrote is read as numpy reads it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  openSafetensors,
  readNpy,
  readSafetensors,
  tensor,
  writeNpy,
  writeSafetensors,
} from 'headwise/formats';
import {
  decodable,
  decode,
  fixtures,
  fromBase64,
  safetensorsFile,
  sameValues,
  sizeOfType,
  sourcesOf,
  tensors,
} from './formats.js';
import { data, rejectsCode, throwsCode } from './helpers.js';

/** @typedef {import('headwise/formats').Piece} Piece */

/** @param {AsyncIterable<Piece>} pieces */
async function collect(pieces) {
  /** @type {Piece[]} */
  const all = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

for (const { title, kind, base64, refused, tensors: expected, metadata } of fixtures()) {
  const bytes = fromBase64(base64);
  if (refused !== undefined)
    test(`a .npy file of ${title} is refused by its type`, async () => {
      await rejectsCode(readNpy(bytes), 'ERR_FORMAT', 'source', refused, 'f4');
    });
  else if (kind === 'npy')
    test(`a .npy file is read as numpy reads it: ${title}`, async () => {
      for (const [, source] of sourcesOf(bytes)) {
        const { shape, data: values, dtype } = await readNpy(source());
        assert.deepEqual([...shape], expected[''].shape);
        assert.equal(
          dtype,
          title.startsWith('?') || title.includes('scalar in') ? 'bool' : 'float32',
        );
        sameValues(values, expected[''].values.map(Number), title);
      }
    });
  else
    test(`a .safetensors file is read as numpy would read it: ${title}`, async () => {
      for (const [, source] of sourcesOf(bytes)) {
        const read = await readSafetensors(source());
        assert.deepEqual({ ...read.metadata }, metadata);
        assert.deepEqual(Object.keys(read.tensors), Object.keys(expected));
        for (const [name, { dtype, shape, values }] of Object.entries(expected)) {
          assert.deepEqual([...read.tensors[name].shape], shape, name);
          assert.equal(read.tensors[name].dtype, dtype === 'BOOL' ? 'bool' : 'float32', name);
          sameValues(read.tensors[name].data, values.map(Number), name);
        }
      }
    });
}

test('every float16 and every bfloat16 is read right', async () => {
  const bytes = new Uint8Array(Uint16Array.from({ length: 65_536 }, (_, i) => i).buffer);
  for (const dtype of ['F16', 'BF16'])
    for (const pad of ['', ' ']) {
      const header = JSON.stringify({ x: { dtype, shape: [65_536], data_offsets: [0, 131_072] } });
      const read = await readSafetensors(safetensorsFile(header + pad, bytes));
      sameValues(read.tensors.x.data, decode(dtype, bytes), dtype);
    }
});

test('integers of 64 bits are rounded once, to the nearest float32', async () => {
  // Each a bit beyond, at, or short of the middle between two floats, which a double alone would not tell apart.
  const step = (/** @type {bigint} */ least) => least >> 23n;
  const cases = [53n, 54n, 57n, 62n].flatMap((bits) => {
    const least = 1n << bits;
    const middle = least + step(least) / 2n;
    return [
      [middle, Number(least)],
      [middle + 1n, Number(least + step(least))],
      [middle - 1n, Number(least)],
    ];
  });
  const values = cases.flatMap(([value]) => [BigInt(value), -BigInt(value)]);
  const expected = cases.flatMap(([, nearest]) => [Number(nearest), -Number(nearest)]);
  const shape = [values.length];
  const x = { dtype: 'I64', shape, data_offsets: [0, 8 * values.length] };
  const bytes = new Uint8Array(BigInt64Array.from(values).buffer);
  const read = await readSafetensors(safetensorsFile({ x }, bytes));
  sameValues(read.tensors.x.data, expected, 'I64');
  const positive = values.map((value) => (value < 0n ? -value : value));
  const unsigned = new Uint8Array(BigUint64Array.from(positive).buffer);
  const file = safetensorsFile({ x: { ...x, dtype: 'U64' } }, unsigned);
  sameValues((await readSafetensors(file)).tensors.x.data, expected.map(Math.abs), 'U64');
});

test('tensors that are written to .safetensors are read again', async () => {
  const bytes = writeSafetensors(tensors, { format: 'pt', '': 'größer' });
  for (const [what, source] of sourcesOf(bytes)) {
    const read = await readSafetensors(source());
    assert.deepEqual({ ...read.metadata }, { format: 'pt', '': 'größer' });
    assert.deepEqual(Object.keys(read.tensors).sort(), Object.keys(tensors).sort());
    for (const [name, { shape, dtype, data: values }] of Object.entries(tensors)) {
      assert.deepEqual([...read.tensors[name].shape], [...shape], what);
      assert.equal(read.tensors[name].dtype, dtype);
      sameValues(read.tensors[name].data, values, name);
    }
  }
});

test('a written .safetensors file begins its data at a multiple of 8, and its numbers at multiples of 4', async () => {
  for (const name of ['a', 'ab', 'abc', 'abcd', 'abcde', 'abcdef', 'abcdefg', 'abcdefgh']) {
    const bytes = writeSafetensors({ mask: tensor([true]), [name]: tensor([1]) });
    const header = new DataView(bytes.buffer).getUint32(0, true);
    assert.equal(header % 8, 0);
    const text = new TextDecoder().decode(bytes.subarray(8, 8 + header));
    assert.deepEqual(JSON.parse(text), {
      [name]: { dtype: 'F32', shape: [1], data_offsets: [0, 4] },
      mask: { dtype: 'BOOL', shape: [1], data_offsets: [4, 5] },
    });
    assert.equal(bytes.length, 8 + header + 5);
  }
});

test('of truth values every byte but 0 is true', async () => {
  const info = { dtype: 'BOOL', shape: [4], data_offsets: [0, 4] };
  const file = safetensorsFile({ x: info }, Uint8Array.of(0, 1, 2, 255));
  assert.deepEqual([...(await readSafetensors(file)).tensors.x.data], [0, 1, 1, 1]);
});

test('a name as long as may be written is read, and a longer one is refused', async () => {
  const longest = '"'.repeat(2 ** 14 - 1); // each takes two characters of JSON
  const read = await readSafetensors(writeSafetensors({ [longest]: tensor([1]) }));
  assert.deepEqual(Object.keys(read.tensors), [longest]);
  for (const name of [`${longest}"`, 'x'.repeat(70_000)])
    throwsCode(
      () => writeSafetensors({ [name]: tensor([1]) }),
      'ERR_VALUE',
      `a name of ${name.length} characters`,
      'at most 32768',
    );
});

test('names that mean something to JavaScript are names like others', async () => {
  const named = Object.fromEntries(
    ['__proto__', 'constructor', 'toString', '1', ''].map((name, i) => [name, tensor([i])]),
  );
  const read = await readSafetensors(writeSafetensors(named));
  assert.deepEqual(Object.keys(read.tensors).sort(), Object.keys(named).sort());
  for (const [name, { data: values }] of Object.entries(named))
    assert.deepEqual([...read.tensors[name].data], [...values], name);
});

test('the header says names, types, shapes and sizes before anything is read', async () => {
  const file = await openSafetensors(writeSafetensors(tensors, { k: 'v' }), { name: 'my file' });
  assert.equal(file.name, 'my file');
  assert.equal(file.byteLength, writeSafetensors(tensors, { k: 'v' }).length);
  assert.deepEqual([...file.tensors.keys()], ['weight', 'scalar', 'none', 'rare', 'mask']);
  assert.deepEqual(file.tensors.get('weight'), { dtype: 'F32', shape: [5, 3], byteLength: 60 });
  assert.deepEqual(file.tensors.get('mask'), { dtype: 'BOOL', shape: [2, 2], byteLength: 4 });
  assert.deepEqual({ ...file.metadata }, { k: 'v' });
});

test('byte pieces are the same rows as they are in the file, of every type', async () => {
  const entries = Object.fromEntries(
    decodable.map((dtype, i) => {
      const size = 6 * sizeOfType(dtype);
      const start = decodable.slice(0, i).reduce((sum, type) => sum + 6 * sizeOfType(type), 0);
      return [dtype, { dtype, shape: [3, 2], data_offsets: [start, start + size] }];
    }),
  );
  const bytes = decodable.reduce((sum, type) => sum + 6 * sizeOfType(type), 0);
  const content = Uint8Array.from({ length: bytes }, (_, i) => (i * 37) % 256);
  for (const [kind, source] of sourcesOf(safetensorsFile(entries, content))) {
    const wants = (/** @type {string} */ name) => name !== 'F32';
    /** @type {Record<string, number[]>} */
    const found = {};
    for await (const piece of (await openSafetensors(source())).bytePieces({
      wants,
      pieceBytes: 8,
    })) {
      assert.equal(piece.rows, 1);
      (found[piece.name] ??= []).push(...piece.bytes);
    }
    for (const [
      name,
      {
        data_offsets: [start, end],
      },
    ] of Object.entries(entries))
      assert.deepEqual(found[name], wants(name) ? [...content.slice(start, end)] : undefined, kind);
  }
  const opened = await openSafetensors(safetensorsFile(entries, content));
  throwsCode(() => opened.bytePieces({ pieceBytes: 0 }), 'ERR_VALUE', 'pieceBytes is 0');
});

test('pieces are whole rows, as many as fit, in the order of the file', async () => {
  const bytes = writeSafetensors(tensors);
  for (const [, source] of sourcesOf(bytes)) {
    const file = await openSafetensors(source());
    const pieces = await collect(file.pieces({ pieceBytes: 31 }));
    assert.deepEqual(
      pieces.map(({ name, firstRow, rows, data: values }) => [name, firstRow, rows, values.length]),
      [
        ['weight', 0, 2, 6],
        ['weight', 2, 2, 6],
        ['weight', 4, 1, 3],
        ['scalar', 0, 1, 1],
        ['none', 0, 3, 0],
        ['rare', 0, 5, 5],
        ['mask', 0, 2, 4],
      ],
    );
    assert.deepEqual([...pieces[1].data], [...tensors.weight.data.subarray(6, 12)]);
    assert.deepEqual([...pieces[6].data], [1, 0, 0, 1]);
    assert.deepEqual([pieces[6].dtype, [...pieces[6].shape]], ['BOOL', [2, 2]]);
  }
});

test('a row that is larger than a piece is a piece', async () => {
  const file = await openSafetensors(writeSafetensors({ x: data(2, [3, 10]) }));
  const pieces = await collect(file.pieces({ pieceBytes: 1 }));
  assert.deepEqual(
    pieces.map(({ rows, data: values }) => [rows, values.length]),
    [
      [1, 10],
      [1, 10],
      [1, 10],
    ],
  );
});

test('axes of size 0 in every place make one piece without values', async () => {
  const large = Number.MAX_SAFE_INTEGER;
  for (const shape of [
    ...[[0], [0, 0], [0, 2 ** 40], [2 ** 40, 0], [2, 0, 3]],
    ...[
      [0, large, large],
      [large, 0, large],
      [large, large, 0],
    ],
  ]) {
    const x = { dtype: 'F64', shape, data_offsets: [0, 0] };
    const file = await openSafetensors(safetensorsFile({ x }));
    const pieces = await collect(file.pieces());
    assert.deepEqual(
      pieces.map(({ firstRow, rows, data: values }) => [firstRow, rows, values.length]),
      [[0, shape[0], 0]],
    );
  }
});

test('a tensor without elements stands before one that begins at its place, whichever is named first', async () => {
  const header = {
    some: { dtype: 'U8', shape: [2], data_offsets: [0, 2] },
    none: { dtype: 'U8', shape: [0], data_offsets: [0, 0] },
    more: { dtype: 'U8', shape: [1], data_offsets: [2, 3] },
    end: { dtype: 'U8', shape: [0], data_offsets: [2, 2] },
  };
  const file = await openSafetensors(safetensorsFile(header, 3));
  assert.deepEqual([...file.tensors.keys()], ['none', 'some', 'end', 'more']);
});

test('tensors that nobody wants are passed over', async () => {
  const bytes = writeSafetensors(tensors);
  /** @param {string} name */
  const wants = (name) => name === 'scalar' || name === 'mask';
  for (const [, source] of sourcesOf(bytes)) {
    const pieces = await collect((await openSafetensors(source())).pieces({ wants }));
    assert.deepEqual(
      pieces.map(({ name }) => name),
      ['scalar', 'mask'],
    );
    const read = await readSafetensors(source(), { wants });
    assert.deepEqual(Object.keys(read.tensors), ['scalar', 'mask']);
    assert.deepEqual([...read.tensors.mask.data], [1, 0, 0, 1]);
  }
});

test('8-bit floats and complex numbers beside what is wanted are passed over, and given as bytes', async () => {
  const small = ['F8_E4M3', 'F8_E5M2', 'F8_E8M0'];
  const types = [...small, 'C64'];
  const header = Object.fromEntries(
    small.map((dtype, i) => [dtype, { dtype, shape: [2], data_offsets: [2 * i, 2 * i + 2] }]),
  );
  const bytes = safetensorsFile(
    {
      ...header,
      x: { dtype: 'F32', shape: [1], data_offsets: [6, 10] },
      C64: { dtype: 'C64', shape: [1], data_offsets: [10, 18] },
    },
    Uint8Array.of(1, 2, 3, 4, 5, 6, 0, 0, 0x80, 0x3f, ...Array(8).fill(0)),
  );
  for (const [, source] of sourcesOf(bytes)) {
    const { tensors: read } = await readSafetensors(source(), { wants: (name) => name === 'x' });
    assert.deepEqual({ ...read }, { x: tensor([1]) });
    for (const dtype of types) {
      const wanted = readSafetensors(source(), { wants: (name) => name === dtype });
      await rejectsCode(wanted, 'ERR_FORMAT', `tensor "${dtype}": dtype is ${dtype}`);
    }
  }
  const file = await openSafetensors(bytes);
  assert.deepEqual(file.tensors.get('F8_E4M3'), { dtype: types[0], shape: [2], byteLength: 2 });
  const values = [];
  for await (const piece of file.bytePieces()) values.push(...piece.bytes);
  assert.deepEqual(values.slice(0, 6), [1, 2, 3, 4, 5, 6]);
});

test('metadata that is null is none', async () => {
  const { metadata } = await readSafetensors(safetensorsFile({ __metadata__: null }));
  assert.deepEqual({ ...metadata }, {});
});

test('progress rises to the size of the file', async () => {
  const bytes = writeSafetensors(tensors);
  for (const wants of [() => true, () => false])
    for (const [, source] of sourcesOf(bytes)) {
      /** @type {number[]} */
      const loaded = [];
      const options = {
        pieceBytes: 12,
        wants,
        onProgress: (/** @type {{ loaded: number, total: number }} */ progress) => {
          assert.equal(progress.total, bytes.length);
          loaded.push(progress.loaded);
        },
      };
      await collect((await openSafetensors(source())).pieces(options));
      assert.ok(loaded.length > 5);
      assert.deepEqual(
        loaded,
        [...loaded].sort((a, b) => a - b),
      );
      assert.equal(loaded.at(-1), bytes.length);
    }
});

test('bytes and Blobs can be read again and at the same time; a stream once, and the error says so', async () => {
  const bytes = writeSafetensors(tensors);
  for (const [what, source] of sourcesOf(bytes)) {
    const file = await openSafetensors(source(), { name: 'f' });
    const first = file.pieces({ pieceBytes: 12 });
    await first.next();
    if (what === 'bytes' || what === 'a Blob') {
      assert.equal((await collect(file.pieces())).length, 5);
      assert.equal((await collect(first)).length, 10);
    } else {
      throwsCode(() => file.pieces(), 'ERR_VALUE', 'f: ', 'once');
      assert.ok((await collect(first)).length > 4);
      throwsCode(() => file.pieces(), 'ERR_VALUE', 'f: ', 'once');
    }
  }
});

test('what is read is the caller’s: changing it changes no file', async () => {
  const bytes = writeSafetensors(tensors);
  const before = bytes.slice();
  for (const { data: values } of await collect((await openSafetensors(bytes)).pieces()))
    values.fill(7);
  for (const x of Object.values((await readSafetensors(bytes)).tensors)) x.data.fill(1);
  (await readNpy(writeNpy(tensors.weight))).data.fill(7);
  assert.deepEqual(bytes, before);
});
