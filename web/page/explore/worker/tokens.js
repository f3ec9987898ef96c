/**
 * Text to tokens and their labels, as a tokenizer.json says.
 *
 * @import { Token } from '../../types.js'
 *
 * @typedef {object} TextTokens
 * @property {readonly number[]} [vocabulary] the ids of a tokenizer's own tokens
 * @property {(text: string) => number[]} encode without special tokens
 * @property {readonly number[]} before special tokens that stand before a text, such as [CLS] and <s>
 * @property {readonly number[]} after those that stand after it, such as [SEP]
 * @property {number} [mask] the token that hides another one, where there is one
 * @property {(id: number) => Token} token as shown
 * @property {(text: string, ids: readonly number[]) => Unknown | undefined} [unknownIn] what of a text, of these ids, the vocabulary does not have
 * @property {string} [sample] where the text is token ids: some to begin with
 *
 * @typedef {object} Unknown
 * @property {string[]} parts words or characters, each once
 * @property {string} [sign] the token that stands for each; left out: none does, they are left out
 */

import { Tokenizer } from '@huggingface/tokenizers';
import { shortened } from '../../../headwise/formats/shortened.js';
import { PageError } from '../../shared/errors.js';
import { labelOf, wordsOf } from '../../shared/tokenize.js';
import { checkTokenizer } from './check-tokenizer.js';

/** The characters that stand for bytes in byte-level tokenizers (GPT-2's bytes_to_unicode). */
const byteOf = (() => {
  const isShown = (/** @type {number} */ byte) =>
    (byte > 32 && byte < 127) || (byte > 160 && byte !== 173 && byte < 256);
  /** @type {Map<string, number>} */
  const bytes = new Map();
  let hidden = 256;
  for (let byte = 0; byte < 256; byte++) {
    bytes.set(String.fromCodePoint(isShown(byte) ? byte : hidden++), byte);
  }
  return bytes;
})();

/** @param {any} part of a tokenizer.json @returns {boolean} */
const isByteLevel = (part) =>
  part?.type === 'ByteLevel' ||
  (part?.type === 'Sequence' && (part.pretokenizers ?? part.decoders ?? []).some(isByteLevel));

/** @param {string} piece of a byte-level vocabulary */
function wordsOfBytes(piece) {
  const bytes = [...piece].map((character) => byteOf.get(character));
  return bytes.includes(undefined) ? { text: piece } : wordsOf(/** @type {number[]} */ (bytes));
}

/** How tokenizers that fall back to bytes write one. */
const BYTE = /^<0x([0-9A-F]{2})>$/;

/** @param {string} piece of a vocabulary that is text, with ▁ for spaces */
function wordsOfText(piece) {
  const byte = BYTE.exec(piece)?.[1];
  return wordsOf(byte ? [Number.parseInt(byte, 16)] : piece.replaceAll('▁', ' '));
}

/** Stands for a text. */
const TEXT = '\0';

/**
 * What the tokenizer puts around a text.
 *
 * @param {Tokenizer} tokenizer
 * @returns {{ before: number[], after: number[] }} ids
 */
function specialAround(tokenizer) {
  const { tokens } = tokenizer.post_processor?.post_process([TEXT], null, true) ?? {
    tokens: [TEXT],
  };
  const at = tokens.indexOf(TEXT);
  const ids = (/** @type {string[]} */ some) =>
    some.map((token) => tokenizer.token_to_id(token)).filter((id) => id !== undefined);
  return { before: ids(tokens.slice(0, at)), after: ids(tokens.slice(at + 1)) };
}

/**
 * What finds the words or characters of a text that a vocabulary does not have.
 *
 * @param {Tokenizer} tokenizer
 * @param {any} json tokenizer.json
 * @param {(id: number) => string} labelOfId
 * @param {(text: string) => number[]} encode
 * @returns {NonNullable<TextTokens['unknownIn']>}
 */
