/**
 * What the visitor has chosen in the Compare room, and its address: `#compare?mode=fused&head=H3`.
 *
 * @import { Mode, Scale, Settings, Source } from '../types.js'
 *
 * @typedef {object} CompareState
 * @property {Source} source
 * @property {string} text
 * @property {string} kept name of a text that the address has and this browser has not; '': none
 * @property {Mode} mode
 * @property {Scale} scale
 * @property {number} width
 * @property {number} heads
 * @property {boolean} causal
 * @property {number} seed NaN while what is typed is no number; only what can be one is in the address
 * @property {number} head the large map's head, from 0
 * @property {number} row the row that is read out; -1: the last one
 */

import { keptText } from '../shared/kept-texts.js';
import { isLinkable, keyOf } from '../shared/linkable.js';
import { isSeed, MAX_SEED } from '../shared/seeds.js';

export const WIDTHS = [8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 768];
const MAX_HEADS = 16;

/** @type {Readonly<CompareState>} */
export const COMPARE_DEFAULTS = Object.freeze({
  source: 'example',
  text: 'The cat sat on the mat because it was tired',
  kept: '',
  mode: 'wrapper',
  scale: 'unit',
  width: 64,
  heads: 4,
  causal: true,
  seed: 123,
  head: 0,
  row: -1,
});

/**
 * The numbers of heads that a width can be split into.
 *
 * @param {number} width
 */
export function headChoices(width) {
  const choices = [];
  for (let heads = 1; heads <= MAX_HEADS; heads++) {
    if (width % heads === 0) choices.push(heads);
  }
  return choices;
}

/**
 * The largest number of heads up to the wish that divides the width.
 *
 * @param {number} width
 * @param {number} wish
 */
export function nearestHeads(width, wish) {
  const fitting = headChoices(width).filter((heads) => heads <= wish);
  return fitting[fitting.length - 1] ?? 1;
}

/**
 * What the worker has to run for a state. The example is always the
 * notebooks': six words of three numbers, two heads.
 *
 * @param {CompareState} state
 * @returns {Settings}
 */
export function settingsOf({ source, text, width, heads, causal, seed }) {
  return source === 'example'
    ? { source, text: '', width: 3, heads: 2, causal, seed }
    : { source, text, width, heads, causal, seed };
}

/** @param {URLSearchParams} params @returns {CompareState} */
export function parseCompare(params) {
  const state = { ...COMPARE_DEFAULTS };
  /** @param {string} name @param {number} min @param {number} max @param {number} otherwise */
  const whole = (name, min, max, otherwise) => {
    const text = params.get(name) ?? '';
    const value = Number(text);
    const ok = /^\d+$/.test(text) && value >= min && value <= max;
    return ok ? value : otherwise;
  };
  if (params.get('source') === 'own') state.source = 'own';
  const kept = params.get('kept') ?? '';
  const text = params.get('text') ?? keptText(kept);
  if (text === undefined) state.kept = kept;
  else state.text = text;
  const mode = params.get('mode');
  if (mode === 'fused' || mode === 'difference') state.mode = mode;
  const scale = params.get('scale');
  if (scale === 'head' || scale === 'row') state.scale = scale;
  const width = whole('width', 1, 768, state.width);
  if (WIDTHS.includes(width)) state.width = width;
  const heads = whole('heads', 1, MAX_HEADS, state.heads);
  state.heads = nearestHeads(state.width, heads);
  state.causal = params.get('causal') !== '0';
  state.seed = whole('seed', 0, MAX_SEED, state.seed);
  state.head = Math.min(headOf(params.get('head') ?? ''), settingsOf(state).heads - 1);
  state.row = whole('row', 1, 1024, 0) - 1;
  return state;
}

/**
 * A head by its name, `H2`; older addresses count from 1 and say `3`.
 *
 * @param {string} text
 */
function headOf(text) {
  const [, letter, number] = /^(H?)(\d{1,2})$/.exec(text) ?? [];
  const head = Number(number) - (letter ? 0 : 1);
  return head >= 0 && head < MAX_HEADS ? head : COMPARE_DEFAULTS.head;
}

/** @param {CompareState} state @returns {URLSearchParams} only what differs from the default */
export function formatCompare(state) {
  const params = new URLSearchParams();
  if (state.source === 'own') {
    params.set('source', 'own');
    const { text, width, heads } = state;
    if (!isLinkable(text)) params.set('kept', keyOf(text));
    else if (state.kept) params.set('kept', state.kept);
    else if (text !== COMPARE_DEFAULTS.text) params.set('text', text);
    if (width !== COMPARE_DEFAULTS.width) params.set('width', String(width));
    if (heads !== COMPARE_DEFAULTS.heads) params.set('heads', String(heads));
  }
  if (state.mode !== COMPARE_DEFAULTS.mode) params.set('mode', state.mode);
  if (state.scale !== COMPARE_DEFAULTS.scale) params.set('scale', state.scale);
  if (!state.causal) params.set('causal', '0');
  const { seed } = state;
  if (isSeed(seed) && seed !== COMPARE_DEFAULTS.seed) params.set('seed', String(seed));
  if (state.head !== COMPARE_DEFAULTS.head) params.set('head', `H${state.head}`);
  if (state.row !== COMPARE_DEFAULTS.row) params.set('row', String(state.row + 1));
  return params;
}
