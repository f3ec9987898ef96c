// Bad operands of scaledDotProductAttention.
import { tensor, zeros } from 'headwise';
import { any } from './table.js';

/**
 * @param {import('./table.js').Engine} hw
 * @returns {import('./table.js').BadCall[]}
 */
export function operands(hw) {
  const attend = hw.scaledDotProductAttention.bind(hw);
  const x = zeros([2, 6, 3]);
  const four = zeros([2, 4, 6, 3]);
  return [
    ['q of rank 1', () => attend(zeros([3]), zeros([3]), zeros([3])), 'ERR_SHAPE', 'q', '[3]'],
    [
      'q of rank 5',
      () => attend(zeros([1, 1, 1, 2, 3]), x, x),
      'ERR_SHAPE',
      'q',
      '[1, 1, 1, 2, 3]',
    ],
    ['an array as q', () => attend(any([[1]]), x, x), 'ERR_VALUE', 'q', '[[…]]'],
    ['no k', () => any(attend)(x), 'ERR_VALUE', 'k', 'undefined'],
    [
      'options for v',
      () => any(attend)(x, x, { isCausal: true }),
      'ERR_VALUE',
      'v',
      'a value of type Object',
    ],
    [
      'a bool v',
      () => attend(tensor([[1]]), tensor([[1]]), any(tensor([[true]]))),
      'ERR_VALUE',
      'v',
      'bool',
    ],
    ['ranks that differ', () => attend(zeros([6, 3]), x, x), 'ERR_SHAPE', 'k', '[2, 6, 3]'],
    ['k of another width', () => attend(x, zeros([2, 6, 4]), x), 'ERR_SHAPE', 'k', '[2, 6, 4]'],
    ['k of another batch', () => attend(x, zeros([3, 6, 3]), x), 'ERR_SHAPE', 'k', '[3, 6, 3]'],
    ['v of another length', () => attend(x, x, zeros([2, 5, 3])), 'ERR_SHAPE', 'v', '[2, 5, 3]'],
    ['v of another batch', () => attend(x, x, zeros([1, 6, 3])), 'ERR_SHAPE', 'v', '[1, 6, 3]'],
    ['queries of no width', () => attend(zeros([6, 0]), x, x), 'ERR_SHAPE', 'q', '[6, 0]'],
    ['values of no width', () => attend(x, x, zeros([2, 6, 0])), 'ERR_SHAPE', 'v', '[2, 6, 0]'],
    [
      'heads that do not divide evenly',
      () => attend(four, zeros([2, 3, 9, 3]), zeros([2, 3, 9, 3]), { enableGqa: true }),
      'ERR_SHAPE',
      'k',
      '[2, 3, 9, 3]',
    ],
    [
      'more heads of values than of keys',
      () => attend(four, zeros([2, 2, 9, 3]), zeros([2, 4, 9, 3]), { enableGqa: true }),
      'ERR_SHAPE',
      'v',
      '[2, 4, 9, 3]',
    ],
    [
      'weights that no memory holds',
      () => attend(zeros([65536, 1]), zeros([65536, 1]), zeros([65536, 1]), { needWeights: true }),
      'ERR_MEMORY',
      '17180917904 bytes of inputs and results',
    ],
  ];
}
