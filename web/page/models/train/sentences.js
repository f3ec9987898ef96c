/**
 * Sentences with an indirect object: of two people one gives something, and the other one's name comes last ("when mary and
 * john went to the store, john gave a drink to" mary). After Wang et al. 2022, Interpretability in the Wild.
 *
 * @import { Random } from './random.js'
 */

const words = (/** @type {string} */ text) => text.trim().split(/\s+/);

export const NAMES = words(`
  mary john anna paul emma jack lucy mark ruth adam jane peter alice david clara james ella simon grace thomas
  helen robert julia daniel laura henry nina oscar rose victor sarah george maria frank eva martin kate arthur lily edward
  diana louis sophie walter irene hugo martha felix olivia leo amy carl zoe max ida noah nora ivan vera luke
  agnes philip hannah samuel judith eric ellen oliver rachel ralph susan roger karen steven linda kevin betty brian carol gary
  donna dennis emily jerry alan janet bruce marie roy joan joe diane harry gloria ryan teresa jesse sara aaron`);

/** Names that training shows beside the family alone: every tenth. */
const LONE = NAMES.filter((_, i) => i % 10 === 9);
const PAIRED = NAMES.filter((_, i) => i % 10 !== 9);

/** People who are called by no name. */
const FAMILY = words('mum dad grandma grandpa granny auntie nanny daddy mummy coach');

const PLACES =
  words(`store park school garden market station river house office library beach theatre church hotel museum
  kitchen hospital restaurant airport bridge farm harbour bakery castle`);

const OBJECTS =
  words(`drink book letter ring flower ball key apple basket picture coat hat watch map pencil lamp cake ticket
  knife bottle bag box newspaper guitar`);

const GIVES = words('gave handed offered passed sold threw brought sent');

/** {A} and {B} are two people in either order, {S} the one of them who gives; {P} a place, {O} an object, {G} a verb. */
const TEMPLATES = [
  'when {A} and {B} went to the {P} , {S} {G} a {O} to',
  'after {A} and {B} met at the {P} , {S} {G} the {O} to',
  'while {A} and {B} were at the {P} , {S} {G} a {O} to',
  'then {A} and {B} came to the {P} , and {S} {G} a {O} to',
  'when {A} found {B} at the {P} , {S} {G} the {O} to',
  'after {A} had lunch with {B} at the {P} , {S} {G} a {O} to',
  'yesterday {A} and {B} worked at the {P} . {S} {G} a {O} to',
  'friends {A} and {B} found a {O} at the {P} . {S} {G} it to',
  '{A} and {B} had a long talk at the {P} . then {S} {G} the {O} to',
  '{A} saw {B} near the {P} , so {S} {G} a {O} to',
];

/** The share of the training's sentences in which one of the two is of the family. */
const WITH_FAMILY = 0.5;

export const END = '.';
const UNKNOWN = '?';

/** @type {readonly string[]} a token each, its id is its place */
export const VOCABULARY = [
  UNKNOWN,
  ...new Set(
    TEMPLATES.flatMap(words)
      .filter((word) => !word.startsWith('{'))
      .concat(END, FAMILY, GIVES, PLACES, OBJECTS),
  ),
  ...NAMES,
];

const ids = new Map(VOCABULARY.map((word, id) => [word, id]));

/** @param {string} word */
export const idOf = (word) => ids.get(word) ?? 0;

/**
 * @typedef {object} Sentence
 * @property {number[]} ids up to where the indirect object follows
 * @property {string} object the indirect object: who follows
 * @property {string} subject the one who gives
 */

/** Whether training never shows two names together: a fifth of the pairs. @param {string} a @param {string} b */
function neverMeet(a, b) {
  const [low, high] = [NAMES.indexOf(a), NAMES.indexOf(b)].sort((x, y) => x - y);
  return (7 * low + 3 * high) % 5 === 0;
}

/**
 * @param {Random} random
 * @param {readonly [string, string]} people
 * @returns {Sentence}
 */
function sentenceOf(random, people) {
  const [A, B] = random.whole(0, 1) ? people : [people[1], people[0]];
  const [subject, object] = random.whole(0, 1) ? [A, B] : [B, A];
  /** @type {Record<string, string>} */
  const parts = {
    A,
    B,
    S: subject,
    P: random.pick(PLACES),
    O: random.pick(OBJECTS),
    G: random.pick(GIVES),
  };
  const text = random.pick(TEMPLATES).replace(/\{(\w)\}/g, (_, part) => parts[part]);
  return { ids: words(text).map(idOf), subject, object };
}

/**
 * @param {Random} random
 * @param {readonly string[]} list
 * @param {(a: string, b: string) => boolean} fits
 * @returns {Sentence} of two names
 */
function ofPair(random, list, fits) {
  for (;;) {
    const [a, b] = [random.pick(list), random.pick(list)];
    if (a !== b && fits(a, b)) return sentenceOf(random, [a, b]);
  }
}

/** A sentence to learn from. @param {Random} random */
export const trainingSentence = (random) =>
  random.unit() < WITH_FAMILY
    ? sentenceOf(random, [random.pick(NAMES), random.pick(FAMILY)])
    : ofPair(random, PAIRED, (a, b) => !neverMeet(a, b));

/** Two people who never meet in training. @param {Random} random */
export const heldOutPair = (random) => ofPair(random, PAIRED, neverMeet);

/** Two names that training shows beside the family alone. @param {Random} random */
export const heldOutNames = (random) => ofPair(random, LONE, () => true);

/** tokenizer.json: words and marks between spaces; what is unknown is "?". */
export const tokenizer = {
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: [],
  normalizer: { type: 'Lowercase' },
  pre_tokenizer: { type: 'Whitespace' },
  post_processor: null,
  decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
  model: {
    type: 'WordPiece',
    unk_token: UNKNOWN,
    continuing_subword_prefix: '##',
    max_input_chars_per_word: 100,
    vocab: Object.fromEntries(ids),
  },
};

export const tokenizerConfig = { unk_token: UNKNOWN };
