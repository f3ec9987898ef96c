/**
 * What the visitor has chosen in the Explore room, and its address: `#explore?head=L1H4&pins=q12_k3`. Text and choices
 * are in it, opened files never. Layers and heads count from 0 everywhere, tokens from 1 where people read them.
 *
 * @import { HeadName } from '../shared/head-names.js'
 * @import { ScoreName } from '../shared/head-scores.js'
 * @import { TourStep } from './tours.js'
 * @import { Of, Over } from './worker/rows.js'
 *
 * @typedef {typeof SIGNED[number]} Signed a measure of heads for a prediction
 * @typedef {'unit' | 'row' | 'head' | 'log'} MapScale
 * @typedef {{ side: 'query' | 'key', token: number }} Pin
 * @typedef {{ query: number, key: number, span: number }} Viewport the square part of a map that is shown, in tokens
 *
 * @typedef {object} ExploreState numbers count from 0
 * @property {'maps' | 'why'} mode whether the maps are large, or what makes up a prediction is
 * @property {string} model
 * @property {string | null} text null: the model's own sample
 * @property {string | null} kept name of a text that this browser keeps, until it is read (kept-texts.js)
 * @property {readonly number[]} added ids of the tokens that the model wrote after the text
 * @property {number} layer
 * @property {number} head
 * @property {Of} of which map: the head's, or of several heads together
 * @property {Over} over
 * @property {HeadName | null} other the head that is compared
 * @property {boolean} before whether the map is compared with itself before heads were muted
 * @property {readonly HeadName[]} muted
 * @property {readonly HeadName[]} overlay heads whose lines are drawn besides the chosen one's
 * @property {readonly Pin[]} pins
 * @property {MapScale} scale
 * @property {ScoreName | Signed | 'place'} sort what orders the heads
 * @property {ScoreName | Signed | 'none'} by what colours them
 * @property {'order' | 'size'} parts whether the parts of a logit stand in the model's order, or the largest first
 * @property {'one' | 'all'} show whether one head is large, or all are
 * @property {number | null} target id of the next token that is asked about; null: the one that comes next
 * @property {number | null} against id of a token that it is compared with
 * @property {number | null} key token at which it is asked why the chosen head looks; null: the one that gets most
 * @property {string | null} corrupted another text, with whose run parts of this one's are exchanged; null: none
 * @property {string | null} keptOther name of such a text that this browser keeps, until it is read
 * @property {'attention' | 'loss'} tint what tints the text
 * @property {TourStep | null} tour
 * @property {boolean} hideFirst
 * @property {number} topP the share of a row that its lines show
 * @property {Viewport | null} view null: the whole
 * @property {'greedy' | 'sample'} decoding
 * @property {number} temperature
 * @property {number} topK 0: all
 * @property {number} seed
 * @property {number} count tokens to write at a time
 */

import { isSameHead, shortName } from '../shared/head-names.js';
import { SCORES } from '../shared/head-scores.js';
import { isLinkable, keyOf } from '../shared/linkable.js';
import { firstHead, firstPins, OPENED } from './models.js';
import { stepOf, TOURS } from './tours.js';

/** What heads do for or against a prediction. */
export const SIGNED = /** @type {const} */ ([
  ...['attribution', 'effect', 'mean-effect', 'resample-effect', 'patching'],
]);

/**
 * What takes the place of a head's output, of measures that are an ablation's.
 *
 * @type {Readonly<Record<string, 'zero' | 'mean' | 'resample'>>}
 */
export const ABLATIONS = Object.freeze({
  ...{ effect: 'zero', 'mean-effect': 'mean', 'resample-effect': 'resample' },
});

/** @param {string} measure @returns {measure is Exclude<Signed, 'attribution' | 'patching'>} */
export const isAblation = (measure) => measure in ABLATIONS;

/** Most written tokens that the address takes along. */
const MAX_LINK_TOKENS = 500;
const MAX_TOKEN = 1e6;

/** Most that is taken of an address's lists: more than anyone chooses by hand. What is drawn of each takes its time. */
const MOST_LISTED = { mute: 2000, lines: 100, pins: 200 };

/** @type {Readonly<ExploreState>} */
export const EXPLORE_DEFAULTS = Object.freeze({
  mode: 'maps',
  model: 'austen',
  text: null,
  kept: null,
  added: [],
  ...firstHead('austen'),
  of: 'head',
  over: 'layer',
  other: null,
  before: false,
  muted: [],
  overlay: [],
  pins: firstPins('austen'),
  scale: 'head',
  sort: 'place',
  by: 'none',
  parts: 'order',
  show: 'one',
  target: null,
  against: null,
  key: null,
  corrupted: null,
  keptOther: null,
  tint: 'attention',
  tour: null,
  hideFirst: false,
  topP: 0.9,
  view: null,
  decoding: 'sample',
  temperature: 0.8,
  topK: 40,
  seed: 1,
  count: 20,
});

