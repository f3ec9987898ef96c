// Explore's tokenizers: from tokenizer.json or the two files before it, and tokens' names.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { MODELS, TEXTS } from '../web/page/explore/models.js';
import { tokenizerFrom } from '../web/page/explore/open/byte-level.js';
import { ownJson } from '../web/page/explore/open/own-text.js';
import { checkFit } from '../web/page/explore/worker/check-tokenizer.js';
import { readTokenizer } from '../web/page/explore/worker/tokens.js';

test('vocab.json and merges.txt read texts as the tokenizer.json that has them both', () => {
  const json = JSON.parse(
    readFileSync(new URL('../web/page/models/austen/tokenizer.json', import.meta.url), 'utf8'),
  );
  const merges = json.model.merges.map((/** @type {string | string[]} */ pair) =>
    typeof pair === 'string' ? pair : pair.join(' '),
  );
  const vocab = JSON.stringify(json.model.vocab);
  const own = readTokenizer(tokenizerFrom(vocab, ['#version: 0.2', ...merges, ''].join('\n')));
  const whole = readTokenizer(json);
  const text = 'Mr. Darcy danced only once — with Mrs. Hurst;\nand once with Miss Bingley.';
  assert.deepEqual(own.encode(text), whole.encode(text));
  assert.ok(own.encode(text).length < text.length);
  assert.deepEqual([own.before, own.after], [[], []]);
  assert.throws(() => tokenizerFrom(vocab, 'a b\nc\n'), /merges\.txt: its pair 2 is "c"/);
  assert.throws(() => tokenizerFrom('{', ''), /vocab\.json: cannot be parsed/);
});

test('merges.txt may say more of its version, and have a system’s line ends', () => {
  const vocab = JSON.stringify({ a: 0, b: 1, ab: 2, abb: 3 });
  const version = '#version: 0.2 - Trained by `huggingface/tokenizers`';
  for (const end of ['\n', '\r\n']) {
    const merges = [version, 'a b', 'ab b', ''].join(end);
    assert.deepEqual(readTokenizer(tokenizerFrom(vocab, merges)).encode('abbab'), [3, 2]);
  }
});

test('vocab.json and merges.txt of RoBERTa read a text between <s> and </s>, with a mask', () => {
  const pieces = {
    '<s>': 0,
    '<pad>': 1,
    '</s>': 2,
    '<unk>': 3,
    a: 4,
    b: 5,
    Ġ: 6,
    Ġb: 7,
    '<mask>': 8,
  };
  const vocab = JSON.stringify(pieces);
  const { encode, before, after, mask, token } = readTokenizer(
    tokenizerFrom(vocab, 'Ġ b\n', 'roberta'),
  );
  assert.deepEqual([before, encode('a <mask> b'), after, mask], [[0], [4, 8, 7], [2], 8]);
  assert.deepEqual([token(0).isSpecial, token(8).isMask, token(7).text], [true, true, '␣b']);
  // A GPT-2 that was trained with the same vocabulary puts nothing around a text.
  const other = readTokenizer(tokenizerFrom(vocab, 'Ġ b\n', 'gpt2'));
  assert.deepEqual([other.before, other.after, other.encode('a</s>')], [[], [], [4, 2]]);
});

/** @param {object} model @param {object} [more] */
const withModel = (model, more) => ({
  added_tokens: [],
  model: { type: 'BPE', vocab: { a: 0 }, merges: [], ...model },
  ...more,
});

