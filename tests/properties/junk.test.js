// Whatever is passed, a call works or throws a HeadwiseError; the engine still computes the course's table afterwards.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { HeadwiseError, Tensor, tensor, zeros } from 'headwise';
import { engine } from '../helpers.js';
import { checkFused } from '../seeds.js';
import { checkProperty } from './check.js';

const hw = await engine();
const single = { dIn: 3, dOut: 4, contextLength: 6 };
const mha = new hw.MultiHeadAttention({ ...single, numHeads: 2 });
const cache = mha.createCache();
const { trace } = mha.forward(zeros([2, 6, 3]), { trace: true });
const linear = new hw.Linear({ inFeatures: 3, outFeatures: 2 });

const shape = fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 5 });
const tensors = shape.map((sizes) => zeros(sizes));
const masks = shape.map((sizes) => tensor(zeros(sizes).data, sizes, { dtype: 'bool' }));
const odd = fc.constantFrom(-1, 0.5, 2 ** 31, 2 ** 32, 2 ** 53, 1e300, NaN, Infinity, -0);
const anything = fc.oneof(
  { weight: 3, arbitrary: tensors },
  masks,
  shape,
  odd,
  fc.boolean(),
  fc.constantFrom('scores', 'masked', undefined, null, cache),
  fc.anything({ withBigInt: true, withTypedArray: true, withNullPrototype: true, withMap: true }),
);

/** Options with names that are known and values that may be anything. @param {readonly string[]} names */
const optionsOf = (names) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.dictionary(fc.constantFrom(...names), anything, { maxKeys: 4 }) },
    anything,
  );

const attention = optionsOf([
  ...['isCausal', 'causalOffset', 'mask', 'scale', 'softcap', 'window', 'enableGqa', 'kvLengths'],
  ...['past', 'dropoutP', 'needWeights'],
]);
const forward = optionsOf([
  ...['mask', 'isCausal', 'keyPaddingMask', 'needWeights', 'trace', 'cache'],
]);
const sizes = optionsOf([
  ...['dIn', 'dOut', 'contextLength', 'dropout', 'numHeads', 'qkvBias', 'outProj', 'isCausal'],
]);
const where = optionsOf(['batch', 'head', 'rows', 'size']);

/** @type {[string, fc.Arbitrary<unknown>[], (...values: any[]) => any][]} */
const calls = [
  ['tensor', [anything, anything], tensor],
  ['zeros', [anything], (values) => zeros(Array.isArray(values) ? values.slice(0, 5) : values)],
  ['Tensor', [anything, anything], (data, sizesOf) => new Tensor(data, sizesOf)],
  ['softmax', [anything], (x) => hw.softmax(x)],
  ['transpose', [anything], (x) => hw.transpose(x)],
  ['matmul', [anything, anything], (a, b) => hw.matmul(a, b)],
  ['manualSeed', [anything], (seed) => hw.manualSeed(seed)],
  ['randn', [anything], (values) => hw.randn(values)],
  ['causalMask', [fc.oneof(shape, odd, fc.integer({ min: 0, max: 9 }))], (n) => hw.causalMask(n)],
  [
    'attention',
    [anything, anything, anything, attention],
    (...all) => any(hw.scaledDotProductAttention.bind(hw))(...all),
  ],
  [
    'attention of fitting tensors',
    [attention],
    (options) =>
      hw.scaledDotProductAttention(zeros([2, 3, 4]), zeros([2, 5, 4]), zeros([2, 5, 6]), options),
  ],
  [
    'Linear',
    [optionsOf(['inFeatures', 'outFeatures', 'bias'])],
    (options) => new hw.Linear(options).dispose(),
  ],
  ['MultiHeadAttention', [sizes], (options) => new hw.MultiHeadAttention(options).dispose()],
  ['CausalAttention', [sizes], (options) => new hw.CausalAttention(options).dispose()],
  ['forward', [anything, forward], (x, options) => mha.forward(x, options).trace?.dispose()],
  [
    'forward of a fitting tensor',
    [forward],
    (options) => mha.forward(zeros([1, 2, 3]), options).trace?.dispose(),
  ],
  ['Linear.forward', [anything], (x) => linear.forward(x)],
  ['loadStateDict', [optionsOf(['weight', 'bias'])], (dict) => linear.loadStateDict(dict)],
  ['createCache', [optionsOf(['batch', 'past'])], (options) => mha.createCache(options).dispose()],
  ['truncate', [anything], (length) => cache.truncate(length)],
  ['trace.weights', [where], (options) => trace?.weights(options)],
  ['trace.map', [where], (options) => trace?.map(options)],
  ['train', [anything], (mode) => mha.train(mode)],
];

function any(/** @type {unknown} */ value) {
  return /** @type {any} */ (value);
}

for (const [name, values, call] of calls)
  checkProperty(
    `${name} of anything works or throws a HeadwiseError`,
    fc.property(fc.tuple(...values), (drawn) => {
      try {
        call(...drawn);
      } catch (error) {
        assert.ok(error instanceof HeadwiseError, /** @type {Error} */ (error).stack);
      }
      cache.truncate(0);
      mha.train(true);
      checkFused(hw);
    }),
  );
