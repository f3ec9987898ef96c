// Tensor files: calls that cannot be answered, and how that is said.
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
import { data } from './helpers.js';
import { checkMessage, Wording } from './wording.js';

/** Past the types: what plain JavaScript can pass. */
const any = (/** @type {unknown} */ value) => /** @type {any} */ (value);
const good = writeSafetensors({ x: tensor([1]) });

/** @type {import('./bad-calls/table.js').BadCall[]} */
const badCalls = [
  ['no source', () => openSafetensors(any(undefined)), 'ERR_VALUE', 'source', 'undefined'],
  ['a number', () => readNpy(any(3)), 'ERR_VALUE', 'source', '3'],
  [
    'a Tensor',
    () => readSafetensors(any(data(1, [5, 3]))),
    'ERR_VALUE',
    'source',
    'a Tensor of shape [5, 3]',
  ],
  [
    'another option',
    () => openSafetensors(good, any({ nome: 1 })),
    'ERR_VALUE',
    'openSafetensors',
    'nome',
  ],
  ['a bad name', () => readNpy(good, any({ name: 1 })), 'ERR_VALUE', 'name', '1'],
  [
    'a bad signal',
    () => readNpy(good, any({ signal: {} })),
    'ERR_VALUE',
    'signal',
    'a value of type Object',
  ],
  [
    'a bad pieceBytes',
    () => readSafetensors(good, { pieceBytes: 0 }),
    'ERR_VALUE',
    'pieceBytes',
    '0',
  ],
  ['a bad wants', () => readSafetensors(good, any({ wants: 'x' })), 'ERR_VALUE', 'wants', '"x"'],
  [
    'a wants that gives promises, all of which are true',
    () => readSafetensors(good, any({ wants: async () => false })),
    'ERR_VALUE',
    'wants("x")',
    'a value of type Promise; expected true or false',
  ],
  [
    'a bad onProgress',
    () => readSafetensors(good, any({ onProgress: 1 })),
    'ERR_VALUE',
    'onProgress',
    '1',
  ],
  ['no tensors', () => writeSafetensors(any(undefined)), 'ERR_VALUE', 'tensors', 'undefined'],
  ['an array for tensors', () => writeSafetensors(any([1])), 'ERR_VALUE', 'tensors', '[1]'],
  [
    'a Map for tensors',
    () => writeSafetensors(any(new Map([['x', tensor([1])]]))),
    'ERR_VALUE',
    'tensors',
    'a value of type Map',
  ],
  [
    'a state dict that was not awaited',
    () => writeSafetensors(any(Promise.resolve({ x: tensor([1]) }))),
    'ERR_VALUE',
    'tensors',
    'a value of type Promise',
  ],
  [
    'an optimizer for its state dict',
    () => writeSafetensors(any(new (class AdamW {})())),
    'ERR_VALUE',
    'tensors',
    'a value of type AdamW',
  ],
  [
    'no Tensor among them',
    () => writeSafetensors(any({ a: [1] })),
    'ERR_VALUE',
    'tensors["a"]',
    '[1]',
  ],
  [
    'the reserved name',
    () => writeSafetensors({ __metadata__: tensor([1]) }),
    'ERR_VALUE',
    'tensors',
    '__metadata__',
  ],
  ['metadata that is text', () => writeSafetensors({}, any('x')), 'ERR_VALUE', 'metadata', '"x"'],
  [
    'metadata in a Map',
    () => writeSafetensors({}, any(new Map([['format', 'pt']]))),
    'ERR_VALUE',
    'metadata',
    'a value of type Map',
  ],
  [
    'metadata with a number',
    () => writeSafetensors({}, any({ a: 1 })),
    'ERR_VALUE',
    'metadata["a"]',
    '1',
  ],
  [
    'half of a character in a name',
    () => writeSafetensors({ 'a\ud800': tensor([1]) }),
    'ERR_VALUE',
    'tensors has the name',
    'lone surrogate',
  ],
  [
    'half of a character in metadata',
    () => writeSafetensors({}, { a: '\udc00b' }),
    'ERR_VALUE',
    'metadata has',
    'lone surrogate',
  ],
  [
    'writeNpy as another dtype',
    () => any(writeNpy)(tensor([1]), { dtype: 'float16' }),
    'ERR_VALUE',
    'writeNpy',
    'dtype',
  ],
  ['writeNpy of an array', () => writeNpy(any([1])), 'ERR_VALUE', 'tensor', '[1]'],
  [
    'more axes than files have',
    () => writeNpy(Object.assign(tensor([1]), { shape: Array(65).fill(1) })),
    'ERR_SHAPE',
    'the shape of tensor',
    '65 dimensions',
  ],
];

const wording = new Wording('formats');

for (const [title, call, code, subject, came] of badCalls)
  test(`${title}: ${code}`, () =>
    assert.rejects(
      async () => call(),
      (error) => wording.add(title, checkMessage(error, code, subject, came)),
    ));

test('bad calls of formats are worded as tests/wording/formats.txt has it', () => wording.check());
