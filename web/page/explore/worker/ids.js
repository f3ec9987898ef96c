/**
 * A model that came without a tokenizer reads token ids, written as numbers with spaces between.
 *
 * @import { TextTokens } from './tokens.js'
 */

import { PageError } from '../../shared/errors.js';
import { formatCount } from '../../shared/format.js';

/** Ids of the sample, which is read twice: what repeats shows heads that look for it. */
const SAMPLE_IDS = 8;

/** What of a wrong word is told. */
const TOLD = 20;

/**
 * @param {number} vocabSize
 * @returns {TextTokens}
 */
export function idTokens(vocabSize) {
  const ids = Array.from({ length: SAMPLE_IDS }, (_, i) =>
    Math.floor(((i + 0.5) * vocabSize) / SAMPLE_IDS),
  );
  return {
    sample: [...ids, ...ids].join(' '),

    encode(text) {
      const words = text.split(/[\s,]+/).filter(Boolean);
      const odd = words.find((word) => !/^\d+$/.test(word) || Number(word) >= vocabSize);
      if (odd !== undefined) {
        const told = odd.length > TOLD ? `${odd.slice(0, TOLD)}…` : odd;
        throw new PageError(
          'ERR_FORMAT',
          `“${told}” is not a token id of this model, which reads its text as token ids; expected whole numbers from 0 to ${formatCount(vocabSize - 1)}, with spaces between.`,
        );
      }
      return words.map(Number);
    },

    before: [],
    after: [],

    token: (id) => ({ id, text: String(id) }),
  };
}