/** What of the state is one of some words, by its name in the address. */
const WORDS = /** @type {const} */ ({
  mode: ['maps', 'why'],
  of: ['head', 'norms', 'mean', 'max', 'rollout'],
  over: ['layer', 'all'],
  scale: ['unit', 'row', 'head', 'log'],
  sort: ['place', ...SIGNED, ...SCORES],
  by: ['none', ...SIGNED, ...SCORES],
  parts: ['order', 'size'],
  show: ['one', 'all'],
  tint: ['attention', 'loss'],
  decoding: ['greedy', 'sample'],
});

/** What of the state is a number: smallest, largest, whether whole. @type {Record<string, [number, number, boolean]>} */
export const NUMBERS = {
  topP: [0.05, 1, false],
  temperature: [0.05, 5, false],
  topK: [0, 1000, true],
  seed: [0, 2 ** 32 - 1, true],
  count: [1, 200, true],
};

/** Whether a number is one that its field takes. @param {keyof typeof NUMBERS} name @param {number} value */
export function fitsNumber(name, value) {
  const [least, most, isWhole] = NUMBERS[name];
  return value >= least && value <= most && (!isWhole || Number.isInteger(value));
}

/** A head by its short name. @param {string} text @returns {HeadName | null} */
export function headOf(text) {
  const [, layer, head] = /^L(\d{1,3})H(\d{1,3})$/.exec(text) ?? [];
  return layer === undefined ? oldHeadOf(text) : { layer: Number(layer), head: Number(head) };
}

/** A head as older addresses name it: `2.5` is L1H4. @param {string} text @returns {HeadName | null} */
function oldHeadOf(text) {
  const [, layer, head] = /^(\d{1,3})\.(\d{1,3})$/.exec(text) ?? [];
  return Number(layer) > 0 && Number(head) > 0
    ? { layer: Number(layer) - 1, head: Number(head) - 1 }
    : null;
}

/** Whether a map is of one head. @param {Of} of */
export const isOfHead = (of) => of === 'head' || of === 'norms';

/** @param {string} text @returns {Pin | null} */
function pinOf(text) {
  const [, side, token] = /^([qk])(\d{1,6})$/.exec(text) ?? [];
  if (!(Number(token) > 0)) return null;
  return { side: side === 'q' ? 'query' : 'key', token: Number(token) - 1 };
}

/** @template T @param {T | null} value @returns {value is T} */
const isThere = (value) => value !== null;

/** @param {string | null} text @param {number} most @returns {string[]} the first of them */
const listOf = (text, most) => (text ? text.split('_', most) : []);

/** @param {string | null} text */
function viewOf(text) {
  const [query, key, span] = listOf(text, 3).map(Number);
  const ok = [query, key, span].every((value) => value >= 1 && value <= MAX_TOKEN);
  return ok ? { query: query - 1, key: key - 1, span } : null;
}

/** @param {string | null} text @returns {number | null} */
const idOf = (text) => (/^\d{1,6}$/.test(text ?? '') ? Number(text) : null);

/** @param {string | null} text @returns {number[]} none if one of them is none */
function idsOf(text) {
  const ids = listOf(text, MAX_LINK_TOKENS).map(idOf);
  return ids.every(isThere) ? ids : [];
}

/** What the address calls the comparison with the map before heads were muted. */
const BEFORE = 'before';

/** A token's place, which addresses count from 1. @param {string | null} text @returns {number | null} */
const placeOf = (text) => (/^[1-9]\d{0,5}$/.test(text ?? '') ? Number(text) - 1 : null);

/** The step of a tour as the address names it: `induction.2`. @param {string | null} text @returns {TourStep | null} */
function tourOf(text) {
  const [, name, number] = /^(\w+)\.(\d)$/.exec(text ?? '') ?? [];
  const step = Number(number) - 1;
  return name && Object.hasOwn(TOURS, name) && TOURS[name].steps[step] ? { name, step } : null;
}

/**
 * What an address means that says nothing else.
 *
 * @param {{ model?: string, text?: string | null, tour: TourStep | null }} said
 * @returns {ExploreState}
 */
function defaultsFor({ tour, ...said }) {
  const step = tour ? stepOf(tour) : {};
  const { model = step.model ?? EXPLORE_DEFAULTS.model, text = step.text ?? null } = said;
  const isSample = text === null;
  return {
    ...EXPLORE_DEFAULTS,
    ...firstHead(model),
    pins: isSample ? firstPins(model) : [],
    ...step,
    ...{ model, text, tour },
  };
}

/** @param {readonly Pin[]} pins */
const pinsText = (pins) => pins.map(({ side, token }) => `${side[0]}${token + 1}`).join('_');

/** @param {readonly HeadName[]} heads */
const headsText = (heads) => heads.map(shortName).join('_');

/** @param {string | null} text */
const keptOf = (text) => /^[\da-z]{1,6}-[\da-z]{1,7}$/.exec(text ?? '')?.[0] ?? null;

