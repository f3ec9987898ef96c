/**
 * Text to GPT-2's tokens. The tables are loaded on first use only.
 *
 * @import { Token } from '../types.js'
 */

import { PageError } from './errors.js';
import { formatCount } from './format.js';
import { NEWLINE, SPACE, TAB } from './signs.js';

/** GPT-2's context. */
const MAX_TOKENS = 1024;

/** Beyond this no text fits into the context: the longest token has 128. */
const MAX_CHARACTERS = MAX_TOKENS * 128;

const SIGNS = [
  [SPACE, 'a space'],
  [NEWLINE, 'a line break'],
  [TAB, 'a tab'],
];

/** @type {Promise<{ encode(text: string): number[], table: (string | number[])[] }> | undefined} */
let tables;

async function loadTables() {
  const [encoding, ranks] = await Promise.all([
    import('gpt-tokenizer/encoding/r50k_base'),
    import('gpt-tokenizer/bpeRanks/r50k_base'),
  ]);
  // Text that spells a special token is text here, nothing more.
  const options = { disallowedSpecial: new Set() };
  return {
    encode: (/** @type {string} */ text) => encoding.encode(text, options),
    table: ranks.default,
  };
}

/** A character that nobody sees, by its number. @param {string} character */
const nameOf = (character) => {
  const number = /** @type {number} */ (character.codePointAt(0)).toString(16).toUpperCase();
  return `\u2039U+${number.padStart(4, '0')}\u203a`;
};

/** @param {readonly number[]} bytes @returns {string | null} null: they are part of a character */
function textOf(bytes) {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes));
  } catch {
    return null;
  }
}

/**
 * The label of a token, from its bytes: a decoder would carry half characters
 * over from one token to the next.
 *
 * @param {string | number[] | undefined} piece
 */
export function labelOf(piece) {
  if (piece === undefined) return '\u2026';
  const text = typeof piece === 'string' ? piece : textOf(piece);
  if (text === null) {
    const bytes = /** @type {number[]} */ (piece);
    const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0'));
    return `\u2039${hex.join(' ')}\u203a`;
  }
  if (text === '') return '\u2039nothing\u203a';
  // Within an emoji such a character is part of what is seen.
  if (/^\p{Default_Ignorable_Code_Point}+$/u.test(text)) return Array.from(text, nameOf).join('');
  return text
    .replaceAll(' ', SPACE)
    .replaceAll('\n', NEWLINE)
    .replaceAll('\t', TAB)
    .replace(/[\p{C}\p{Z}]/gu, nameOf);
}

/**
 * How a token is shown, and its own text where that is another.
 *
 * @param {string | number[]} piece
 * @returns {Pick<Token, 'text' | 'own'>}
 */
export function wordsOf(piece) {
  const own = typeof piece === 'string' ? piece : textOf(piece);
  const text = labelOf(piece);
  return own === text ? { text } : { text, own };
}

/** A label of bytes, as labelOf writes it. */
export const BYTES = /^\u2039([\da-f]{2}(?: [\da-f]{2})*)\u203a$/;

/** What signs in tokens' labels stand for, of those that are there. @param {readonly { text: string }[]} tokens */
export function signWords(tokens) {
  const bytes = tokens.find(({ text }) => BYTES.test(text));
  const said = [
    ...SIGNS.filter(([sign]) => tokens.some(({ text }) => text.includes(sign))).map(
      ([sign, what]) => `${sign} is ${what}`,
    ),
    ...(bytes ? [`${bytes.text} holds part of a character, written in bytes`] : []),
  ];
  return said.length > 0 ? `${said.join('; ')}.` : '';
}

/**
 * @param {string} text
 * @returns {Promise<Token[]>}
 * @throws {PageError} if there is no token, or more than GPT-2 takes
 */
export async function tokenize(text) {
  if (text.length === 0) {
    throw new PageError('ERR_EMPTY', 'There is no text yet: type a word.');
  }
  const most = `at most ${formatCount(MAX_TOKENS)} tokens fit, as in GPT-2`;
  if (text.length > MAX_CHARACTERS) {
    const length = formatCount(text.length);
    throw new PageError('ERR_TOO_LONG', `This text is too long (${length} characters): ${most}.`);
  }
  tables ??= loadTables();
  const loading = tables;
  const { encode, table } = await loading.catch((error) => {
    tables = undefined; // so that another try is possible
    throw new PageError(
      'ERR_LOAD',
      `The tokenizer could not be loaded (${String(error)}). Is the connection up?`,
    );
  });
  const ids = encode(text);
  if (ids.length > MAX_TOKENS) {
    const over = formatCount(ids.length - MAX_TOKENS);
    throw new PageError(
      'ERR_TOO_LONG',
      `This text has ${formatCount(ids.length)} tokens: ${most}. Shorten it by ${over}.`,
    );
  }
  return ids.map((id) => ({ id, text: labelOf(table[id]) }));
}