test('what a tokenizer.json lacks is named by its key', () => {
  /** @type {[unknown, RegExp][]} */
  const cases = [
    [5, /has no model; expected an object$/],
    [{}, /has no model; expected an object$/],
    [{ model: [] }, /: model is \[\]; expected an object$/],
    [withModel({ vocab: undefined }), /has no model\.vocab; expected an object of ids$/],
    [withModel({ vocab: 'a' }), /: model\.vocab is "a"; expected an object of ids$/],
    [withModel({ vocab: { a: '7' } }), /: model\.vocab\["a"\] is "7"; expected an integer from 0$/],
    [withModel({ vocab: { a: -1 } }), /: model\.vocab\["a"\] is -1;/],
    [withModel({ vocab: { a: 0.5 } }), /: model\.vocab\["a"\] is 0\.5;/],
    [withModel({ vocab: ['a'] }), /: model\.vocab\[0\] is "a"; expected a token and its score$/],
    [withModel({ vocab: [['a', 0]] }), /: model\.type is "BPE"; expected "Unigram"/],
    [withModel({ merges: 'abc' }), /: model\.merges is "abc"; expected a list of pairs$/],
    [withModel({}, { added_tokens: [null] }), /: added_tokens\[0\] is null; expected an object/],
    [
      withModel({}, { added_tokens: [{ content: 'a', id: -1 }] }),
      /: added_tokens\[0\] is .*; expected an object with content and id$/,
    ],
    [withModel({}, { added_tokens: 'a' }), /: added_tokens is "a"; expected a list$/],
  ];
  for (const [json, words] of cases) {
    assert.throws(() => readTokenizer(json), { code: 'ERR_FORMAT', message: words });
  }
});

test('a tokenizer.json may have two million values, as Gemma’s has, and no endless ones', () => {
  const listOf = (/** @type {number} */ count) => `[${'0,'.repeat(count - 1)}0]`;
  assert.equal(ownJson(listOf(2e6), 'tokenizer.json').length, 2e6);
  assert.throws(() => ownJson(listOf(5e6), 'tokenizer.json'), {
    code: 'ERR_FORMAT',
    message: /^tokenizer\.json: has more than .* values/,
  });
});

test('a vocabulary is a model’s if most of its tokens have an id of their own there', () => {
  checkFit([0, 1, 2, 3], 4);
  checkFit([0, 1, 2, 3, 4, 5], 4);
  checkFit([0, 1, 4, 5], 4);
  for (const ids of [[], [4, 5], [100, 101], [0, 0, 0], [0, 1e9, 2 ** 53 - 1]]) {
    assert.throws(() => checkFit(ids, 4), {
      code: 'ERR_FORMAT',
      message:
        /^tokenizer\.json does not belong to this model: [01] of its \d tokens have an id of their own from 0 to 3$/,
    });
  }
});

test('of a long regular expression that cannot be parsed a message has the beginning and the end', () => {
  const none = { version: '1.0', normalizer: null, post_processor: null, decoder: null };
  const pattern = { Regex: `(${'A'.repeat(300_000)}` };
  const json = {
    ...{ ...none, added_tokens: [] },
    pre_tokenizer: { type: 'Split', pattern, behavior: 'Isolated', invert: false },
    model: { type: 'BPE', vocab: {}, merges: [] },
  };
  assert.throws(
    () => readTokenizer(json),
    ({ message }) => {
      assert.match(message, /^tokenizer\.json cannot be read: .*\(AAA.*…AAA.*[Gg]roup/);
      assert.ok(message.length < 250, `${message.length} characters`);
      return true;
    },
  );
});

/** @param {string} content @param {number} id @param {boolean} [special] */
const added = (content, id, special = false) => ({
  ...{ id, content, special, normalized: !special },
  ...{ single_word: false, lstrip: false, rstrip: false },
});

/** @param {object} tokenizer @param {string} text */
const labelsOf = (tokenizer, text) => {
  const { encode, token } = readTokenizer(tokenizer);
  return encode(text).map((id) => token(id).text);
};

test('tokens that were added, and bytes, have names that can be seen, as GPT-NeoX’s, Gemma’s and Llama’s', () => {
  const bytes = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true };
  const none = { version: '1.0', normalizer: null, pre_tokenizer: null, post_processor: null };
  const runs = {
    ...{ ...none, pre_tokenizer: bytes, decoder: bytes },
    added_tokens: [added('<|endoftext|>', 0, true), added('   ', 4)],
    model: { type: 'BPE', vocab: { '<|endoftext|>': 0, a: 1, b: 2, Ġ: 3 }, merges: [] },
  };
  assert.deepEqual(labelsOf(runs, 'a   b'), ['a', '␣␣␣', 'b']);
  assert.deepEqual(labelsOf(runs, 'a<|endoftext|>'), ['a', '<|endoftext|>']);
  const spaces = { type: 'Replace', pattern: { String: ' ' }, content: '▁' };
  const back = { type: 'Replace', pattern: { String: '▁' }, content: ' ' };
  const gemma = {
    ...{ ...none, normalizer: spaces },
    added_tokens: [added('<unk>', 0, true), added('\n\n', 1), added('▁▁', 2), added('\t', 3)],
    decoder: { type: 'Sequence', decoders: [back, { type: 'ByteFallback' }, { type: 'Fuse' }] },
    model: {
      ...{ type: 'BPE', unk_token: '<unk>', byte_fallback: true, fuse_unk: true, merges: [] },
      vocab: {
        ...{ '<unk>': 0, '\n\n': 1, '▁▁': 2, '\t': 3, a: 4, b: 5 },
        ...{ '<0xE2>': 6, '<0x82>': 7, '<0xAC>': 8, '<0x0A>': 9 },
      },
    },
  };
  for (const [text, ...labels] of [
    ['a\n\nb', 'a', '↵↵', 'b'],
    ['a\tb', 'a', '⇥', 'b'],
    ['a  b', 'a', '␣␣', 'b'],
    ['a\nb', 'a', '↵', 'b'],
    ['€', '‹e2›', '‹82›', '‹ac›'],
  ])
    assert.deepEqual(labelsOf(gemma, text), labels, text);
});

