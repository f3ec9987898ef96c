/**
 * Labels of tokens from a file that came with tensors.
 *
 * @import { Token } from '../../types.js'
 */

import { PageError } from '../../shared/errors.js';
import { plural } from '../../shared/format.js';
import { wordsOf } from '../../shared/tokenize.js';
import { ownJson } from './own-text.js';

/** How byte-level and SentencePiece vocabularies write what is not seen. @type {[RegExp, string][]} */
const MARKS = [
  [/^[Ġ▁]/, ' '],
  [/Ċ/g, '\n'],
];

/** @param {string} name @param {string} problem */
const refusal = (name, problem) => new PageError('ERR_FORMAT', `${name}: ${problem}`);

/** @param {string} text @param {string} name @param {number} n */
function fromJson(text, name, n) {
  const json = ownJson(text, name);
  const labels = json?.tokens ?? json;
  if (!Array.isArray(labels)) throw refusal(name, `expected an array of ${n} tokens.`);
  const odd = labels.findIndex((label) => typeof label !== 'string' && typeof label !== 'number');
  if (odd >= 0)
    throw refusal(
      name,
      `element ${odd} is neither a text nor a number; expected an array of ${n} tokens.`,
    );
  if (labels.length !== n) {
    throw refusal(
      name,
      `has ${plural(labels.length, 'token')}; expected ${n}, as the tensors have.`,
    );
  }
  return labels.map(String);
}

/** @param {string} text @param {string} name @param {number} n */
function fromText(text, name, n) {
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/);
  if (lines.length === n) return lines;
  const words = text.split(/\s+/).filter(Boolean);
  if (words.length === n) return words;
  throw refusal(
    name,
    `has ${plural(lines.length, 'line')} and ${plural(words.length, 'word')}; expected ${n} tokens, a line or a word each, as the tensors have.`,
  );
}

/**
 * @param {{ name: string, text: string } | undefined} file a JSON array, or text with a token a line or a word
 * @param {number} n
 * @returns {Token[]} the same text has the same id; numbers where there is no file
 * @throws {PageError} ERR_FORMAT, naming the file
 */
export function readLabels(file, n) {
  if (!file) return Array.from({ length: n }, (_, id) => ({ id, text: String(id + 1) }));
  const { name, text } = file;
  const labels = /\.json$/i.test(name) ? fromJson(text, name, n) : fromText(text, name, n);
  /** @type {Map<string, number>} */
  const ids = new Map();
  return labels.map((label) => {
    const plain = MARKS.reduce((part, [mark, as]) => part.replace(mark, as), label);
    if (!ids.has(label)) ids.set(label, ids.size);
    return { id: /** @type {number} */ (ids.get(label)), ...wordsOf(plain) };
  });
}
