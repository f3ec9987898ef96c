/** What a tokenizer.json must have before its library reads it: the library's own words name no key. */

import { describe } from '../../../headwise/checks/describe.js';
import { PageError } from '../../shared/errors.js';

/** @param {string} key @param {unknown} value @param {string} expected */
const misfit = (key, value, expected) =>
  new PageError(
    'ERR_FORMAT',
    value === undefined
      ? `tokenizer.json has no ${key}; expected ${expected}`
      : `tokenizer.json: ${key} is ${describe(value)}; expected ${expected}`,
  );

/** @param {unknown} value @returns {value is object} */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param {unknown} id */
const isId = (id) => Number.isSafeInteger(id) && Number(id) >= 0;

/** @param {unknown} vocab @returns {number[]} the ids of its tokens */
function idsOfVocab(vocab) {
  if (Array.isArray(vocab)) {
    const odd = vocab.findIndex(
      (pair) => typeof pair?.[0] !== 'string' || typeof pair[1] !== 'number',
    );
    if (odd >= 0) throw misfit(`model.vocab[${odd}]`, vocab[odd], 'a token and its score');
    return [...vocab.keys()];
  }
  if (!isObject(vocab)) throw misfit('model.vocab', vocab, 'an object of ids');
  const odd = Object.entries(vocab).find(([, id]) => !isId(id));
  if (odd) throw misfit(`model.vocab[${describe(odd[0])}]`, odd[1], 'an integer from 0');
  return Object.values(vocab);
}

/**
 * @param {any} json tokenizer.json
 * @returns {number[]} the ids of its vocabulary
 * @throws {PageError} ERR_FORMAT
 */
export function checkTokenizer(json) {
  if (!isObject(json?.model)) throw misfit('model', json?.model, 'an object');
  const { model, added_tokens: added } = json;
  const ids = idsOfVocab(model.vocab);
  if ((model.type === 'Unigram') !== Array.isArray(model.vocab) && model.type !== undefined) {
    throw misfit(
      'model.type',
      model.type,
      Array.isArray(model.vocab)
        ? '"Unigram" for a vocab that is a list'
        : 'another for a vocab that is an object',
    );
  }
  if (model.type === 'BPE' && !Array.isArray(model.merges))
    throw misfit('model.merges', model.merges, 'a list of pairs');
  if (added !== undefined && added !== null) {
    if (!Array.isArray(added)) throw misfit('added_tokens', added, 'a list');
    const odd = added.findIndex((one) => typeof one?.content !== 'string' || !isId(one.id));
    if (odd >= 0) throw misfit(`added_tokens[${odd}]`, added[odd], 'an object with content and id');
  }
  return ids;
}

/**
 * Whether a vocabulary may be a model's. A few tokens more than the model has are usual, such as those of a model of text
 * and pictures.
 *
 * @param {readonly number[]} ids of the vocabulary
 * @param {number} vocabSize of the model
 * @throws {PageError} ERR_FORMAT: most of them have no row of their own in its embedding
 */
export function checkFit(ids, vocabSize) {
  const own = new Set(ids.filter((id) => id < vocabSize)).size;
  if (own > 0 && 2 * own >= ids.length) return;
  throw new PageError(
    'ERR_FORMAT',
    `tokenizer.json does not belong to this model: ${own} of its ${ids.length} tokens have an id of their own from 0 to ${vocabSize - 1}`,
  );
}
