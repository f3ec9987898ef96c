/**
 * The models that come with the page, and the texts to begin with.
 *
 * @import { Pin } from './address.js'
 *
 * @typedef {object} TellingHead one whose work is plain to see in the sample
 * @property {number} layer
 * @property {number} head
 * @property {string} seen what its queries look at, in words
 *
 * @typedef {object} PageModel
 * @property {string} title
 * @property {string} sample what is read first
 * @property {readonly Pin[]} pins what is pinned in it at first
 * @property {[name: string, text: string][]} texts others to read
 * @property {TellingHead[]} telling heads to begin with
 */

/** Random words of one token each, twice: what repeats and means nothing is the text that induction is scored on. */
const REPEATED =
  ' party half ten smile very doubt home letter few door pleasure party half ten smile very doubt home letter few door pleasure';

/** @type {Record<string, PageModel>} */
export const MODELS = {
  austen: {
    title: 'Austen: prose',
    sample: 'It was not in her power to speak of him to her sister, for she was not able to speak.',
    pins: [{ side: 'query', token: 18 }],
    texts: [
      [
        'A longer text',
        'Mr. Darcy danced only once with Mrs. Hurst and once with Miss Bingley, declined being introduced to any other lady, and spent the rest of the evening in walking about the room, speaking occasionally to one of his own party. Mr. Darcy was the proudest, most disagreeable man in the world.',
      ],
      ['Repeated random words', REPEATED],
      ['Code-like', 'if (she.is_happy) { she.say("yes"); } else { she.say("no"); }'],
    ],
    telling: [
      { layer: 1, head: 1, seen: 'forms of “be”' },
      { layer: 0, head: 6, seen: 'the token before' },
      { layer: 1, head: 7, seen: 'commas' },
      { layer: 0, head: 7, seen: 'the token itself' },
    ],
  },
  induction: {
    title: 'Induction: letters that repeat',
    sample: 'kT7eWm2cRq9fkT7eWm2cRq9f',
    pins: [{ side: 'query', token: 13 }],
    texts: [
      ['Three times', 'kT7eWm2cRq9fZkT7eWm2cRq9fZkT7eWm2cRq9fZkT7'],
      ['Nothing repeats', 'kT7eWm2cRq9fZaB4xYu8sHjD'],
    ],
    telling: [
      { layer: 1, head: 2, seen: 'what came next the last time: induction' },
      { layer: 0, head: 4, seen: 'the token before, which induction needs' },
      { layer: 0, head: 2, seen: 'the token itself' },
    ],
  },
  names: {
    title: 'Names: who is given something',
    sample: 'when mary and john went to the store, john gave a drink to',
    pins: [{ side: 'query', token: 13 }],
    texts: [
      ['The other one gives', 'when mary and john went to the store, mary gave a drink to'],
      ['The other order', 'when john and mary went to the store, john gave a drink to'],
      [
        'Never seen together',
        'friends mary and jack found a ring at the beach. jack offered it to',
      ],
      ['Never seen beside a name', 'adam saw thomas near the park, so adam gave a cake to'],
    ],
    telling: [
      { layer: 2, head: 2, seen: 'the first name: in the sample, who is given something' },
      { layer: 1, head: 1, seen: 'the one who gives' },
      { layer: 0, head: 1, seen: 'the second name' },
    ],
  },
};

/** Texts for a model of the visitor's own. @type {PageModel['texts']} */
export const TEXTS = MODELS.austen.texts;

/** What addresses call files of the visitor's own, which they cannot carry. */
export const OPENED = 'opened';

/** A model of the page, by a name that may come from an address. @param {string} name */
export const pageModel = (name) => (Object.hasOwn(MODELS, name) ? MODELS[name] : undefined);

/** The head that is shown first: (0, 0) of a model that the page does not know. @param {string} model */
export function firstHead(model) {
  const { layer, head } = pageModel(model)?.telling[0] ?? { layer: 0, head: 0 };
  return { layer, head };
}

/** What is pinned in the model's own sample at first. @param {string} model @returns {readonly Pin[]} */
export const firstPins = (model) => pageModel(model)?.pins ?? [];
