/**
 * The controls of the room, both ways: what is chosen goes into the store,
 * what the store says is shown.
 *
 * @import { Mode, Scale, Source } from '../types.js'
 * @import { State, Store } from '../state.js'
 */

import { byId, el } from '../dom.js';
import { headChoices, nearestHeads, WIDTHS } from '../state.js';
import { LONG_TEXT } from './samples.js';

/** How long a pause in typing is. */
const TYPING_MS = 300;

const inputOf = (/** @type {string} */ id) => byId(id, HTMLInputElement);
const selectOf = (/** @type {string} */ id) => byId(id, HTMLSelectElement);

/**
 * Radio buttons for one entry of the state.
 *
 * @param {string} id of their fieldset
 * @param {(value: string) => void} chosen
 * @returns {(value: string) => void} shows a choice
 */
function radios(id, chosen) {
  const fieldset = byId(id, HTMLFieldSetElement);
  const inputs = [...fieldset.querySelectorAll('input')];
  for (const input of inputs) {
    input.addEventListener('change', () => chosen(input.value));
  }
  return (value) => {
    for (const input of inputs) input.checked = input.value === value;
  };
}

/**
 * @param {HTMLSelectElement} select
 * @param {number[]} values
 * @param {number} chosen
 */
function fill(select, values, chosen) {
  if ([...select.options].map(({ value }) => Number(value)).join() !== values.join()) {
    select.replaceChildren(...values.map((value) => el('option', { value }, String(value))));
  }
  select.value = String(chosen);
}

/** @param {Store} store */
export function connectControls(store) {
  const text = byId('text', HTMLTextAreaElement);
  const own = byId('own', HTMLDivElement);
  const width = selectOf('width');
  const heads = selectOf('heads');
  const seed = inputOf('seed');
  const causal = inputOf('causal');
  const scale = selectOf('scale');

  const showSource = radios('source', (value) => {
    const source = /** @type {Source} */ (value);
    store.set({ source, row: -1, head: 0 });
    if (source === 'own') text.focus({ preventScroll: true });
  });
  const showMode = radios('mode', (value) => store.set({ mode: /** @type {Mode} */ (value) }));

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  const takeText = () => {
    clearTimeout(typing);
    store.set({ text: text.value, row: -1 });
  };
  text.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(takeText, TYPING_MS);
  });
  text.addEventListener('change', takeText);
  width.addEventListener('change', () => {
    const value = Number(width.value);
    store.set({
      width: value,
      heads: nearestHeads(value, store.get().heads),
      head: 0,
    });
  });
  heads.addEventListener('change', () => store.set({ heads: Number(heads.value), head: 0 }));
  seed.addEventListener('input', () =>
    store.set({ seed: seed.value === '' ? NaN : Number(seed.value) }),
  );
  causal.addEventListener('change', () => store.set({ causal: causal.checked }));
  scale.addEventListener('change', () => store.set({ scale: /** @type {Scale} */ (scale.value) }));
  byId('sample', HTMLButtonElement).addEventListener('click', () => {
    clearTimeout(typing);
    // Here and not by show: Safari leaves the focus, and so the old text, in the field.
    text.value = LONG_TEXT;
    store.set({ text: LONG_TEXT, row: -1, scale: 'row' });
  });
  byId('gpt2', HTMLButtonElement).addEventListener('click', () =>
    store.set({ width: 768, heads: 12, head: 0 }),
  );
  byId('controls', HTMLFormElement).addEventListener('submit', (event) => event.preventDefault());

  /** @param {State} state */
  const show = (state) => {
    showSource(state.source);
    showMode(state.mode);
    own.hidden = state.source !== 'own';
    for (const field of document.querySelectorAll('[data-own]')) {
      field.toggleAttribute('hidden', state.source !== 'own');
    }
    if (text.value !== state.text && document.activeElement !== text) {
      text.value = state.text;
    }
    fill(width, WIDTHS, state.width);
    fill(heads, headChoices(state.width), state.heads);
    if (document.activeElement !== seed && Number.isInteger(state.seed)) {
      seed.value = String(state.seed);
    }
    causal.checked = state.causal;
    scale.value = state.scale;
    scale.options[0].text = state.mode === 'difference' ? '0 to the largest of all' : '0 to 1';
  };
  show(store.get());
  store.subscribe(show);
}
