// The tokenizer.json of the tiny encoders in tests/fixtures/models, which have 37 ids: BERT's word pieces, RoBERTa's bytes.

const COUNT = 37;

/** @param {string} content @param {number} id */
const added = (content, id) => ({
  ...{ id, content, single_word: false, lstrip: false, rstrip: false },
  ...{ normalized: false, special: true },
});

/** @param {string[]} pieces */
const vocabularyOf = (pieces) => Object.fromEntries(pieces.map((piece, id) => [piece, id]));

/** What BERT's files have around a text. @param {string} first @param {string} last @param {Record<string, number>} vocab */
const template = (first, last, vocab) => ({
  type: 'TemplateProcessing',
  single: [
    { SpecialToken: { id: first, type_id: 0 } },
    { Sequence: { id: 'A', type_id: 0 } },
    { SpecialToken: { id: last, type_id: 0 } },
  ],
  pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
  special_tokens: Object.fromEntries(
    [first, last].map((token) => [token, { id: token, ids: [vocab[token]], tokens: [token] }]),
  ),
});

const OF_BERT = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
const WORDS =
  'the a cat dog mat hat man sat ran saw ate slept big small red old on in under and it was';

/** BERT's and DistilBERT's: lower case, words in pieces. */
export function wordPieces() {
  const own = [...WORDS.split(' '), '##s', '##ed', '##ing', '.', ','];
  const pieces = [...OF_BERT, ...own];
  const rest = Array.from({ length: COUNT - pieces.length }, (_, i) => `[unused${i}]`);
  const vocab = vocabularyOf([...pieces, ...rest]);
  return {
    version: '1.0',
    added_tokens: OF_BERT.map((token) => added(token, vocab[token])),
    normalizer: {
      ...{ type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true },
      ...{ strip_accents: null, lowercase: true },
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: template('[CLS]', '[SEP]', vocab),
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      ...{ type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##' },
      ...{ max_input_chars_per_word: 100, vocab },
    },
  };
}

/** RoBERTa's: letters and spaces as bytes, some pairs of them merged. */
export function byteLevel() {
  const merges = [
    ['t', 'h'],
    ['th', 'e'],
    ['Ġ', 'the'],
    ['a', 't'],
    ['Ġ', 'c'],
  ];
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const pieces = [
    '<s>',
    '.',
    '</s>',
    '<pad>',
    'Ġ',
    ...letters,
    ...merges.map((pair) => pair.join('')),
  ];
  const vocab = vocabularyOf([...pieces, '<mask>']);
  return {
    version: '1.0',
    added_tokens: ['<s>', '</s>', '<pad>', '<mask>'].map((token) => added(token, vocab[token])),
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true },
    post_processor: {
      ...{ type: 'RobertaProcessing', sep: ['</s>', vocab['</s>']], cls: ['<s>', vocab['<s>']] },
      ...{ trim_offsets: true, add_prefix_space: false },
    },
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true },
    model: { type: 'BPE', vocab, merges },
  };
}
