// Classes that extend the engine's modules.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeadwiseError } from 'headwise';
import { Gpt2 } from 'headwise/gpt2';
import { small } from './gpt2.js';
import { allClose, data, engine, throwsCode } from './helpers.js';

const hw = await engine();
const attention = { dIn: 4, dOut: 4, contextLength: 6 };
const block = { dModel: 4, numHeads: 2, dFf: 8 };

/** Every module class with options, and what its forward takes. @type {[name: keyof typeof hw, options: any, input: any][]} */
const classes = [
  ['Linear', { inFeatures: 4, outFeatures: 3 }, data(1, [2, 4])],
  ['Embedding', { numEmbeddings: 5, embeddingDim: 3 }, [0, 4]],
  ['LayerNorm', { dim: 4 }, data(2, [2, 4])],
  ['SelfAttentionV1', { dIn: 4, dOut: 4 }, data(3, [3, 4])],
  ['SelfAttentionV2', { dIn: 4, dOut: 4 }, data(4, [3, 4])],
  ['CausalAttention', attention, data(5, [3, 4])],
  ['MultiHeadAttentionWrapper', { ...attention, numHeads: 2 }, data(6, [3, 4])],
  ['MultiHeadAttention', { ...attention, numHeads: 2 }, data(7, [3, 4])],
  ['FeedForward', { dModel: 4, dFf: 8 }, data(8, [3, 4])],
  ['TransformerBlock', block, data(9, [3, 4])],
  ['TransformerStack', { ...block, numLayers: 2 }, data(10, [3, 4])],
];

test('the table has every module class', () => {
  const found = Object.entries(hw).filter(([, value]) => typeof value === 'function');
  assert.deepEqual(classes.map(([name]) => name).sort(), found.map(([name]) => name).sort());
});

for (const [name, options, input] of classes)
  test(`a class that extends ${String(name)} makes its own instances`, () => {
    const Base = /** @type {any} */ (hw[name]);
    class Own extends Base {
      #calls = 0;
      label = 'mine';
      /** @param {any} given */
      constructor(given) {
        super(given);
        this.given = given;
      }
      /** @param {any[]} args */
      forward(...args) {
        this.#calls++;
        return super.forward(...args);
      }
      /** @param {any} dict */
      loadStateDict(dict) {
        this.#calls += 10;
        return super.loadStateDict(dict);
      }
      get calls() {
        return this.#calls;
      }
    }
    hw.manualSeed(4);
    const own = /** @type {any} */ (new Own(options));
    hw.manualSeed(4);
    const plain = new Base(options);
    assert.ok(own instanceof Own && own instanceof Base);
    assert.ok(plain instanceof Base && !(plain instanceof Own));
    assert.deepEqual([own.constructor, own.label, own.given], [Own, 'mine', options]);
    allClose(own.eval().forward(input).output, plain.eval().forward(input).output);
    assert.equal(own.loadStateDict(plain.stateDict()), own);
    assert.equal(own.calls, 11);
    throwsCode(() => own.loadStateDict({}), 'ERR_VALUE', 'dict does not fit Own');
    class Again extends Own {}
    const again = new Again(options);
    assert.ok(again instanceof Own && again.parameterCount() === plain.parameterCount());
    assert.throws(() => new Own({ ...options, sizes: 1 }), HeadwiseError);
    for (const module of [own, plain, again]) module.dispose();
    throwsCode(() => own.forward(input), 'ERR_DISPOSED', 'the Own was disposed of');
  });

test('fromWrapper of a class that extends MultiHeadAttention makes one of it', () => {
  const options = { ...attention, dOut: 2, numHeads: 2, qkvBias: true };
  class Own extends hw.MultiHeadAttention {
    label = 'mine';
    /** @override @returns {never} */
    loadStateDict() {
      throw new Error('not asked');
    }
  }
  const wrapper = new hw.MultiHeadAttentionWrapper(options).eval();
  hw.manualSeed(3);
  const expected = [...hw.rand([2]).data];
  hw.manualSeed(3);
  const fused = Own.fromWrapper(wrapper);
  assert.deepEqual([...hw.rand([2]).data], expected, 'nothing was drawn');
  assert.ok(fused instanceof Own && !fused.training);
  const x = data(12, [3, 4]);
  assert.equal(fused.label, 'mine');
  allClose(fused.forward(x).output, wrapper.forward(x).output, { atol: 1e-6 });
  assert.ok(
    hw.MultiHeadAttention.fromWrapper(wrapper).constructor ===
      hw.MultiHeadAttention.prototype.constructor,
  );
  const drawn = new Own({ ...attention, numHeads: 2 }).stateDict()['W_query.weight'];
  assert.ok(
    drawn.data.some((value) => value !== 0),
    'others are drawn',
  );
});

test('fromWrapper of a class with other parameters is refused by their names', () => {
  class Packed extends hw.MultiHeadAttention {
    /** @param {any} options */
    constructor(options) {
      super({ ...options, packedQkv: true });
    }
  }
  class Wide extends hw.MultiHeadAttention {
    /** @param {any} options */
    constructor(options) {
      super({ ...options, dIn: 400 });
    }
  }
  const wrapper = new hw.MultiHeadAttentionWrapper({ ...attention, numHeads: 2 });
  throwsCode(() => Packed.fromWrapper(wrapper), 'ERR_VALUE', 'missing: qkv_proj.weight');
  throwsCode(() => Wide.fromWrapper(wrapper), 'ERR_SHAPE', 'W_query.weight has shape [8, 4]');
  const { output } = hw.MultiHeadAttention.fromWrapper(wrapper).forward(data(13, [3, 4]));
  allClose(output, wrapper.forward(data(13, [3, 4])).output, { atol: 1e-6 });
});

test('a class that extends Gpt2 makes its own instances', () => {
  class Own extends Gpt2 {
    lengths = [0];
    /** @override @param {any} ids @param {any} [options] @returns {any} */
    forward(ids, options) {
      this.lengths.push(ids.length);
      return super.forward(ids, options);
    }
  }
  const own = new Own(hw, small);
  assert.equal([...own.generate([1, 2, 3], { maxTokens: 3 })].length, 3);
  assert.deepEqual(own.lengths, [0, 3, 1, 1]);
  own.dispose();
});
