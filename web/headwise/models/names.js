// The names of tensors in Hugging Face's files of a model.
import { architectures } from './architectures.js';

/**
 * @typedef {object} Names
 * @property {string} prefix the base model's, which files may leave out or have
 * @property {(key: string) => string} canonical a parameter's name in the state dict: files may leave out the base model's
 *   prefix, and call a norm's weight and bias gamma and beta; of what is tied they may hold either
 * @property {(key: string) => boolean} isUnused whether a tensor of a canonical name is no parameter: a buffer, a pooler or another
 *   task's head, or a copy of the embedding that the output head is tied to
 * @property {string} head how the names of the output head's parameters begin
 */

/** The output head's matrix: a copy of the embedding if the two are tied. */
const projection = /^(lm_head|embed_out|vocab_projector)\.weight$|\.decoder\.weight$/;

/** The heads of other tasks: ForSequenceClassification, ForTokenClassification, ForQuestionAnswering, DoubleHeads. */
const otherHead = /^(score|pre_classifier|classifier|qa_outputs)\.|multiple_choice_head\./;

/**
 * @param {{ modelType: string, tiesHead: boolean }} config
 * @param {readonly string[]} [keys] all that are loaded
 * @returns {Names}
 */
export function namesOf({ modelType, tiesHead }, keys = []) {
  const { prefix, head, embedding, unused } = architectures[modelType];
  const isNone = (/** @type {string} */ name) =>
    otherHead.test(name) || unused?.test(name) === true;
  const whole = (/** @type {string} */ key) => {
    const name = key.replace(/\.gamma$/, '.weight').replace(/\.beta$/, '.bias');
    const isWhole = name.startsWith(prefix) || name.startsWith(head) || isNone(name);
    return isWhole ? name : prefix + name;
  };
  const given = new Set(keys.map(whole));
  const source = `${prefix}${embedding}.weight`;
  const isMoved = tiesHead && keys.length > 0 && !given.has(source);
  const pair = [`${head}bias`, `${head}decoder.bias`];
  // Hugging Face adds the bias of the matrix. That of the head is another one if the two are not tied, and is not used.
  const swaps = given.has(pair[1]) && !(tiesHead && given.has(pair[0]));
  return {
    prefix,
    head,
    canonical(key) {
      const name = whole(key);
      if (swaps && pair.includes(name)) return pair[1 - pair.indexOf(name)];
      return isMoved && projection.test(name) ? source : name;
    },
    isUnused: (key) => isNone(key) || (tiesHead && projection.test(key)),
  };
}
