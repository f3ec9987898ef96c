import { PageError } from '../../shared/errors.js';
import { ownJson } from './own-text.js';

/** What GPT-2 and RoBERTa call tokens that are no text. */
const SPECIAL = ['<|endoftext|>', '<s>', '<pad>', '</s>', '<unk>', '<mask>'];

/** @param {Record<string, number>} pieces @returns {object[]} RoBERTa's mask takes the space before it along */
const specialOf = (pieces) =>
  SPECIAL.filter((content) => Object.hasOwn(pieces, content)).map((content) => ({
    ...{ id: pieces[content], content, special: true, lstrip: content === '<mask>' },
    ...{ rstrip: false, single_word: false, normalized: false },
  }));

/**
 * A tokenizer.json from the two files that GPT-2 and RoBERTa had before there was one.
 *
 * @param {string} vocab vocab.json: ids by piece
 * @param {string} merges merges.txt: a pair a line, after a line with the version
 * @param {string} [modelType] the config's: RoBERTa's texts stand between <s> and </s>
 * @returns {object} what the tokenizer.json would hold
 * @throws {PageError} ERR_FORMAT
 */
export function tokenizerFrom(vocab, merges, modelType) {
  const pieces = ownJson(vocab, 'vocab.json');
  const lines = merges.split('\n').filter((line) => line !== '' && !line.startsWith('#version'));
  const odd = lines.findIndex((line) => line.trim().split(' ').length !== 2);
  if (odd >= 0) {
    throw new PageError(
      'ERR_FORMAT',
      `merges.txt: its pair ${odd + 1} is "${lines[odd].slice(0, 40)}"; expected two pieces with a space between.`,
    );
  }
  const [cls, sep] = ['<s>', '</s>'].map((token) => [token, Object(pieces)[token]]);
  const isBetween = modelType === 'roberta' && cls[1] !== undefined && sep[1] !== undefined;
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true };
  return {
    version: '1.0',
    added_tokens: specialOf(Object(pieces)),
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: isBetween
      ? { type: 'RobertaProcessing', cls, sep, trim_offsets: true, add_prefix_space: false }
      : null,
    decoder: byteLevel,
    model: { type: 'BPE', vocab: pieces, merges: lines.map((line) => line.trim().split(' ')) },
  };
}