/** @param {object} parts of a byte-level tokenizer.json with a token for é and one for 中 */
const inBytes = (parts) => ({
  ...{ version: '1.0', normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null },
  ...{ added_tokens: [], model: { type: 'BPE', vocab: { 'Ã©': 0, 中: 1 }, merges: [] } },
  ...parts,
});

test('a tokenizer is of bytes if its pre-tokenizer or its decoder is, as Llama 3’s among others', () => {
  const bytes = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true };
  const split = { type: 'WhitespaceSplit' };
  for (const parts of [
    { pre_tokenizer: bytes },
    { decoder: bytes },
    { pre_tokenizer: { type: 'Sequence', pretokenizers: [split, bytes] } },
    { decoder: { type: 'Sequence', decoders: [{ type: 'Fuse' }, bytes] } },
  ]) {
    const { token } = readTokenizer(inBytes(parts));
    // What stands for no bytes is shown as it is.
    assert.deepEqual([token(0).text, token(1).text], ['é', '中'], JSON.stringify(parts));
  }
  assert.equal(readTokenizer(inBytes({ pre_tokenizer: split })).token(0).text, 'Ã©');
});

test('a tokenizer.json may have no added tokens, and a model alone', () => {
  for (const none of [null, undefined, []])
    assert.deepEqual(readTokenizer(inBytes({ added_tokens: none })).encode('中'), [1], `${none}`);
  const { model } = inBytes({});
  assert.deepEqual(readTokenizer({ model }).encode('中'), [1]);
});

test('special tokens are shown as they are written, and an id without a token by its number', () => {
  const bytes = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true };
  // DeepSeek's.
  const end = '<｜end▁of▁sentence｜>';
  const { token } = readTokenizer(
    inBytes({ pre_tokenizer: bytes, added_tokens: [added(end, 2, true), added('▁▁', 3)] }),
  );
  assert.deepEqual(
    [2, 3, 9].map((id) => token(id).text),
    [end, '␣␣', '#9'],
  );
  assert.deepEqual(
    [2, 3, 9].map((id) => token(id).isSpecial),
    [true, false, false],
  );
});

/** @param {keyof typeof MODELS} name of a model of the page */
function tokenizerOf(name) {
  const file = new URL(`../web/page/models/${name}/tokenizer.json`, import.meta.url);
  return readTokenizer(JSON.parse(readFileSync(file, 'utf8')));
}

test('every byte of a character has its own name', () => {
  const { encode, token } = tokenizerOf('austen');
  const hex = (/** @type {string} */ text) =>
    Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16));
  // Bytes that byte-level vocabularies write as other characters: 80 to a0, and ad.
  for (const text of ['í', 'à', 'ŀ', 'ß', '\u009f']) {
    const names = encode(text).map((id) => token(id).text);
    assert.deepEqual(
      names,
      hex(text).map((byte) => `‹${byte}›`),
      text,
    );
  }
});