function unknownBy(tokenizer, json, labelOfId, encode) {
  const { type, unk_token: named, unk_id: numbered } = json.model;
  const unknown = named ? tokenizer.token_to_id(named) : (numbered ?? undefined);
  const isOfWords = type === 'WordPiece' || type === 'WordLevel';
  // Spaces that part words, or that are trimmed, are no tokens and not missed.
  const takesSpaces = !json.pre_tokenizer && !json.normalizer;
  const partsOf = (/** @type {string} */ text) => [
    ...new Set(isOfWords ? text.match(/[\p{L}\p{M}\p{N}]+|\S/gu) : text),
  ];
  if (unknown === undefined) {
    return (text) => {
      const parts = partsOf(text).filter(
        (part) => (takesSpaces || part.trim() !== '') && encode(part).length === 0,
      );
      return parts.length > 0 ? { parts: parts.map(labelOf) } : undefined;
    };
  }
  return (text, ids) => {
    if (!ids.includes(unknown)) return undefined;
    const sign = labelOfId(unknown);
    const parts = partsOf(text).filter((part) => encode(part).includes(unknown));
    return { parts: parts.map(labelOf).filter((part) => part !== sign), sign };
  };
}

/** Characters of the library's words that are shown. */
const LONGEST = 160;

/** Signs that stand right after a word. */
const CLOSING = /^[.,;:!?)\]}%’”]+$/;

/** How BERT and RoBERTa write the token that hides another one. */
const MASK = /^(\[MASK\]|<mask>)$/;

/** What a tokenizer.json may leave out; the library takes only what is null. */
const ABSENT = { normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };

/**
 * @param {any} json tokenizer.json
 * @returns {TextTokens}
 * @throws {PageError}
 */
export function readTokenizer(json) {
  const vocabulary = checkTokenizer(json);
  let tokenizer;
  let around;
  try {
    tokenizer = new Tokenizer({ ...ABSENT, ...json, added_tokens: json.added_tokens ?? [] }, {});
    around = specialAround(tokenizer);
  } catch (error) {
    // The library quotes a regular expression that it cannot parse, whole.
    const why = shortened(/** @type {Error} */ (error).message, LONGEST).replace(/\.$/, '');
    throw new PageError('ERR_FORMAT', `tokenizer.json cannot be read: ${why}`);
  }
  const special = tokenizer.get_added_tokens_decoder();
  const isPieces = json.model?.type === 'WordPiece';
  const isInside = (/** @type {string} */ text) =>
    text.startsWith(json.model.continuing_subword_prefix ?? '##');
  const mask = [...special].find(([, { content }]) => MASK.test(content))?.[0];
  const inBytes = isByteLevel(json.pre_tokenizer) || isByteLevel(json.decoder);
  /** @param {number} id @returns {Pick<Token, 'text' | 'own'>} */
  const wordsOfId = (id) => {
    const piece = tokenizer.id_to_token(id);
    if (piece === undefined) return { text: `#${id}` };
    const added = special.get(id);
    if (added?.special) return { text: piece };
    // What was added to a byte-level vocabulary is text: runs of spaces, for example.
    return inBytes && !added ? wordsOfBytes(piece) : wordsOfText(piece);
  };
  // Where no token stands for what is unknown, some have no id.
  const encode = (/** @type {string} */ text) =>
    tokenizer.encode(text, { add_special_tokens: false }).ids.filter(Number.isInteger);
  return {
    vocabulary,
    encode,
    ...around,
    mask,
    unknownIn: unknownBy(tokenizer, json, (id) => wordsOfId(id).text, encode),
    token(id) {
      const words = wordsOfId(id);
      const { text } = words;
      const isSpecial = special.get(id)?.special === true;
      const isApart = isPieces && !isInside(text) && !CLOSING.test(text);
      return { id, ...words, isSpecial, isMask: id === mask, isApart };
    },
  };
}
