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
      'scaledDotProductAttention: options is a Tensor of shape [6, 6]; expected an object of isCausal, causalOffset, mask',
    ],
    [
      'options that are true',
      () => attend(q, q, q, any(true)),
      'ERR_VALUE',
      'scaledDotProductAttention: options is true; expected an object of isCausal, causalOffset, mask',
    ],
    [
      'options that are null',
      () => attend(q, q, q, any(null)),
      'ERR_VALUE',
      'scaledDotProductAttention: options is null; expected an object of isCausal, causalOffset, mask',
    ],
    [
      'an unknown option',
      ask({ causal: true }),
      'ERR_VALUE',
      'scaledDotProductAttention: unknown option causal; expected isCausal, causalOffset, mask, scale, softcap',
    ],
    [
      "torch's spelling of an option",
      ask({ is_causal: true }),
      'ERR_VALUE',
      'scaledDotProductAttention: unknown option is_causal; expected isCausal, causalOffset, mask, scale, softcap',
    ],
    [
      'fewer heads without enableGqa',
      ask({ enableGqa: false }),
      'ERR_SHAPE',
      'k has shape [2, 2, 9, 3]; expected [2, 4, Lkv, 3], to go with q of shape [2, 4, 6, 3]',
    ],
    [
      'enableGqa that is no boolean',
      ask({ enableGqa: 1 }),
      'ERR_VALUE',
      'enableGqa is 1; expected true or false',
    ],
    [
      'isCausal that is no boolean',
      ask({ isCausal: 1 }),
      'ERR_VALUE',
      'isCausal is 1; expected true or false',
    ],
    [
      'isCausal as text',
      ask({ isCausal: 'false' }),
      'ERR_VALUE',
      'isCausal is "false"; expected true or false',
    ],
    [
      'a mask that does not fit',
      ask({ mask: zeros([5, 9]) }),
      'ERR_SHAPE',
      'mask has shape [5, 9]; expected […, Lq, Lkv], broadcast to [2, 4, 6, 9]',
    ],
    [
      'a mask with too many keys',
      ask({ mask: zeros([10]) }),
      'ERR_SHAPE',
      'mask has shape [10]; expected […, Lq, Lkv], broadcast to [2, 4, 6, 9]',
    ],
    [
      'a mask of the heads of keys',
      ask({ mask: zeros([2, 2, 6, 9]) }),
      'ERR_SHAPE',
      'mask has shape [2, 2, 6, 9]; expected […, Lq, Lkv], broadcast to [2, 4, 6, 9]',
    ],
    [
      'a mask of rank 5',
      ask({ mask: zeros([1, 2, 4, 6, 9]) }),
      'ERR_SHAPE',
      'mask has shape [1, 2, 4, 6, 9]; expected at most the rank of the scores, [2, 4, 6, 9]',
    ],
    [
      'a mask of rank 0',
      ask({ mask: zeros([]) }),
      'ERR_SHAPE',
      'mask has shape []; expected […, Lq, Lkv], broadcast to [2, 4, 6, 9]',
    ],
    [
      'an array as mask',
      ask({ mask: [[1]] }),
      'ERR_VALUE',
      'mask is [[…]]; expected a Tensor (tensor(…) makes one of nested arrays)',
    ],
    ['null as mask', ask({ mask: null }), 'ERR_VALUE', 'mask is null; expected a Tensor'],
    [
      'an object with a shape as mask',
      ask({ mask: { shape: [6, 9] } }),
      'ERR_VALUE',
      'mask is an Object of shape [6, 9]; expected a Tensor',
    ],
    [
      'a mask that forgets the past',
      ask({ ...past([2, 2, 3, 3]), mask: zeros([5, 12]) }),
      'ERR_SHAPE',
      'mask has shape [5, 12]; expected […, Lq, Lkv], broadcast to [2, 4, 6, 12]',
    ],
    [
      'a scale that is no number',
      ask({ scale: '1' }),
      'ERR_VALUE',
      'scale is "1"; expected a number that is finite in float32',
    ],
    [
      'a scale of NaN',
      ask({ scale: NaN }),
      'ERR_VALUE',
      'scale is NaN; expected a number that is finite in float32',
    ],
    [
      'an infinite scale',
      ask({ scale: -Infinity }),
      'ERR_VALUE',
      'scale is -Infinity; expected a number that is finite in float32',
    ],
    [
      'a scale beyond float32',
      ask({ scale: 1e39 }),
      'ERR_VALUE',
      'scale is 1e+39; expected a number that is finite in float32',
    ],
    [
      'half an offset',
      ask({ isCausal: true, causalOffset: 0.5 }),
      'ERR_VALUE',
      'causalOffset is 0.5; expected an integer below 2^31',
    ],
    [
      'an offset beyond 32 bits',
      ask({ causalOffset: 2 ** 31 }),
      'ERR_VALUE',
      'causalOffset is 2147483648; expected an integer below 2^31',
    ],
    [
      'an offset as text',
      ask({ causalOffset: '1' }),
      'ERR_VALUE',
      'causalOffset is "1"; expected an integer below 2^31',
    ],
    [
      'a window of one side',
      ask({ window: [1] }),
      'ERR_VALUE',
      'window is [1]; expected [left, right], integers of at least -1 (-1: unlimited)',
    ],
    [
      'a window that is a number',
      ask({ window: 4 }),
      'ERR_VALUE',
      'window is 4; expected [left, right], integers of at least -1 (-1: unlimited)',
    ],
    [
      'a window of less than nothing',
      ask({ window: [-2, 0] }),
      'ERR_VALUE',
      'window is [-2, 0]; expected [left, right], integers of at least -1 (-1: unlimited)',
    ],
    [
      'an infinite window',
      ask({ window: [Infinity, 0] }),
      'ERR_VALUE',
      'window is [Infinity, 0]; expected [left, right], integers of at least -1 (-1: unlimited)',
    ],
    [
      'a softcap below zero',
      ask({ softcap: -1 }),
      'ERR_VALUE',
      'softcap is -1; expected 0 or a number from 1e-30 to 1e30',
    ],
    [
      'a softcap that is no number',
      ask({ softcap: '5' }),
      'ERR_VALUE',
      'softcap is "5"; expected 0 or a number from 1e-30 to 1e30',
    ],
    [
      'a softcap of NaN',
      ask({ softcap: NaN }),
      'ERR_VALUE',
      'softcap is NaN; expected 0 or a number from 1e-30 to 1e30',
    ],
    [
      'an infinite softcap',
      ask({ softcap: Infinity }),
      'ERR_VALUE',
      'softcap is Infinity; expected 0 or a number from 1e-30 to 1e30',
    ],
    [
      'a tiny softcap',
      ask({ softcap: 1e-31 }),
      'ERR_VALUE',
      'softcap is 1e-31; expected 0 or a number from 1e-30 to 1e30',
    ],
    [
      'a length for one entry of two',
      ask({ kvLengths: [9] }),
      'ERR_VALUE',
      'kvLengths is [9]; expected an array of 2 integers from 0 to 9, one for each batch entry',
    ],
    [
      'a length beyond the keys',
      ask({ kvLengths: [9, 10] }),
      'ERR_VALUE',
      'kvLengths is [9, 10]; expected an array of 2 integers from 0 to 9, one for each batch entry',
    ],
    [
      'a length below zero',
      ask({ kvLengths: [-1, 9] }),
      'ERR_VALUE',
      'kvLengths is [-1, 9]; expected an array of 2 integers from 0 to 9, one for each batch entry',
    ],
    [
      'half a length',
      ask({ kvLengths: [1.5, 9] }),
      'ERR_VALUE',
      'kvLengths is [1.5, 9]; expected an array of 2 integers from 0 to 9, one for each batch entry',
    ],
    [
      'lengths that are no array',
      ask({ kvLengths: 9 }),
      'ERR_VALUE',
      'kvLengths is 9; expected an array of 2 integers from 0 to 9, one for each batch entry',
    ],
    [
      'lengths in a typed array',
      ask({ kvLengths: Uint32Array.of(9, 9) }),
      'ERR_VALUE',
      'kvLengths is a value of type Uint32Array; expected an array of 2 integers from 0 to 9, one for each batch entry',
    ],
    [
      'a past that is a tensor',
      ask({ past: k }),
      'ERR_VALUE',
      'past is a Tensor of shape [2, 2, 9, 3]; expected an object of key, value',
    ],
    [
      'a past of nothing',
      ask({ past: null }),
      'ERR_VALUE',
      'past is null; expected an object of key, value',
    ],
    [
      'a past without values',
      ask({ past: { key: k } }),
      'ERR_VALUE',
      'past.value is undefined; expected a Tensor',
    ],
    [
      'a past of booleans',
      ask({ past: { key: tensor([[true]]), value: v } }),
      'ERR_VALUE',
      'past.key has dtype bool; expected float32',
    ],
    [
      'a past of more heads',
      ask(past([2, 4, 1, 3])),
      'ERR_SHAPE',
      'past.key has shape [2, 4, 1, 3]; expected [2, 2, n, 3]',
    ],
    [
      'a past of another batch',
      ask(past([1, 2, 1, 3])),
      'ERR_SHAPE',
      'past.key has shape [1, 2, 1, 3]; expected [2, 2, n, 3]',
    ],
    [
      'a past of another rank',
      ask(past([2, 1, 3])),
      'ERR_SHAPE',
      'past.key has shape [2, 1, 3]; expected [2, 2, n, 3]',
    ],
    [
      'a past of another width',
      ask(past([2, 2, 1, 4])),
      'ERR_SHAPE',
      'past.key has shape [2, 2, 1, 4]; expected [2, 2, n, 3]',
    ],
    [
      'past values of other tokens',
      ask(past([2, 2, 4, 3], [2, 2, 3, 5])),
      'ERR_SHAPE',
      'past.value has shape [2, 2, 3, 5]; expected [2, 2, 4, 5]',
    ],
    [
      'past values of the keys’ width',
      ask(past([2, 2, 4, 3], [2, 2, 4, 3])),
      'ERR_SHAPE',
      'past.value has shape [2, 2, 4, 3]; expected [2, 2, 4, 5]',
    ],
    [
      'a dropoutP above one',
      ask({ dropoutP: 1.1 }),
      'ERR_VALUE',
      'dropoutP is 1.1; expected a number from 0 to 1',
    ],
    [
      'a dropoutP that is no number',
      ask({ dropoutP: '0' }),
      'ERR_VALUE',
      'dropoutP is "0"; expected a number from 0 to 1',
    ],
    [
      'an unknown kind of weights',
      ask({ needWeights: 'probabilities' }),
      'ERR_VALUE',
      "needWeights is \"probabilities\"; expected true, false, 'scores', 'softcapped' or 'masked'",
    ],
    [
      'weights by a number',
      ask({ needWeights: 1 }),
      'ERR_VALUE',
      "needWeights is 1; expected true, false, 'scores', 'softcapped' or 'masked'",
    ],
  ];
}
