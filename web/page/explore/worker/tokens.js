/**
 * Text to tokens and their labels, as a tokenizer.json says.
 *
 * @import { Token } from '../../types.js'
 *
 * @typedef {object} TextTokens
 * @property {(text: string) => number[]} encode
 * @property {(id: number) => Token} token as shown
 * @property {string} [sample] where the text is token ids: some to begin with
 */

import { Tokenizer } from '@huggingface/tokenizers';
import { PageError } from '../../shared/errors.js';
import { labelOf } from '../../shared/tokenize.js';

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
function labelOfBytes(piece) {
  const bytes = [...piece].map((character) => byteOf.get(character));
  return bytes.includes(undefined) ? piece : labelOf(/** @type {number[]} */ (bytes));
}

/**
 * @param {any} json tokenizer.json
 * @returns {TextTokens}
 * @throws {PageError}
 */
export function readTokenizer(json) {
  let tokenizer;
  try {
    tokenizer = new Tokenizer(json, {});
  } catch (error) {
    throw new PageError('ERR_FORMAT', `tokenizer.json cannot be read: ${String(error)}`);
  }
  const special = tokenizer.get_added_tokens_decoder();
  const inBytes = isByteLevel(json.pre_tokenizer) || isByteLevel(json.decoder);
  /** @param {number} id */
  const labelOfId = (id) => {
    const piece = tokenizer.id_to_token(id);
    if (piece === undefined) return `#${id}`;
    if (special.has(id)) return piece;
    return inBytes ? labelOfBytes(piece) : labelOf(piece.replaceAll('▁', ' '));
  };
  return {
    encode: (text) => tokenizer.encode(text, { add_special_tokens: false }).ids,
    token: (id) => ({ id, text: labelOfId(id) }),
  };
}
