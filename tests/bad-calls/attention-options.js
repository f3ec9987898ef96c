// Bad options of scaledDotProductAttention.
import { tensor, zeros } from 'headwise';
import { any } from './table.js';

/** @param {number[]} key @param {number[]} [value] */
const past = (key, value = [...key.slice(0, -1), 5]) => ({
  past: { key: zeros(key), value: zeros(value) },
});

/**
 * @param {import('./table.js').Engine} hw
 * @returns {import('./table.js').BadCall[]}
 */
export function attentionOptions(hw) {
  const q = zeros([2, 4, 6, 3]);
  const k = zeros([2, 2, 9, 3]);
  const v = zeros([2, 2, 9, 5]);
  const attend = hw.scaledDotProductAttention.bind(hw);
  const ask = (/** @type {any} */ options) => () =>
    attend(q, k, v, { enableGqa: true, ...options });
  return [
    [
      'options that are a mask',
      () => attend(q, q, q, any(zeros([6, 6]))),
      'ERR_VALUE',
      'scaledDotProductAttention: options',
      'a Tensor of shape [6, 6]',
    ],
    [
      'options that are true',
      () => attend(q, q, q, any(true)),
      'ERR_VALUE',
      'scaledDotProductAttention: options',
      'true',
    ],
    [
      'options that are null',
      () => attend(q, q, q, any(null)),
      'ERR_VALUE',
      'scaledDotProductAttention: options',
      'null',
    ],
    [
      'an unknown option',
      ask({ causal: true }),
      'ERR_VALUE',
      'scaledDotProductAttention',
      'causal',
    ],
    [
      "torch's spelling of an option",
      ask({ is_causal: true }),
      'ERR_VALUE',
      'scaledDotProductAttention',
      'is_causal',
    ],
    ['fewer heads without enableGqa', ask({ enableGqa: false }), 'ERR_SHAPE', 'k', '[2, 2, 9, 3]'],
    ['enableGqa that is no boolean', ask({ enableGqa: 1 }), 'ERR_VALUE', 'enableGqa', '1'],
    ['isCausal that is no boolean', ask({ isCausal: 1 }), 'ERR_VALUE', 'isCausal', '1'],
    ['isCausal as text', ask({ isCausal: 'false' }), 'ERR_VALUE', 'isCausal', '"false"'],
    ['a mask that does not fit', ask({ mask: zeros([5, 9]) }), 'ERR_SHAPE', 'mask', '[5, 9]'],
    ['a mask with too many keys', ask({ mask: zeros([10]) }), 'ERR_SHAPE', 'mask', '[10]'],
    [
      'a mask of the heads of keys',
      ask({ mask: zeros([2, 2, 6, 9]) }),
      'ERR_SHAPE',
      'mask',
      '[2, 2, 6, 9]',
    ],
    [
      'a mask of rank 5',
      ask({ mask: zeros([1, 2, 4, 6, 9]) }),
      'ERR_SHAPE',
      'mask',
      '[1, 2, 4, 6, 9]',
    ],
    ['an array as mask', ask({ mask: [[1]] }), 'ERR_VALUE', 'mask', '[[…]]'],
    [
      'an object with a shape as mask',
      ask({ mask: { shape: [6, 9] } }),
      'ERR_VALUE',
      'mask',
      'an Object of shape [6, 9]',
    ],
    [
      'a mask that forgets the past',
      ask({ ...past([2, 2, 3, 3]), mask: zeros([5, 12]) }),
      'ERR_SHAPE',
      'mask',
      '[5, 12]',
    ],
    ['a scale that is no number', ask({ scale: '1' }), 'ERR_VALUE', 'scale', '"1"'],
    ['a scale of NaN', ask({ scale: NaN }), 'ERR_VALUE', 'scale', 'NaN'],
    ['an infinite scale', ask({ scale: -Infinity }), 'ERR_VALUE', 'scale', '-Infinity'],
    ['a scale beyond float32', ask({ scale: 1e39 }), 'ERR_VALUE', 'scale', '1e+39'],
    [
      'half an offset',
      ask({ isCausal: true, causalOffset: 0.5 }),
      'ERR_VALUE',
      'causalOffset',
      '0.5',
    ],
    [
      'an offset beyond 32 bits',
      ask({ causalOffset: 2 ** 31 }),
      'ERR_VALUE',
      'causalOffset',
      '2147483648',
    ],
    ['an offset as text', ask({ causalOffset: '1' }), 'ERR_VALUE', 'causalOffset', '"1"'],
    ['a window of one side', ask({ window: [1] }), 'ERR_VALUE', 'window', '[1]'],
    ['a window that is a number', ask({ window: 4 }), 'ERR_VALUE', 'window', '4'],
    ['a window of less than nothing', ask({ window: [-2, 0] }), 'ERR_VALUE', 'window', '[-2, 0]'],
    ['an infinite window', ask({ window: [Infinity, 0] }), 'ERR_VALUE', 'window', '[Infinity, 0]'],
    ['a softcap below zero', ask({ softcap: -1 }), 'ERR_VALUE', 'softcap', '-1'],
    ['a softcap that is no number', ask({ softcap: '5' }), 'ERR_VALUE', 'softcap', '"5"'],
    ['a softcap of NaN', ask({ softcap: NaN }), 'ERR_VALUE', 'softcap', 'NaN'],
    ['an infinite softcap', ask({ softcap: Infinity }), 'ERR_VALUE', 'softcap', 'Infinity'],
    ['a tiny softcap', ask({ softcap: 1e-31 }), 'ERR_VALUE', 'softcap', '1e-31'],
    ['a length for one entry of two', ask({ kvLengths: [9] }), 'ERR_VALUE', 'kvLengths', '[9]'],
    ['a length beyond the keys', ask({ kvLengths: [9, 10] }), 'ERR_VALUE', 'kvLengths', '[9, 10]'],
    ['a length below zero', ask({ kvLengths: [-1, 9] }), 'ERR_VALUE', 'kvLengths', '[-1, 9]'],
    ['half a length', ask({ kvLengths: [1.5, 9] }), 'ERR_VALUE', 'kvLengths', '[1.5, 9]'],
    ['lengths that are no array', ask({ kvLengths: 9 }), 'ERR_VALUE', 'kvLengths', '9'],
    [
      'half a length in a typed array',
      ask({ kvLengths: Float32Array.of(1.5, 9) }),
      'ERR_VALUE',
      'kvLengths',
      'a Float32Array of length 2',
    ],
    [
      'a past that is a tensor',
      ask({ past: k }),
      'ERR_VALUE',
      'past',
      'a Tensor of shape [2, 2, 9, 3]',
    ],
    ['a past without values', ask({ past: { key: k } }), 'ERR_VALUE', 'past.value', 'undefined'],
    [
      'a past of booleans',
      ask({ past: { key: tensor([[true]]), value: v } }),
      'ERR_VALUE',
      'past.key',
      'bool',
    ],
    ['a past of more heads', ask(past([2, 4, 1, 3])), 'ERR_SHAPE', 'past.key', '[2, 4, 1, 3]'],
    ['a past of another batch', ask(past([1, 2, 1, 3])), 'ERR_SHAPE', 'past.key', '[1, 2, 1, 3]'],
    ['a past of another rank', ask(past([2, 1, 3])), 'ERR_SHAPE', 'past.key', '[2, 1, 3]'],
    ['a past of another width', ask(past([2, 2, 1, 4])), 'ERR_SHAPE', 'past.key', '[2, 2, 1, 4]'],
    [
      'past values of other tokens',
      ask(past([2, 2, 4, 3], [2, 2, 3, 5])),
      'ERR_SHAPE',
      'past.value',
      '[2, 2, 3, 5]',
    ],
    [
      'past values of the keys’ width',
      ask(past([2, 2, 4, 3], [2, 2, 4, 3])),
      'ERR_SHAPE',
      'past.value',
      '[2, 2, 4, 3]',
    ],
    ['a dropoutP above one', ask({ dropoutP: 1.1 }), 'ERR_VALUE', 'dropoutP', '1.1'],
    ['a dropoutP that is no number', ask({ dropoutP: '0' }), 'ERR_VALUE', 'dropoutP', '"0"'],
    [
      'an unknown kind of weights',
      ask({ needWeights: 'probabilities' }),
      'ERR_VALUE',
      'needWeights',
      '"probabilities"',
    ],
    ['weights by a number', ask({ needWeights: 1 }), 'ERR_VALUE', 'needWeights', '1'],
  ];
}