/** @param {URLSearchParams} params @returns {ExploreState} */
export function parseExplore(params) {
  const model = params.get('model') ?? undefined;
  const text = params.get('text') ?? undefined;
  const kept = text === undefined ? keptOf(params.get('kept')) : null;
  const tour = tourOf(params.get('tour'));
  const defaults = defaultsFor({ model, text: kept === null ? text : '', tour });
  /** @type {Record<string, unknown>} */
  const state = { ...defaults };
  for (const [name, words] of Object.entries(WORDS)) {
    const word = params.get(name);
    if (/** @type {readonly (string | null)[]} */ (words).includes(word)) state[name] = word;
  }
  for (const name of Object.keys(NUMBERS)) {
    // Number('') would be 0, which is another choice.
    const value = Number(params.get(name) || NaN);
    if (fitsNumber(name, value)) state[name] = value;
  }
  /** Each once. @template T @param {keyof typeof MOST_LISTED} name @param {(text: string) => T | null} read @param {readonly T[]} otherwise @returns {readonly T[]} */
  const all = (name, read, otherwise) => {
    if (!params.has(name)) return otherwise;
    const listed = listOf(params.get(name), MOST_LISTED[name]).map(read).filter(isThere);
    return [...new Map(listed.map((one) => [JSON.stringify(one), one])).values()];
  };
  return {
    .../** @type {ExploreState} */ (state),
    ...(kept === null ? {} : { text: null, kept }),
    added: idsOf(params.get('added')),
    ...headOf(params.get('head') ?? ''),
    other: headOf(params.get('with') ?? ''),
    before: params.get('with') === BEFORE,
    muted: all('mute', headOf, defaults.muted),
    overlay: all('lines', headOf, defaults.overlay),
    pins: all('pins', pinOf, defaults.pins),
    target: idOf(params.get('target')),
    against: idOf(params.get('against')),
    key: placeOf(params.get('key')),
    corrupted: params.get('corrupted'),
    keptOther: params.has('corrupted') ? null : keptOf(params.get('kept-other')),
    hideFirst: params.get('first') === '0',
    view: viewOf(params.get('view')),
  };
}

/**
 * @param {ExploreState} state
 * @returns {URLSearchParams} only what differs from what the address means without it
 */
export function formatExplore(state) {
  const params = new URLSearchParams();
  const { model, text, added, other, view, tour } = state;
  if (tour) params.set('tour', `${tour.name}.${tour.step + 1}`);
  const plain = defaultsFor({ tour });
  if (model !== plain.model) params.set('model', model);
  if (text !== null && text !== plain.text && isLinkable(text)) params.set('text', text);
  const isLong = !isLinkable(text);
  const kept = isLong ? keyOf(text ?? '') : state.kept;
  if (kept !== null) params.set('kept', kept);
  const defaults = defaultsFor({ model, text: kept === null ? text : '', tour });
  if (added.length > 0 && added.length <= MAX_LINK_TOKENS) params.set('added', added.join('_'));
  if (!isSameHead(state, defaults)) params.set('head', shortName(state));
  if (other) params.set('with', shortName(other));
  else if (state.before) params.set('with', BEFORE);
  /** @param {string} name @param {string} words @param {string} otherwise */
  const list = (name, words, otherwise) => words !== otherwise && params.set(name, words);
  list('mute', headsText(state.muted), headsText(defaults.muted));
  list('lines', headsText(state.overlay), headsText(defaults.overlay));
  list('pins', pinsText(state.pins), pinsText(defaults.pins));
  if (state.key !== null) params.set('key', String(state.key + 1));
  const { corrupted } = state;
  const keptOther = isLinkable(corrupted) ? state.keptOther : keyOf(corrupted ?? '');
  if (corrupted !== null && isLinkable(corrupted)) params.set('corrupted', corrupted);
  else if (keptOther !== null) params.set('kept-other', keptOther);
  if (state.hideFirst) params.set('first', '0');
  if (view) params.set('view', [view.query + 1, view.key + 1, view.span].map(round).join('_'));
  const simple = /** @type {(keyof ExploreState)[]} */ ([
    ...['target', 'against'],
    ...Object.keys(WORDS),
    ...Object.keys(NUMBERS),
  ]);
  for (const name of simple) {
    if (state[name] !== defaults[name]) params.set(name, String(state[name]));
  }
  return params;
}

/** What the address of a state does not carry to others. @param {ExploreState} state @returns {string[]} in words */
export const leftOut = ({ model, text, kept, added, corrupted, keptOther }) =>
  [
    model === OPENED && 'what was opened',
    (kept !== null || !isLinkable(text)) && 'the text, which is too long',
    added.length > MAX_LINK_TOKENS && 'what the model wrote',
    (keptOther !== null || !isLinkable(corrupted)) && 'the other text, which is too long',
  ].filter((words) => words !== false);

/** @param {number} value */
const round = (value) => Math.round(value * 100) / 100;
