import { PageError } from '../../shared/errors.js';
import { ownJson } from './own-text.js';

/**
 * A tokenizer.json from the two files that GPT-2 had before there was one.
 *
 * @param {string} vocab vocab.json: ids by piece
 * @param {string} merges merges.txt: a pair a line, after a line with the version
 * @returns {object} what the tokenizer.json would hold
 * @throws {PageError} ERR_FORMAT
 */
export function tokenizerFrom(vocab, merges) {
  const pieces = ownJson(vocab, 'vocab.json');
  const lines = merges.split('\n').filter((line) => line !== '' && !line.startsWith('#version'));
  const odd = lines.findIndex((line) => line.trim().split(' ').length !== 2);
  if (odd >= 0) {
    throw new PageError(
      'ERR_FORMAT',
      `merges.txt: its pair ${odd + 1} is "${lines[odd].slice(0, 40)}"; expected two pieces with a space between.`,
    );
  }
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true };
  return {
    version: '1.0',
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: { type: 'BPE', vocab: pieces, merges: lines.map((line) => line.trim().split(' ')) },
  };
}
