// Bad calls of state dicts and traces.
import { tensor, zeros } from 'headwise';
import { any } from './table.js';

const single = { dIn: 3, dOut: 4, contextLength: 6 };
const several = { ...single, numHeads: 2 };

/**
 * @param {import('./table.js').Engine} hw
 * @returns {import('./table.js').BadCall[]}
 */
export function states(hw) {
  const linear = new hw.Linear({ inFeatures: 3, outFeatures: 2 });
  const v1 = new hw.SelfAttentionV1({ dIn: 3, dOut: 4 });
  const head = new hw.CausalAttention(single);
  const state = linear.stateDict();
  const causal = head.stateDict();
  return [
    ['no state', () => any(linear).loadStateDict(), 'ERR_VALUE', 'dict', 'undefined'],
    [
      'null as options of loadStateDict',
      () => linear.loadStateDict(state, any(null)),
      'ERR_VALUE',
      'loadStateDict: options',
      'null; expected none',
    ],
    ['a state as a Map', () => linear.loadStateDict(any(new Map())), 'ERR_VALUE', 'dict', 'Map'],
    ['a state as a list', () => linear.loadStateDict(any([])), 'ERR_VALUE', 'dict', '[]'],
    ['a state as text', () => linear.loadStateDict(any('{}')), 'ERR_VALUE', 'dict', '"{}"'],
    [
      'loading that is not strict',
      () => linear.loadStateDict(state, any({ strict: false })),
      'ERR_VALUE',
      'loadStateDict',
      'unknown option strict',
    ],
    .../** @type {const} */ ([
      ['parameters', 'recurse'],
      ['namedParameters', 'prefix'],
      ['stateDict', 'prefix'],
    ]).map(
      ([name, option]) =>
        /** @type {import('./table.js').BadCall} */ ([
          `${name} with ${option}`,
          () => any(linear)[name]({ [option]: 'a' }),
          'ERR_VALUE',
          name,
          option,
        ]),
    ),
    [
      'a missing key',
      () => linear.loadStateDict({ weight: state.weight }),
      'ERR_VALUE',
      'dict',
      'missing: bias',
    ],
    [
      'an unexpected key',
      () => linear.loadStateDict({ ...state, scale: state.bias }),
      'ERR_VALUE',
      'dict',
      'unexpected: scale',
    ],
    [
      'a weight transposed',
      () => linear.loadStateDict({ ...state, weight: zeros([3, 2]) }),
      'ERR_SHAPE',
      'dict',
      'weight has shape [3, 2]',
    ],
    [
      'an array as weight',
      () => linear.loadStateDict(any({ ...state, weight: [[1]] })),
      'ERR_VALUE',
      'weight',
      '[[…]]',
    ],
    [
      'booleans as bias',
      () => linear.loadStateDict({ ...state, bias: tensor([true, true]) }),
      'ERR_VALUE',
      'bias',
      'bool',
    ],
    [
      'weights of v2 to SelfAttentionV1, not transposed',
      () =>
        v1.loadStateDict({ W_query: zeros([4, 3]), W_key: zeros([3, 4]), W_value: zeros([3, 4]) }),
      'ERR_SHAPE',
      'dict',
      'W_query has shape [4, 3]',
    ],
    [
      'a saved mask that is not causal',
      () => head.loadStateDict({ ...causal, mask: zeros([6, 6]) }),
      'ERR_VALUE',
      'mask',
      '0 at [0, 1]',
    ],
    [
      'a saved mask of another context',
      () => head.loadStateDict({ ...causal, mask: zeros([5, 5]) }),
      'ERR_SHAPE',
      'mask',
      '[5, 5]',
    ],
  ];
}

/**
 * @param {import('./table.js').Engine} hw
 * @returns {import('./table.js').BadCall[]}
 */
export function traces(hw) {
  const mha = new hw.MultiHeadAttention(several);
  const traced = () => any(mha.forward(zeros([2, 6, 3]), { trace: true }).trace);
  const trace = traced();
  const ended = traced();
  ended.dispose();
  return [
    ['weights of no head', () => trace.weights({ rows: [0, 1] }), 'ERR_VALUE', 'head', 'undefined'],
    ['weights of nothing', () => trace.weights(), 'ERR_VALUE', 'head', 'undefined'],
    [
      'weights of a head by itself',
      () => trace.weights(1),
      'ERR_VALUE',
      'trace.weights: options',
      '1',
    ],
    ['a head beyond the last', () => trace.weights({ head: 2 }), 'ERR_VALUE', 'head', '2'],
    [
      'a batch entry beyond the last',
      () => trace.weights({ batch: 2, head: 0 }),
      'ERR_VALUE',
      'batch',
      '2',
    ],
    [
      'rows beyond the last',
      () => trace.weights({ head: 0, rows: [0, 7] }),
      'ERR_VALUE',
      'rows',
      '[0, 7]',
    ],
    [
      'rows that end before they start',
      () => trace.weights({ head: 0, rows: [3, 2] }),
      'ERR_VALUE',
      'rows',
      '[3, 2]',
    ],
    [
      'half a row',
      () => trace.weights({ head: 0, rows: [0.5, 2] }),
      'ERR_VALUE',
      'rows',
      '[0.5, 2]',
    ],
    ['a row instead of rows', () => trace.weights({ head: 0, rows: 2 }), 'ERR_VALUE', 'rows', '2'],
    ['a map of no size', () => trace.map({ head: 0 }), 'ERR_VALUE', 'size', 'undefined'],
    ['a map of size 0', () => trace.map({ head: 0, size: 0 }), 'ERR_VALUE', 'size', '0'],
    ['a map of a negative head', () => trace.map({ head: -1, size: 2 }), 'ERR_VALUE', 'head', '-1'],
    [
      'a map that no memory holds',
      () => trace.map({ head: 0, size: 1e5 }),
      'ERR_MEMORY',
      'map',
      '[100000, 100000]',
    ],
    [
      'a map beyond all arrays',
      () => trace.map({ head: 0, size: 1e6 }),
      'ERR_MEMORY',
      'map',
      '[1000000, 1000000]',
    ],
    ['weights of a disposed trace', () => ended.weights({ head: 0 }), 'ERR_DISPOSED', 'trace'],
    ['the size of a disposed trace', () => ended.byteLength, 'ERR_DISPOSED', 'trace'],
  ];
}
