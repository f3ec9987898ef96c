// Bad calls of what is computed element by element, of sums, lookups and losses.
import { tensor, zeros } from 'headwise';
import { boolData } from '../helpers.js';
import { any } from './table.js';

/**
 * @param {import('./table.js').Engine} hw
 * @returns {import('./table.js').BadCall[]}
 */
export const elementwise = (hw) => [
  [
    'add of shapes that do not broadcast',
    () => hw.add(zeros([2, 3]), zeros([2])),
    'ERR_SHAPE',
    'a',
    '[2, 3] and b [2]',
  ],
  [
    'add of nothing and several',
    () => hw.add(zeros([0, 3]), zeros([2, 3])),
    'ERR_SHAPE',
    'a',
    '[0, 3] and b [2, 3]',
  ],
  ['subtract with a text', () => hw.subtract(zeros([2]), any('1')), 'ERR_VALUE', 'b', '"1"'],
  [
    'multiply by a mask',
    () => hw.multiply(zeros([2]), any(boolData(1, [2]))),
    'ERR_VALUE',
    'b',
    'bool',
  ],
  ['multiply of an array', () => hw.multiply(any([1, 2]), 1), 'ERR_VALUE', 'a', '[1, 2]'],
  [
    'sum along an axis too many',
    () => hw.sum(zeros([2, 3]), { axis: 2 }),
    'ERR_VALUE',
    'axis',
    '2',
  ],
  [
    'sum along one axis twice',
    () => hw.sum(zeros([2, 3]), { axis: [1, -1] }),
    'ERR_VALUE',
    'axis',
    '[1, -1]',
  ],
  [
    'mean along half an axis',
    () => hw.mean(zeros([2, 3]), { axis: 0.5 }),
    'ERR_VALUE',
    'axis',
    '0.5',
  ],
  [
    'mean along a named axis',
    () => hw.mean(zeros([2, 3]), { axis: any('x') }),
    'ERR_VALUE',
    'axis',
    '"x"',
  ],
  ['sum over torch’s dim', () => hw.sum(zeros([2]), any({ dim: 0 })), 'ERR_VALUE', 'sum', 'dim'],
  [
    'sum that keeps a number',
    () => hw.sum(zeros([2]), { keepDim: any(1) }),
    'ERR_VALUE',
    'keepDim',
    '1',
  ],
  ['dropout of more than all', () => hw.dropout(zeros([2]), { p: 1.5 }), 'ERR_VALUE', 'p', '1.5'],
  [
    'embedding of an id too high',
    () => hw.embedding([0, 3], zeros([3, 2])),
    'ERR_VALUE',
    'ids[1]',
    '3',
  ],
  ['embedding in a vector', () => hw.embedding([0], zeros([3])), 'ERR_SHAPE', 'weight', '[3]'],
  ['embedding in nothing', () => hw.embedding([0], zeros([0, 3])), 'ERR_SHAPE', 'weight', '[0, 3]'],
  [
    'mseLoss of two shapes',
    () => hw.mseLoss(zeros([2, 3]), zeros([3])),
    'ERR_SHAPE',
    'target',
    '[3]',
  ],
  [
    'mseLoss with a reduction that there is not',
    () => hw.mseLoss(zeros([2]), zeros([2]), { reduction: any('max') }),
    'ERR_VALUE',
    'reduction',
    '"max"',
  ],
  [
    'crossEntropy of a class that there is not',
    () => hw.crossEntropy(zeros([2, 3]), [0, 3]),
    'ERR_VALUE',
    'targets[1]',
    '3',
  ],
  [
    'crossEntropy of too many targets',
    () => hw.crossEntropy(zeros([2, 3]), [0, 1, 2]),
    'ERR_SHAPE',
    'targets',
    '[3]',
  ],
  [
    'crossEntropy with another target to ignore',
    () => hw.crossEntropy(zeros([2, 3]), [-100, 1], { ignoreIndex: -1 }),
    'ERR_VALUE',
    'targets[0]',
    '-100',
  ],
  [
    'crossEntropy that smooths too much',
    () => hw.crossEntropy(zeros([2, 3]), [0, 1], { labelSmoothing: 2 }),
    'ERR_VALUE',
    'labelSmoothing',
    '2',
  ],
  [
    'crossEntropy that ignores half a class',
    () => hw.crossEntropy(zeros([2, 3]), [0, 1], { ignoreIndex: 0.5 }),
    'ERR_VALUE',
    'ignoreIndex',
    '0.5',
  ],
  ['crossEntropy of a number', () => hw.crossEntropy(tensor(1), 0), 'ERR_SHAPE', 'logits', '[]'],
  ['relu in place', () => any(hw).relu(zeros([2]), true), 'ERR_VALUE', 'relu', 'true'],
  [
    'rmsNorm by a weight of another width',
    () => hw.rmsNorm(zeros([2, 3]), { weight: zeros([2]) }),
    'ERR_SHAPE',
    'weight',
    '[2]',
  ],
  [
    'rmsNorm with a bias',
    () => hw.rmsNorm(zeros([2]), any({ bias: 1 })),
    'ERR_VALUE',
    'rmsNorm',
    'bias',
  ],
  [
    'backward of a tensor without a graph',
    () => tensor(1).backward(),
    'ERR_VALUE',
    'backward',
    'no graph',
  ],
];
