/**
 * The controls of the room, both ways: what is chosen goes into the store,
 * what the store says is shown.
 *
 * @import { Scale, Source } from '../types.js'
 * @import { State, Store } from '../state.js'
 */

import { directed } from '../shared/direction.js';
import { byId, el } from '../shared/dom.js';
import { keepText, LOST_TEXT } from '../shared/kept-texts.js';
import { isLinkable } from '../shared/linkable.js';
import { isSeed } from '../shared/seeds.js';
import { headChoices, nearestHeads, WIDTHS } from './address.js';
import { LONG_TEXT, LONGEST_TEXT } from './samples.js';

/** How long a pause in typing is. */
const TYPING_MS = 300;

const inputOf = (/** @type {string} */ id) => byId(id, HTMLInputElement);
const selectOf = (/** @type {string} */ id) => byId(id, HTMLSelectElement);

/**
 * Radio buttons for one entry of the state.
 *
 * @param {string} id of their fieldset
 * @param {(value: string, isPointed: boolean) => void} chosen isPointed: not with a key
 * @returns {(value: string) => void} shows a choice
 */
function radios(id, chosen) {
  const fieldset = byId(id, HTMLFieldSetElement);
  const inputs = [...fieldset.querySelectorAll('input')];
  let isPointed = false;
  fieldset.addEventListener('pointerdown', () => (isPointed = true));
  fieldset.addEventListener('keydown', () => (isPointed = false));
  for (const input of inputs) {
    input.addEventListener('change', () => chosen(input.value, isPointed));
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

/**
 * The field of one's own text, taken over at a pause.
 *
 * @param {Store} store
 * @param {HTMLTextAreaElement} field
 * @returns {(text: string) => void} shows a text
 */
function connectText(store, field) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  /** What was taken of the field, or shown in it: what is typed since stays. @type {string | undefined} */
  let known;
  const take = () => {
    clearTimeout(typing);
    known = field.value;
    store.set({ text: known, kept: '', row: -1 });
  };
  const write = (/** @type {string} */ text) => {
    clearTimeout(typing);
    field.value = known = text;
  };
  field.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(take, TYPING_MS);
  });
  field.addEventListener('change', take);
  for (const [id, text] of /** @type {const} */ ([
    ['sample', LONG_TEXT],
    ['longest', LONGEST_TEXT],
  ])) {
    byId(id, HTMLButtonElement).addEventListener('click', () => {
      write(text);
      store.set({ text, kept: '', row: -1, scale: 'row' });
    });
  }
  return (text) => {
    if (text !== known) write(text);
    directed(field);
  };
}

/**
 * The field of the seed.
 *
 * @param {Store} store
 * @param {HTMLInputElement} field
 * @returns {(seed: number) => void} shows a seed; NaN: what is typed is none
 */
function connectSeed(store, field) {
  /** As above. @type {number | undefined} */
  let known;
  /** The last that is one. */
  let latest = 0;
  field.addEventListener('input', () => {
    known = field.value === '' ? NaN : Number(field.value);
    store.set({ seed: known });
  });
  // What is shown, and its address, have the seed before.
  field.addEventListener('change', () => {
    if (!isSeed(store.get().seed)) store.set({ seed: latest });
  });
  return (seed) => {
    if (!Object.is(seed, known)) field.value = String(seed);
    known = seed;
    if (isSeed(seed)) latest = seed;
    field.setAttribute('aria-invalid', String(!isSeed(seed)));
    if (isSeed(seed)) field.removeAttribute('aria-describedby');
    else field.setAttribute('aria-describedby', 'message');
  };
}

class Controls {
  #store;
  #showText;
  #showSeed;
  #lost = el('p', { class: 'note', id: 'compare-kept' }, LOST_TEXT);
  #width = selectOf('width');
  #heads = selectOf('heads');
  #causal = inputOf('causal');
  #scale = selectOf('scale');
  #showSource = radios('source', (value, isPointed) => {
    const source = /** @type {Source} */ (value);
    this.#store.set({ source, row: -1, head: 0 });
    // An arrow key goes on among the choices.
    if (source === 'own' && isPointed)
      byId('text', HTMLTextAreaElement).focus({ preventScroll: true });
  });

  /** @param {Store} store */
  constructor(store) {
    this.#store = store;
    byId('own', HTMLDivElement).append(this.#lost);
    this.#showText = connectText(store, byId('text', HTMLTextAreaElement));
    this.#showSeed = connectSeed(store, inputOf('seed'));
    this.#listen();
  }

  #listen() {
    const store = this.#store;
    const [width, heads, causal, scale] = [this.#width, this.#heads, this.#causal, this.#scale];
    width.addEventListener('change', () => {
      const value = Number(width.value);
      store.set({ width: value, heads: nearestHeads(value, store.get().heads), head: 0 });
    });
    heads.addEventListener('change', () => store.set({ heads: Number(heads.value), head: 0 }));
    causal.addEventListener('change', () => store.set({ causal: causal.checked }));
    scale.addEventListener('change', () =>
      store.set({ scale: /** @type {Scale} */ (scale.value) }),
    );
    for (const [id, size] of /** @type {const} */ ([
      ['gpt2', { width: 768, heads: 12 }],
      ['many-heads', { width: 64, heads: 16 }],
    ])) {
      byId(id, HTMLButtonElement).addEventListener('click', () => store.set({ ...size, head: 0 }));
    }
    const form = byId('controls', HTMLFormElement);
    form.addEventListener('submit', (event) => event.preventDefault());
  }

  /** @param {State} state */
  show(state) {
    this.#showSource(state.source);
    document.documentElement.dataset.source = state.source;
    this.#lost.hidden = state.kept === '';
    this.#showText(state.text);
    fill(this.#width, WIDTHS, state.width);
    fill(this.#heads, headChoices(state.width), state.heads);
    this.#showSeed(state.seed);
    this.#causal.checked = state.causal;
    const scale = this.#scale;
    scale.value = state.scale;
    scale.options[0].text = state.mode === 'difference' ? '0 to the largest of all' : '0 to 1';
  }
}

/** @param {Store} store */
export function connectControls(store) {
  const controls = new Controls(store);
  /** @param {State} state @param {State} [before] */
  const show = (state, before) => {
    controls.show(state);
    const { text } = state;
    if (text !== before?.text && !isLinkable(text)) keepText(text);
  };
  show(store.get());
  store.subscribe(show);
}
