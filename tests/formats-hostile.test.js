// Files that are broken, cut off or made to do harm: each is refused in words, from whatever it is read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readNpy, readSafetensors, tensor, writeNpy, writeSafetensors } from 'headwise/formats';
import { npyFile, safetensorsFile, sourcesOf } from './formats.js';
import { isHeadwiseError } from './helpers.js';
import { Wording } from './wording.js';

const name = 'model.bin';

/** @param {unknown} dtype @param {unknown} shape @param {unknown} offsets */
const info = (dtype, shape, offsets) => ({ dtype, shape, data_offsets: offsets });
/** @param {...number} sizes the shape; it says that it is 8 bytes, and the file has them */
const shaped = (...sizes) => safetensorsFile({ x: info('F32', sizes, [0, 8]) }, 8);
/** @param {unknown} offsets */
const placed = (offsets) => safetensorsFile({ x: info('F32', [2], offsets) }, 8);

const text = '{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}';
const good = safetensorsFile(text, 8);
const two = {
  a: info('F32', [2], [0, 8]),
  b: info('I8', [3], [8, 11]),
};
const goodNpy = writeNpy(tensor([1, 2, 3]));
const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }`;

/** How the messages are worded stands in tests/wording/. @type {[title: string, file: Uint8Array, came: string][]} */
const safetensors = [
  ['an empty file', new Uint8Array(0), 'has 0 bytes'],
  ['7 bytes', new Uint8Array(7), 'has 7 bytes'],
  ['a header longer than the file', safetensorsFile(text, 8, 1000), '1000 bytes'],
  ['a header of 99 MB that is not there', safetensorsFile(text, 8, 99_000_000), '99000000 bytes'],
  ['a header of more than 100 MB', safetensorsFile(text, 8, 100_000_001), 'begins with'],
  [
    'a header of 2^64 - 1 bytes',
    safetensorsFile(text, 8, 2n ** 64n - 1n),
    'begins with "........"',
  ],
  ['a header of 2^32 bytes', safetensorsFile(text, 8, 2n ** 32n), 'begins with'],
  ['a header of 0 bytes', safetensorsFile(''), 'the header begins with ""'],
  ['a header that is an array', safetensorsFile('[1]'), 'the header begins with "[1]"'],
  ['a header that begins with a space', safetensorsFile(` ${text}`, 8), 'the header begins with'],
  [
    'a header that begins with a byte order mark',
    safetensorsFile(`\ufeff${text}`, 8),
    'the header begins with',
  ],
  ['a header that is no JSON', safetensorsFile('{"x":}'), 'the header cannot be parsed ('],
  ['a header that ends early', safetensorsFile(text, 8, 30), 'the header cannot be parsed ('],
  [
    'a header with NULs behind it',
    safetensorsFile(`${text}\0\0`, 8),
    'the header cannot be parsed (',
  ],
  [
    'a header nested deeply',
    safetensorsFile(`{"x":${'['.repeat(1e5)}`),
    'the header is nested more than 64 levels deep',
  ],
  [
    'a header that is not UTF-8',
    safetensorsFile(Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d)),
    'the header is not UTF-8',
  ],
  ['a name twice', safetensorsFile('{"x":{},"x":{}}'), 'the header has the key "x" twice'],
  [
    'a name twice, once with an escape',
    safetensorsFile('{"x":{},"\\u0078" :{}}'),
    'the header has the key "x" twice',
  ],
  [
    'a dtype twice',
    safetensorsFile('{"x":{"dtype":"F32","shape":[],"dtype":"F16"}}'),
    'the header has the key "dtype" twice',
  ],
  [
    'a key of the metadata twice',
    safetensorsFile('{"__metadata__":{"\\"":"","\\"":""}}'),
    'the header has the key "\\"" twice',
  ],
  ['metadata that is an array', safetensorsFile({ __metadata__: ['a'] }), '__metadata__ has ["a"]'],
  [
    'metadata with a number',
    safetensorsFile({ __metadata__: { a: 'b', c: 1 } }),
    '__metadata__ has 1',
  ],
  ['a tensor that is null', safetensorsFile({ x: null }), 'tensor "x": is null'],
  ['a tensor that is a number', safetensorsFile({ x: 3 }), 'tensor "x": is 3'],
  [
    'no dtype',
    safetensorsFile({ x: { shape: [], data_offsets: [0, 4] } }, 4),
    'tensor "x": dtype is undefined',
  ],
  [
    'an unknown dtype',
    safetensorsFile({ x: info('F4', [4], [0, 2]) }, 2),
    'tensor "x": dtype is "F4"',
  ],
  [
    'a tensor of 8-bit floats',
    safetensorsFile({ a: info('U8', [1], [0, 1]), x: info('F8_E4M3', [2], [1, 3]) }, 3),
    'tensor "x": dtype is F8_E4M3',
  ],
  [
    '8-bit floats of another size',
    safetensorsFile({ x: info('F8_E5M2', [2], [0, 4]) }, 4),
    'tensor "x": data_offsets is [0, 4]',
  ],
  [
    'a dtype of JavaScript',
    safetensorsFile({ x: info('constructor', [2], [0, 2]) }, 2),
    'dtype is "constructor"',
  ],
  ['a dtype that is a number', safetensorsFile({ x: info(4, [2], [0, 2]) }, 2), 'dtype is 4'],
  [
    'no shape',
    safetensorsFile({ x: { dtype: 'F32', data_offsets: [0, 8] } }, 8),
    'tensor "x": shape is undefined',
  ],
  ['a shape that is a number', safetensorsFile({ x: info('F32', 2, [0, 8]) }, 8), 'shape is 2'],
  ['a negative size', shaped(-2), 'tensor "x": shape is [-2]'],
  ['two negative sizes', shaped(-2, -1), 'shape is [-2, -1]'],
  ['a size that is no integer', shaped(0.5, 4), 'shape is [0.5, 4]'],
  ['a size that is text', safetensorsFile({ x: info('F32', ['2'], [0, 8]) }, 8), 'shape is ["2"]'],
  ['a huge size', shaped(1e300), 'shape is [1e+300]'],
  [
    'a size of infinity',
    safetensorsFile('{"x":{"dtype":"F32","shape":[1e999],"data_offsets":[0,8]}}', 8),
    'shape is [Infinity]',
  ],
  [
    'sizes with a product above 2^53',
    shaped(2 ** 30, 2 ** 30),
    'shape is [1073741824, 1073741824]',
  ],
  ['sizes with a product of 2^64', shaped(2 ** 32, 2 ** 32), 'shape is [4294967296, 4294967296]'],
  ['65 axes', shaped(2, ...Array(64).fill(1)), 'tensor "x": shape is [2, 1, '],
  ['a shape larger than its bytes', shaped(3), 'tensor "x": data_offsets is [0, 8], 8 bytes'],
  ['a shape smaller than its bytes', shaped(), 'data_offsets is [0, 8], 8 bytes'],
  ['a shape of 2^50 that is not there', shaped(2 ** 50), 'data_offsets is [0, 8], 8 bytes'],
  ['no offsets', placed(undefined), 'tensor "x": data_offsets is undefined'],
  ['one offset', placed([8]), 'data_offsets is [8]'],
  ['three offsets', placed([0, 8, 8]), 'data_offsets is [0, 8, 8]'],
  ['offsets that are text', placed(['0', '8']), 'data_offsets is ["0", "8"]'],
  ['offsets that are no integers', placed([0.5, 8.5]), 'data_offsets is [0.5, 8.5]'],
  ['a negative offset', placed([-8, 0]), 'data_offsets is [-8, 0]'],
  ['huge offsets', placed([1e300, 1e300]), 'data_offsets is [1e+300, 1e+300]'],
  ['an end before the start', placed([8, 0]), 'data_offsets is [8, 0], -8 bytes'],
  [
    'data that begins later',
    safetensorsFile({ x: info('F32', [2], [8, 16]) }, 16),
    'tensor "x": begins at byte 8 of the data and leaves a hole before it',
  ],
  [
    'a hole',
    safetensorsFile({ ...two, b: info('I8', [3], [9, 12]) }, 12),
    'tensor "b": begins at byte 9 of the data and leaves a hole before it',
  ],
  [
    'an overlap',
    safetensorsFile({ ...two, b: info('I8', [3], [7, 10]) }, 11),
    'tensor "b": begins at byte 7 of the data and overlaps the bytes before it',
  ],
  [
    'the same bytes twice',
    safetensorsFile({ a: two.a, c: two.a }, 8),
    'tensor "c": begins at byte 0 of the data and overlaps the bytes before it',
  ],
  [
    'offsets beyond the file',
    safetensorsFile({ x: info('F32', [200], [0, 800]) }, 8),
    'tensor "x": truncated: its data ends at byte 800, but the file has 8 bytes of data',
  ],
  [
    'terabytes beyond the file',
    safetensorsFile({ x: info('U8', [2 ** 20, 2 ** 22], [0, 2 ** 42]) }, 8),
    'tensor "x": truncated: its data ends at byte 4398046511104',
  ],
  [
    'terabytes in one row',
    safetensorsFile({ x: info('U8', [1, 2 ** 42], [0, 2 ** 42]) }, 8),
    'tensor "x": truncated: its data ends at byte 4398046511104',
  ],
  [
    'data that lacks a byte',
    good.slice(0, -1),
    'tensor "x": truncated: its data ends at byte 8, but the file has 7 bytes of data',
  ],
  [
    'the last tensor missing',
    safetensorsFile(two, 8),
    'tensor "b": truncated: its data ends at byte 11, but the file has 8 bytes of data',
  ],
  ['a byte too many', safetensorsFile(text, 9), 'bytes follow tensor "x"'],
  ['a byte after no tensors', safetensorsFile('{}', 1), 'bytes follow the header'],
  [
    'a Git LFS pointer',
    new TextEncoder().encode('version https://git-lfs.github.com/spec/v1\noid sha256:0'),
    'begins with "version " (a Git LFS pointer? Then the file itself was not downloaded)',
  ],
  [
    'a checkpoint of torch.save',
    new TextEncoder().encode('PK\x03\x04\x00\x00\x08\x08archive'),
    '(a zip, as torch.save and numpy.savez write',
  ],
  ['a .npy file', goodNpy, '(a .npy file)'],
];

/** @type {[title: string, file: Uint8Array, came: string][]} */
const npy = [
  ['an empty file', new Uint8Array(0), 'begins with ""'],
  ['another kind of file', writeSafetensors({ x: tensor([1]) }), 'begins with'],
  ['only the first bytes', goodNpy.slice(0, 7), 'begins with'],
  ['another signature', goodNpy.with(5, 0), 'begins with ".NUMP..."'],
  ['version 0', npyFile(header, 12, { version: 0 }), 'is .npy version 0.0'],
  ['version 4', npyFile(header, 12, { version: 4 }), 'is .npy version 4.0'],
  ['no length', goodNpy.slice(0, 9), 'truncated: ends 1 bytes'],
  ['half a length', npyFile(header, 12, { version: 2 }).slice(0, 11), 'truncated: ends 3 bytes'],
  ['a header longer than the file', npyFile(header, 12, { length: 9999 }), '9999 bytes'],
  [
    'a header of 4 GB',
    npyFile(header, 12, { version: 2, length: 2 ** 32 - 1 }),
    'the header has 4294967295 bytes',
  ],
  ['no dictionary', npyFile('[1, 2]'), 'the header is [1, 2]'],
  ['no header', npyFile(''), 'the header cannot be parsed ('],
  [
    'an expression',
    npyFile(`{'descr': '<f4', 'fortran_order': False, 'shape': (1+2,)}`, 12),
    'the header cannot be parsed (',
  ],
  [
    'a key twice',
    npyFile(`{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (3,)}`, 24),
    'the header has the key "descr" twice',
  ],
  ['no type', npyFile(`{'fortran_order': False, 'shape': (3,)}`, 12), 'has descr undefined'],
  ['a type of 3 bytes', npyFile(header.replace('f4', 'f3'), 9), 'has descr "<f3"'],
  ['no order', npyFile(`{'descr': '<f4', 'shape': (3,)}`, 12), 'has fortran_order undefined'],
  [
    'an order that is text',
    npyFile(header.replace('False', `'False'`), 12),
    'has fortran_order "False"',
  ],
  ['no shape', npyFile(`{'descr': '<f4', 'fortran_order': False}`, 12), 'has shape undefined'],
  ['a shape that is a number', npyFile(header.replace('(3,)', '3'), 12), 'has shape 3'],
  ['a negative size', npyFile(header.replace('3', '-3'), 12), 'has shape [-3]'],
  ['a size that is no integer', npyFile(header.replace('3', '1.5'), 12), 'has shape [1.5]'],
  ['a shape within a shape', npyFile(header.replace('3', '(3,)'), 12), 'has shape [[…]]'],
  [
    'a product above 2^53',
    npyFile(header.replace('(3,)', '(1073741824, 1073741824)'), 12),
    'has shape [1073741824, 1073741824]',
  ],
  ['data that lacks a byte', goodNpy.slice(0, -1), 'truncated: 11 bytes of data'],
  ['no data', npyFile(header), 'truncated: 0 bytes of data'],
  [
    'a shape beyond all memory',
    npyFile(header.replace('(3,)', '(1048576, 1048576)'), 12),
    'truncated: 12 bytes of data; expected 4398046511104',
  ],
  ['a byte too many', npyFile(header, 13), 'bytes follow the data of shape [3]'],
];

for (const [kind, read, table] of /** @type {const} */ ([
  ['safetensors', readSafetensors, safetensors],
  ['npy', readNpy, npy],
])) {
  const wording = new Wording(kind);
  for (const [title, file, came] of table)
    test(`a .${kind} file is refused: ${title}`, async () => {
      for (const [from, source] of sourcesOf(file))
        await assert.rejects(read(source(), { name }), (error) => {
          isHeadwiseError(error, 'ERR_FORMAT', [`${name}: `, came]);
          return wording.add(title, /** @type {Error} */ (error).message, from);
        });
    });
  test(`refused .${kind} files are worded as tests/wording/${kind}.txt has it`, () =>
    wording.check());
}

test('an array larger than any memory is refused, of a file that begins as it should', async () => {
  const file = npyFile(header.replace('(3,)', '(1048576, 1048576)'), 2 ** 22);
  for (const [, source] of sourcesOf(file))
    await assert.rejects(readNpy(source()), (error) =>
      isHeadwiseError(error, 'ERR_MEMORY', ['1099511627776']),
    );
});

test('the files that refused ones were made of are read', async () => {
  assert.deepEqual([...(await readSafetensors(good)).tensors.x.data], [0, 0]);
  assert.ok((await readSafetensors(safetensorsFile(two, 11))).tensors.b);
  assert.deepEqual([...(await readNpy(npyFile(header, 12))).data], [0, 0, 0]);
  assert.deepEqual(
    [...(await readSafetensors(safetensorsFile(`${text}   `, 8))).tensors.x.shape],
    [2],
  );
});