test('words and characters that a vocabulary lacks are named, each once', () => {
  const unknownIn = (/** @type {keyof typeof MODELS} */ name, /** @type {string} */ text) => {
    const tokens = tokenizerOf(name);
    return tokens.unknownIn?.(text, tokens.encode(text));
  };
  const text = 'When Mary and Xenia went to the quantum store, Xenia met 3 friends?';
  assert.deepEqual(unknownIn('names', text), { parts: ['Xenia', 'quantum', '3'], sign: '?' });
  assert.deepEqual(unknownIn('induction', 'aé b?a'), { parts: ['é'], sign: '?' });
  assert.equal(unknownIn('austen', 'Zoë’s ☃'), undefined, 'bytes can be anything');
  for (const name of /** @type {(keyof typeof MODELS)[]} */ (Object.keys(MODELS))) {
    const { sample, texts = TEXTS } =
      /** @type {{ sample: string, texts?: [string, string][] }} */ (MODELS[name]);
    for (const own of [sample, ...texts.map(([, words]) => words)])
      assert.equal(unknownIn(name, own), undefined, own);
  }
});

test('without a token for what is unknown, what is left out is named', () => {
  /** @param {object} model @param {object} [parts] of the tokenizer.json */
  const unknownIn = (model, parts) => {
    const rest = { normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };
    const tokens = readTokenizer({ version: '1.0', added_tokens: [], ...rest, model, ...parts });
    return (/** @type {string} */ text) => tokens.unknownIn?.(text, tokens.encode(text));
  };
  const vocab = { a: 0, b: 1, '+': 2 };
  // As Train saves one.
  const letters = unknownIn({ type: 'BPE', unk_token: null, vocab, merges: [] });
  assert.equal(letters('a+b'), undefined);
  assert.deepEqual(letters('a + Xéb X'), { parts: ['␣', 'X', 'é'] });
  assert.deepEqual(letters('X'), { parts: ['X'] });
  const words = { type: 'WordLevel', unk_token: 'none', vocab };
  const apart = unknownIn(words, { pre_tokenizer: { type: 'Whitespace' } });
  assert.deepEqual(apart('a cat + b'), { parts: ['cat'] });
  const spaced = { pre_tokenizer: { type: 'WhitespaceSplit' } };
  const lower = { normalizer: { type: 'Lowercase' } };
  assert.equal(unknownIn({ type: 'BPE', vocab, merges: [] }, lower)('A + b'), undefined);
  assert.equal(unknownIn({ type: 'BPE', vocab, merges: [] }, spaced)('a + b'), undefined);
});

test('a list of pieces with scores has its unknown token by number, as T5’s and XLM-R’s', () => {
  const pieces = [
    ['<pad>', 0],
    ['<unk>', -10],
    ['▁', -2],
    ['▁a', -3],
    ['b', -4],
  ];
  const { encode, unknownIn } = readTokenizer({
    ...{ version: '1.0', normalizer: null, post_processor: null, decoder: null },
    added_tokens: [added('<pad>', 0, true), added('<unk>', 1, true)],
    pre_tokenizer: { type: 'Metaspace', replacement: '▁', add_prefix_space: true },
    model: { type: 'Unigram', unk_id: 1, vocab: pieces },
  });
  const text = 'a éb é';
  assert.deepEqual(unknownIn?.(text, encode(text)), { parts: ['é'], sign: '<unk>' });
  assert.equal(unknownIn?.('a b', encode('a b')), undefined);
});

test('every token of the page’s models has a name that can be seen', () => {
  for (const [name, count] of /** @type {const} */ ([
    ['austen', 2047],
    ['induction', 64],
    ['names', 194],
  ])) {
    const { token } = tokenizerOf(name);
    const names = Array.from({ length: count }, (_, id) => token(id).text);
    assert.deepEqual(
      names.filter((words) => words.trim() === '' || /^\s|\s$|\p{C}/u.test(words)),
      [],
    );
    assert.ok(names.includes('␣') || name !== 'induction');
  }
});
