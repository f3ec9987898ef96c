// hw.Decoder made of a config alone: its weights, and what it refuses.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { load } from 'headwise';
import { Decoder, Encoder } from 'headwise/models';
import { throwsCode } from './helpers.js';

const config = {
  ...{ model_type: 'llama', vocab_size: 40, hidden_size: 32, intermediate_size: 48 },
  ...{ num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 2 },
  ...{ max_position_embeddings: 64 },
};

/** @type {Awaited<ReturnType<typeof load>>} */
let hw;
before(async () => void (hw = await load()));
after(() => hw.dispose());

/** @param {object} changes @returns {number} of the embedding's weights */
function deviationWith(changes) {
  const model = new hw.Decoder({ ...config, ...changes });
  const { data } = model.stateDict()['model.embed_tokens.weight'];
  model.dispose();
  return Math.sqrt(data.reduce((sum, value) => sum + value * value, 0) / data.length);
}

test('weights are drawn with the deviation that initializer_range says', () => {
  hw.manualSeed(1);
  for (const [changes, expected] of /** @type {[object, number][]} */ ([
    [{}, 0.02],
    [{ initializer_range: 0.5 }, 0.5],
    [{ initializer_range: 0 }, 0],
  ])) {
    const deviation = deviationWith(changes);
    assert.ok(Math.abs(deviation - expected) <= 0.1 * expected, `${deviation}, not ${expected}`);
  }
});

test('a config is the same as the text of its file', () => {
  const wide = { ...config, initializer_range: 0.5 };
  const states = [wide, JSON.stringify(wide)].map((given) => {
    hw.manualSeed(1);
    const model = new hw.Decoder(/** @type {object} */ (given));
    const state = model.stateDict();
    model.dispose();
    return state;
  });
  assert.deepEqual(states[1], states[0]);
});

test('the classes of headwise/models take the engine first, as hw.Decoder and hw.Encoder do', () => {
  const bert = { ...config, model_type: 'bert', num_key_value_heads: undefined };
  for (const [Model, ofEngine, given] of /** @type {[any, any, object][]} */ ([
    [Decoder, hw.Decoder, config],
    [Encoder, hw.Encoder, bert],
  ])) {
    hw.manualSeed(1);
    const model = new Model(hw, given, { dropout: 0.5 });
    hw.manualSeed(1);
    const same = new ofEngine(given, { dropout: 0.5 });
    assert.deepEqual(model.stateDict(), same.stateDict());
    assert.ok(model instanceof Model && same instanceof Model);
    for (const wrong of [undefined, null, given, 'text', 3, model, {}])
      throwsCode(() => new Model(wrong, hw), 'ERR_VALUE', 'hw is', 'load()');
    throwsCode(() => new Model(given), 'ERR_VALUE', 'hw is', 'load()');
    for (const wrong of [undefined, null, 3])
      throwsCode(() => new Model(hw, wrong), 'ERR_VALUE', `config is ${wrong}; expected an object`);
    for (const wrong of ['text', hw])
      throwsCode(() => new Model(hw, wrong), 'ERR_VALUE', 'config:');
    model.dispose();
    same.dispose();
  }
});

test('a config that makes no model is refused by its key, and the engine goes on', () => {
  for (const [changes, words] of /** @type {[object, RegExp][]} */ ([
    [{ initializer_range: -1 }, /initializer_range is -1/],
    [{ initializer_range: 'wide' }, /initializer_range is "wide"/],
    [{ num_attention_heads: 0 }, /num_attention_heads/],
    [{ num_key_value_heads: 3 }, /num_key_value_heads/],
    [{ hidden_size: -32 }, /hidden_size/],
    [{ vocab_size: 2.5 }, /vocab_size/],
    [{ model_type: 'mamba' }, /model_type/],
    [
      { model_type: 'bert', num_key_value_heads: undefined },
      /model_type is "bert"; expected "gpt2", /,
    ],
    [{ hidden_act: 'swish9' }, /hidden_act/],
    [{ rope_scaling: { rope_type: 'longrope' } }, /longrope/],
  ])) {
    assert.throws(
      () => new hw.Decoder({ ...config, ...changes }),
      (/** @type {any} */ error) => {
        assert.equal(error.name, 'HeadwiseError');
        assert.equal(error.code, 'ERR_VALUE', error.message);
        assert.match(error.message, words);
        return true;
      },
    );
  }
  assert.throws(() => new hw.Decoder({ ...config, hidden_size: 2 ** 20, vocab_size: 2 ** 20 }), {
    code: 'ERR_MEMORY',
  });
  const model = new hw.Decoder(config);
  assert.deepEqual(model.forward([1, 2, 3]).logits.shape, [1, 40]);
  model.dispose();
});
