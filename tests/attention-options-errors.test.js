// Bad options of scaledDotProductAttention: each fails in words, and the engine still computes the course's table.
import { afterEach, test } from 'node:test';
import { tensor, zeros } from 'headwise';
import { data, engine, throwsCode } from './helpers.js';
import { checkFused } from './seeds.js';

const hw = await engine();
const q = data(1, [2, 4, 6, 3]);
const k = data(2, [2, 2, 9, 3]);
const v = data(3, [2, 2, 9, 5]);
const bool = tensor([[true, false]]);

afterEach(() => checkFused(hw));

/** Past the types: what plain JavaScript can pass. */
const any = (/** @type {unknown} */ value) => /** @type {any} */ (value);

/** @param {any} options */
const ask = (options) => hw.scaledDotProductAttention(q, k, v, { enableGqa: true, ...options });

/** @param {number[]} key @param {number[]} [value] */
const past = (key, value = [...key.slice(0, -1), 5]) => ({
  past: { key: zeros(key), value: zeros(value) },
});

const ranges = ['0', '1e-30', '1e30'];
const integers = ['2 integers', '0 to 9'];
const kinds = ["'scores'", "'softcapped'", "'masked'"];

/** @type {[string, any, string, (string | RegExp)[]][]} */
const cases = [
  ['fewer heads without enableGqa', { enableGqa: false }, 'ERR_SHAPE', ['k', '[2, 2, 9, 3]', '4']],
  ['enableGqa that is no boolean', { enableGqa: 1 }, 'ERR_VALUE', ['enableGqa', '1', 'true']],
  ['a softcap below zero', { softcap: -1 }, 'ERR_VALUE', ['softcap', '-1', ...ranges]],
  ['a softcap that is no number', { softcap: '5' }, 'ERR_VALUE', ['softcap', '"5"', ...ranges]],
  ['a softcap of NaN', { softcap: NaN }, 'ERR_VALUE', ['softcap', 'NaN', ...ranges]],
  ['an infinite softcap', { softcap: Infinity }, 'ERR_VALUE', ['softcap', 'Infinity', ...ranges]],
  ['a tiny softcap', { softcap: 1e-31 }, 'ERR_VALUE', ['softcap', '1e-31', ...ranges]],
  [
    'a length for one entry of two',
    { kvLengths: [9] },
    'ERR_VALUE',
    ['kvLengths', '[9]', ...integers],
  ],
  [
    'a length beyond the keys',
    { kvLengths: [9, 10] },
    'ERR_VALUE',
    ['kvLengths', '10', ...integers],
  ],
  ['a length below zero', { kvLengths: [-1, 9] }, 'ERR_VALUE', ['kvLengths', '-1', ...integers]],
  ['half a length', { kvLengths: [1.5, 9] }, 'ERR_VALUE', ['kvLengths', '1.5', ...integers]],
  ['lengths that are no array', { kvLengths: 9 }, 'ERR_VALUE', ['kvLengths', '9', ...integers]],
  ['a past that is a tensor', { past: k }, 'ERR_VALUE', ['past', 'key, value']],
  ['a past of nothing', { past: null }, 'ERR_VALUE', ['past', 'null']],
  ['a past without values', { past: { key: k } }, 'ERR_VALUE', ['past.value', 'undefined']],
  ['a past of booleans', { past: { key: bool, value: bool } }, 'ERR_VALUE', ['past.key', 'bool']],
  [
    'a past of more heads',
    past([2, 4, 1, 3]),
    'ERR_SHAPE',
    ['past.key', '[2, 4, 1, 3]', '[2, 2, n, 3]'],
  ],
  ['a past of another batch', past([1, 2, 1, 3]), 'ERR_SHAPE', ['past.key', '[2, 2, n, 3]']],
  [
    'a past of another rank',
    past([2, 1, 3]),
    'ERR_SHAPE',
    ['past.key', '[2, 1, 3]', '[2, 2, n, 3]'],
  ],
  ['a past of another width', past([2, 2, 1, 4]), 'ERR_SHAPE', ['past.key', '[2, 2, n, 3]']],
  [
    'past values of other tokens',
    past([2, 2, 4, 3], [2, 2, 3, 5]),
    'ERR_SHAPE',
    ['past.value', '[2, 2, 3, 5]', '[2, 2, 4, 5]'],
  ],
  [
    'past values of the keys’ width',
    past([2, 2, 4, 3], [2, 2, 4, 3]),
    'ERR_SHAPE',
    ['past.value', '[2, 2, 4, 5]'],
  ],
  ['a dropoutP above one', { dropoutP: 1.1 }, 'ERR_VALUE', ['dropoutP', '1.1', '0 to 1']],
  ['a dropoutP that is no number', { dropoutP: '0' }, 'ERR_VALUE', ['dropoutP', '"0"']],
  [
    'an unknown kind of weights',
    { needWeights: 'probabilities' },
    'ERR_VALUE',
    ['needWeights', '"probabilities"', ...kinds],
  ],
  ['weights by a number', { needWeights: 1 }, 'ERR_VALUE', ['needWeights', '1', ...kinds]],
  [
    'a mask that forgets the past',
    { ...past([2, 2, 3, 3]), mask: zeros([5, 12]) },
    'ERR_SHAPE',
    ['mask', '[5, 12]', '[2, 4, 6, 12]'],
  ],
  [
    'an offset beyond 32 bits',
    { causalOffset: 2 ** 31 },
    'ERR_VALUE',
    ['causalOffset', '2147483648'],
  ],
];

for (const [name, options, code, parts] of cases)
  test(`${name}: ${code}`, () => throwsCode(() => ask(options), code, ...parts));

test('heads that do not divide evenly are refused, naming both', () => {
  const three = data(4, [2, 3, 9, 3]);
  const call = () => hw.scaledDotProductAttention(q, three, three, { enableGqa: true });
  throwsCode(call, 'ERR_SHAPE', 'k', '[2, 3, 9, 3]', '[2, heads that divide 4, Lkv, 3]');
});

test('values have as many heads as keys', () => {
  const more = data(4, [2, 4, 9, 3]);
  const call = () => hw.scaledDotProductAttention(q, k, more, { enableGqa: true });
  throwsCode(call, 'ERR_SHAPE', 'v', '[2, 4, 9, 3]', '[2, 2, 9, Ev]');
});

test('a result that no memory holds is refused, and the next call works', () => {
  const one = zeros([1, 1, 65536, 1]);
  for (const needWeights of /** @type {const} */ ([true, 'scores', 'masked']))
    throwsCode(
      () => hw.scaledDotProductAttention(one, one, one, any({ needWeights, softcap: 1 })),
      'ERR_MEMORY',
    );
  ask({ kvLengths: [9, 0], softcap: 3, needWeights: 'masked' });
});
